"""Weights over a picture, dark or light: a dark sheet where there is none, a warm light where most is.

A dark sheet alone is not seen on a dark picture, nor light on a light one; both together are seen on any. The
colours are those of the page, from palettes.json.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.view.colours import RGB


@cache
def _colours() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (files("regard.view") / "palettes.json").read_text(encoding="utf-8")
    )["over picture"]
    return found


def overlay(share: float) -> tuple[RGB, float]:
    """The colour and opacity that lie over a place with this share (0 to 1) of the strongest weight.

    The light, by the share, lies over the sheet, by what is left of it; both are one colour here. NaN has
    no light.
    """
    given = _colours()
    share = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)
    light, sheet = given["light"]["opacity"] * share, given["sheet"]["opacity"] * (1 - share)
    opacity = light + sheet * (1 - light)
    mixed = [
        (light * over + sheet * (1 - light) * under) / (opacity or 1)
        for over, under in zip(given["light"]["colour"], given["sheet"]["colour"], strict=True)
    ]
    red, green, blue = (round(part) for part in mixed)
    return (red, green, blue), opacity


def overlaid(pixels: NDArray[np.uint8], shares: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """pixels (H, W, 3) under the overlay of a grid of cells (rows, columns), which all are of one size."""
    high, wide = pixels.shape[:2]
    rows, columns = shares.shape
    made = [[overlay(float(share)) for share in row] for row in shares]
    colour = np.array([[one for one, _ in row] for row in made], np.float64)
    opacity = np.array([[one for _, one in row] for row in made])[..., None]
    down = np.arange(high)[:, None] * rows // high
    across = np.arange(wide)[None] * columns // wide
    mixed = pixels * (1 - opacity[down, across]) + colour[down, across] * opacity[down, across]
    return np.asarray(np.rint(mixed), np.uint8)
