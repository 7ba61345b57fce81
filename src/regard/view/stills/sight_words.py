"""How a picture was looked at, in words: what it is called, and a line for each step."""

from __future__ import annotations

import math

import numpy as np

from regard.records.png_image import PngImage
from regard.records.sights import Canvases, FilterWindow, Glimpses, Sight, WarpedImage
from regard.view.stills.warped_pixels import source_places
from regard.view.terminal_cells import visible
from regard.words import t

MIDDLE = 0.33  # how far from 0 a place is still in the middle


def sight_name(sight: Sight) -> str:
    if isinstance(sight, Glimpses):
        return t("the path of the glimpses")
    if isinstance(sight, Canvases):
        return t("a picture, step by step")
    return t("a picture before and after a warp")


def step_words(sight: Glimpses | Canvases, number: int) -> str:
    """Where a step looked, and what was believed after it."""
    count = len(sight.steps)
    if isinstance(sight, Glimpses):
        step = sight.steps[number]
        said = [
            t(
                "Glimpse {n} of {count}, {place} (x {x}, y {y}).",
                n=number + 1,
                count=count,
                place=place_words(step.x, step.y),
                x=f"{step.x:.2f}",
                y=f"{step.y:.2f}",
            )
        ]
    else:
        drawn = sight.steps[number]
        said = [t("Step {n} of {count}.", n=number + 1, count=count)]
        size = sight.image or drawn.canvas
        assert size is not None
        if drawn.read is not None and sight.image is not None:
            told = _window_words(drawn.read, size)
            said.append(t("Read {place}, in a window of {side} pixels.", **told))
        if drawn.write is not None:
            told = _window_words(drawn.write, size)
            said.append(t("Written {place}, in a window of {side} pixels.", **told))
    if beliefs := sight.steps[number].beliefs:
        best = max(range(len(beliefs)), key=lambda n: beliefs[n])
        label, chance = visible(sight.labels[best]), f"{beliefs[best]:.2f}"
        said.append(
            t("After it {label} is believed most, with {chance}.", label=label, chance=chance)
        )
    return " ".join(said)


def warp_words(warp: WarpedImage) -> str:
    """Where the middle is read, how large a part, how it is turned."""
    at = np.array([0.0, 0.5, 0.0]), np.array([0.0, 0.0, 0.5])
    middle, right, below = source_places(warp.grid, *at)
    dx, dy = right - middle
    ex, ey = below - middle
    side = 100 * math.sqrt(4 * abs(dx * ey - dy * ex))
    return t(
        "The middle of the result is read {place} of the picture; around it a side of the result covers "
        "{side} of one of the picture, turned by {turn}°.",
        place=place_words(*middle),
        side=f"{side:.0f} %",
        turn=round(math.degrees(math.atan2(dy, dx))),
    )


def place_words(x: float, y: float) -> str:
    """Where a place is: at the top left, in the middle."""
    across = "left" if x < -MIDDLE else "right" if x > MIDDLE else ""
    down = "top" if y < -MIDDLE else "bottom" if y > MIDDLE else ""
    return {
        "": t("in the middle"),
        "left": t("on the left"),
        "right": t("on the right"),
        "top": t("at the top"),
        "bottom": t("at the bottom"),
        "topleft": t("at the top left"),
        "topright": t("at the top right"),
        "bottomleft": t("at the bottom left"),
        "bottomright": t("at the bottom right"),
    }[down + across]


def _window_words(window: FilterWindow, image: PngImage) -> dict[str, str]:
    x = 2 * (window.x - 0.5) / image.width - 1
    y = 2 * (window.y - 0.5) / image.height - 1
    side = (window.count - 1) * window.spacing if window.count > 1 else 2 * window.blur
    return {"place": place_words(x, y), "side": f"{side:.1f}"}
