"""What is said of pictures that a model may see otherwise than they were meant."""

from __future__ import annotations

from regard.words import t


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
