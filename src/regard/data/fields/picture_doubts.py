"""What is said of pictures that a model may see otherwise than they were meant."""

from __future__ import annotations

from collections.abc import Sequence

from regard.words import t

SHOWN = 3  # shapes that are named


def lost_colours(count: int, every: int) -> str:
    """Of so many pictures that are made grey."""
    if every == 1:
        return t(
            "the picture has colours, and is seen in grey; a run that is trained with task.channels=3 sees "
            "colours"
        )
    return t(
        "{count} of {every} pictures have colours, and are seen in grey; a run that is trained with "
        "task.channels=3 sees colours",
        count=f"{count:,}",
        every=f"{every:,}",
    )


def several_shapes(shapes: Sequence[tuple[int, int]], wanted: tuple[int, int]) -> str:
    """Of pictures (height, width) of several proportions that are stretched to one size."""
    named = [f"{wide}x{high}" for high, wide in dict.fromkeys(shapes)]
    return t(
        "pictures of several shapes ({shapes}) are stretched to {width}x{height}: what they show is "
        "squeezed; cut them to one shape, or give them margins, if that matters",
        shapes=", ".join(named[:SHOWN]) + (", …" if len(named) > SHOWN else ""),
        width=wanted[1],
        height=wanted[0],
    )


def opposite_ground(count: int, every: int, *, bright: bool) -> str:
    """Of so many pictures on a ground that is the opposite of what was learnt. bright: theirs is."""
    said = {"count": f"{count:,}", "every": f"{every:,}"}
    match bright, every == 1:
        case True, True:
            return t(
                "the picture has a bright ground, and those that the run learnt from have a dark one: it may "
                "not know what it sees. Give it inverted, bright on dark"
            )
        case False, True:
            return t(
                "the picture has a dark ground, and those that the run learnt from have a bright one: it may "
                "not know what it sees. Give it inverted, dark on bright"
            )
        case True, False:
            return t(
                "{count} of {every} pictures have a bright ground, and those that the run learnt from have a "
                "dark one: it may not know what it sees. Give them inverted, bright on dark",
                **said,
            )
    return t(
        "{count} of {every} pictures have a dark ground, and those that the run learnt from have a bright "
        "one: it may not know what it sees. Give them inverted, dark on bright",
        **said,
    )
