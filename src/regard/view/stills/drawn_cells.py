"""Weights as cells: a row for every query, a column for every key.

A pair that the region does not allow is hatched, never shown as a weight of 0. More than 128 rows
or columns are drawn as one embedded picture, since ten thousand rectangles open slowly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regard.records.attention_map import Array
from regard.records.png_image import data_uri, encode_png
from regard.view.captions import caption, shade_name
from regard.view.markup import Markup, element, join
from regard.view.picked_matrix import Allowed, Matrix
from regard.view.stills.drawn_heads import DrawnHead, stripes, strongest_colours
from regard.view.stills.paper import (
    Scale,
    hexadecimal,
    ink_on,
    label,
    length,
    number,
    rectangle,
    runs_right_to_left,
    signed,
    write,
)

LARGEST, SMALLEST, TINIEST = 38.0, 8.0, 2.0  # of a cell; of one of more than MANY
ROOM = 760.0  # of all cells of a row
MANY = 128  # rows or columns that are drawn one by one
NUMBERED = 27.0  # a cell of this size has room for its number
SLANT = -45.0
COS = 0.7071
LABEL, NUMBER, SMALL = 13.0, 9.5, 11.0
BAR, APART = 132.0, 10.0  # of the legend: its bar at least, and between its words

Drawn = tuple[Markup, float, float]  # how wide, how high


@dataclass(frozen=True)
class Grid:
    """Where the cells lie, and how the labels around them are written."""

    left: float
    top: float
    size: float  # of a cell
    letters: float
    step: int  # every n-th label is written, so that none hides another
    upright: bool  # the labels of the keys fit over their columns; else they are slanted

    @classmethod
    def around(cls, queries: Sequence[str], keys: Sequence[str]) -> Grid:
        most = max(len(queries), len(keys), 1)
        size = min(LARGEST, max(ROOM / most, SMALLEST if most <= MANY else TINIEST))
        letters = min(LABEL, max(size * 0.72, 5.6))
        step = max(1, math.ceil(letters * 1.2 / size))
        left = max((length(q, letters) for q in queries[::step]), default=0.0) + 8
        longest = max((length(k, letters) for k in keys[::step]), default=0.0)
        upright = longest <= size + 1
        top = letters + 6 if upright else (longest + letters) * COS + 6
        return cls(left, top, size, letters, step, upright)

    def x(self, column: float) -> float:
        return self.left + self.size * column

    def y(self, row: float) -> float:
        return self.top + self.size * row


def draw_cells(matrix: Matrix, scale: Scale, heads: Sequence[DrawnHead] = ()) -> Drawn:
    """heads: several at once, each in its colour, in the place of the one matrix."""
    queries, keys = [label(q) for q in matrix.queries], [label(k) for k in matrix.keys]
    weights, allowed = matrix.weights, matrix.allowed
    if runs_right_to_left(matrix.columns.text):
        keys, weights, allowed = keys[::-1], weights[:, ::-1], allowed[:, ::-1]
        heads = [replace(each, weights=each.weights[:, ::-1]) for each in heads]
    grid = Grid.around(queries, keys)
    paint = _as_picture if max(len(queries), len(keys)) > MANY else _one_by_one
    wide, high = grid.size * len(keys), grid.size * len(queries)
    frame = rectangle(grid.left, grid.top, wide, high, fill="none", stroke=scale.theme.rule)
    drawn = [
        *_query_names(queries, grid, scale, matrix.rows.language),
        *_key_names(keys, grid, scale, matrix.columns.language),
        paint(weights, allowed, scale, grid, heads),
        frame,
    ]
    last = length(keys[:: grid.step][-1], grid.letters) if keys else 0.0
    beyond = 0.0 if grid.upright else max(last * COS - grid.size / 2, 0.0)
    return join(drawn), grid.left + wide + beyond, grid.top + high


def _query_names(names: Sequence[str], grid: Grid, scale: Scale, language: str) -> list[Markup]:
    style: Any = {"size": grid.letters, "fill": scale.theme.ink, "language": language}
    return [
        write(names[n], grid.left - 7, grid.y(n + 0.5) + grid.letters * 0.35, anchor="end", **style)
        for n in range(0, len(names), grid.step)
    ]


def _key_names(names: Sequence[str], grid: Grid, scale: Scale, language: str) -> list[Markup]:
    style: Any = {"size": grid.letters, "fill": scale.theme.ink, "language": language}
    style |= {"anchor": "middle"} if grid.upright else {"turned": SLANT}
    aside = 0.0 if grid.upright else grid.letters * 0.3
    return [
        write(names[n], grid.x(n + 0.5) + aside, grid.top - 5, **style)
        for n in range(0, len(names), grid.step)
    ]


def draw_scale(matrix: Matrix | None, scale: Scale, name: str = "") -> Drawn:
    """The colours from 0, or from -full, to the largest weight; and what hatching means."""
    mapped = "" if matrix is None else matrix.map.name
    steps, high = 44, 10.0
    low = -scale.full if scale.signed else 0.0
    said = signed(f"{low:.3g}"), name or shade_name(mapped), f"{scale.full:.3g}"
    ends = max(length(said[0], SMALL), length(said[2], SMALL))
    bar = max(BAR, length(said[1], SMALL) + 2 * (ends + APART))
    shades = []
    for n in range(steps):
        colour = scale.colour(low + (scale.full - low) * n / (steps - 1))
        wide = bar / steps + 0.3
        shades.append(rectangle(bar * n / steps, 0, wide, high, fill=hexadecimal(colour)))
    style: Any = {"size": SMALL, "fill": scale.theme.muted}
    marks = [
        write(said[0], 0, high + 13, **style),
        write(said[2], bar, high + 13, anchor="end", **style),
        write(said[1], bar / 2, high + 13, anchor="middle", **style),
    ]
    wide = bar
    if matrix is not None and not matrix.allowed.all():
        marks += [_hatched([(bar + 20, 0.0)], 10.0, scale)]
        forbidden = caption("not allowed")
        marks += [write(forbidden, bar + 36, high - 1, **style)]
        wide += 36 + length(forbidden, SMALL)
    return join([*shades, *marks]), wide, high + 16


def _one_by_one(
    weights: Array, allowed: Allowed, scale: Scale, grid: Grid, heads: Sequence[DrawnHead]
) -> Markup:
    size, gap = grid.size, 1.0 if grid.size >= 14 else 0.0
    cells, texts, closed = [], [], []
    for (row, column), given in np.ndenumerate(weights):
        weight, x, y = float(given), grid.x(column), grid.y(row)
        ink = scale.theme.ink
        if not allowed[row, column]:
            closed.append((x, y))
            continue
        if heads:
            for start, wide, colour in stripes(heads, (row, column), size - 3 * gap, scale):
                left, high = x + 1.5 * gap + start, size - 2 * gap
                cells.append(rectangle(left, y + gap, wide, high, fill=hexadecimal(colour)))
            continue
        if math.isfinite(weight):
            colour = scale.colour(weight)
            ink, fill, inner = ink_on(colour), hexadecimal(colour), size - gap
            cells.append(rectangle(x + gap / 2, y + gap / 2, inner, inner, fill=fill))
        if size >= NUMBERED or not math.isfinite(weight):
            middle = x + size / 2, y + size / 2 + NUMBER * 0.36
            texts.append(write(number(weight), *middle, size=NUMBER, fill=ink, anchor="middle"))
    sharp = element("g", *cells, shape_rendering="crispEdges")
    return join([sharp, _hatched(closed, size, scale), *texts])


def _hatched(corners: list[tuple[float, float]], size: float, scale: Scale) -> Markup:
    """One path for all pairs that are not allowed: strokes across each."""
    if not corners:
        return Markup()
    strokes = "".join(
        f"M{x + size * a:.1f} {y + size * b:.1f}L{x + size * c:.1f} {y + size * d:.1f}"
        for x, y in corners
        for a, b, c, d in ((0, 1, 1, 0), (0, 0.5, 0.5, 0), (0.5, 1, 1, 0.5))
    )
    return element("path", d=strokes, stroke=scale.theme.rule, stroke_width=0.8, fill="none")


def _as_picture(
    weights: Array, allowed: Allowed, scale: Scale, grid: Grid, heads: Sequence[DrawnHead]
) -> Markup:
    """One pixel for each pair; pairs that are not allowed are left empty."""
    low = -scale.full if scale.signed else 0.0
    table = np.array(
        [scale.colour(low + (scale.full - low) * n / 255) for n in range(256)], np.uint8
    )
    share = (np.nan_to_num(weights) - low) / (scale.full - low)
    pixels = np.zeros((*weights.shape, 4), np.uint8)
    pixels[..., :3] = table[np.rint(np.clip(share, 0, 1) * 255).astype(int)]
    if heads:
        pixels[..., :3] = strongest_colours(heads, scale)
    pixels[..., 3] = np.where(allowed, 255, 0)
    return element(
        "image",
        x=round(grid.left, 2),
        y=round(grid.top, 2),
        width=round(grid.size * weights.shape[1], 2),
        height=round(grid.size * weights.shape[0], 2),
        href=data_uri(encode_png(pixels), "png"),
        preserveAspectRatio="none",
        image_rendering="pixelated",
    )
