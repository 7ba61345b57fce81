"""Weights over a picture: it is as it is where most weight is, and dim where none is, in its own colours.

Brightness says nothing where the picture is black: a line goes around the strongest cells, dark and light, so
that it is seen on any ground. The numbers are those of the page, from palettes.json.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.view.markup import Markup, element, join

LIFT = 90.0  # of 255: what is black and attended to has this grey where no line can be drawn


@cache
def overlay_settings() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (files("regard.view") / "palettes.json").read_text(encoding="utf-8")
    )["over picture"]
    return found


def overlay(share: float) -> float:
    """How much black lies over a place with this share (0 to 1) of the strongest weight. NaN is none."""
    share = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)
    return float(overlay_settings()["sheet"] * (1 - share))


def overlaid(pixels: NDArray[np.uint8], shares: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """pixels (H, W, 3) under a grid of cells (rows, columns), which all are of one size.

    There is no line: instead, what is dark becomes grey where it is attended to.
    """
    high, wide = pixels.shape[:2]
    rows, columns = shares.shape
    kept = np.array([[1 - overlay(float(share)) for share in row] for row in shares])
    down = np.arange(high)[:, None] * rows // high
    across = np.arange(wide)[None] * columns // wide
    mixed = pixels * kept[down, across][..., None]
    lit = np.clip(np.nan_to_num(shares), 0, 1)[down, across][..., None]
    dark = 1 - pixels.max(-1, keepdims=True) / 255
    return np.asarray(np.rint(mixed + LIFT * lit * dark), np.uint8)


def outline_of(shares: NDArray[np.floating[Any]]) -> list[tuple[int, int, int, int]]:
    """Lines (x1, y1, x2, y2), in cells, around those of a grid (rows, columns) with a great share.

    None if all have one.
    """
    inside = np.pad(np.nan_to_num(shares) >= overlay_settings()["outlined"], 1)
    if inside[1:-1, 1:-1].all():
        return []
    lines = []
    rows, columns = shares.shape
    for row in range(rows + 1):
        for column in range(columns + 1):
            here = inside[row + 1, column + 1]
            if column < columns and here != inside[row, column + 1]:
                lines.append((column, row, column + 1, row))
            if row < rows and here != inside[row + 1, column]:
                lines.append((column, row, column, row + 1))
    return lines


def draw_outline(shares: NDArray[np.floating[Any]], wide: float, high: float) -> Markup:
    """Around the strongest cells, each so wide and high: a light line in a dark one."""
    path = "".join(
        f"M{x1 * wide:.2f} {y1 * high:.2f}L{x2 * wide:.2f} {y2 * high:.2f}"
        for x1, y1, x2, y2 in outline_of(shares)
    )
    given = overlay_settings()
    kinds = ((given["halo"], 2.6, 0.5), (given["line"], 1.1, 0.95)) if path else ()
    return join(
        [
            element(
                "path",
                d=path,
                fill="none",
                stroke=ink,
                stroke_width=width,
                stroke_opacity=opacity,
                stroke_linecap="square",
            )
            for ink, width, opacity in kinds
        ]
    )
