"""Weights as lines: queries at the left, keys at the right, thick where the weight is great."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from regard.records.attention_map import Array
from regard.view.colours import RGB
from regard.view.markup import Markup, element, join
from regard.view.picked_matrix import Matrix
from regard.view.stills.drawn_heads import DrawnHead
from regard.view.stills.paper import Scale, hexadecimal, label, length, write

ROW, BETWEEN, LETTERS = 22.0, 240.0, 13.0
THICKEST = 7.0
FAINTEST = 0.08  # of the largest weight: a thinner line would not be seen
MOST = 12  # lines from one query: the strongest


def draw_lines(
    matrix: Matrix, scale: Scale, heads: Sequence[DrawnHead] = ()
) -> tuple[Markup, float, float]:
    """heads: several at once, each in its colour, in the place of the one matrix."""
    queries, keys = [label(q) for q in matrix.queries], [label(k) for k in matrix.keys]
    longest = max(len(queries), len(keys), 1)
    left = max((length(q, LETTERS) for q in queries), default=0.0) + 8
    right = left + BETWEEN
    here = [_height(n, len(queries), longest) for n in range(len(queries))]
    there = [_height(n, len(keys), longest) for n in range(len(keys))]
    ink = scale.theme.ink
    names = [
        write(
            q,
            left - 8,
            y + 4.5,
            size=LETTERS,
            fill=ink,
            anchor="end",
            language=matrix.rows.language,
        )
        for q, y in zip(queries, here, strict=True)
    ] + [
        write(k, right + 8, y + 4.5, size=LETTERS, fill=ink, language=matrix.columns.language)
        for k, y in zip(keys, there, strict=True)
    ]
    drawn: list[tuple[Array, RGB | None]] = [(each.weights, each.colour) for each in heads]
    if not heads:
        drawn = [(matrix.weights, None)]
    curves = [
        _curve((left, here[row]), (right, there[column]), weight, scale, colour)
        for weights, colour in drawn
        for row, column, weight in _strongest(replace(matrix, weights=weights), scale.full)
    ]
    wide = right + 8 + max((length(k, LETTERS) for k in keys), default=0.0)
    return join([element("g", *curves, fill="none"), *names]), wide, ROW * longest


def _strongest(matrix: Matrix, full: float) -> list[tuple[int, int, float]]:
    """(query, key, weight) of what is drawn, the weakest first, so that none hides a stronger one."""
    size = np.where(matrix.allowed, np.abs(np.nan_to_num(matrix.weights)), 0.0)
    chosen = [
        (row, int(column), float(matrix.weights[row, column]))
        for row in range(size.shape[0])
        for column in np.argsort(-size[row], kind="stable")[:MOST]
        if size[row, column] >= FAINTEST * full
    ]
    return sorted(chosen, key=lambda link: abs(link[2]))


def _height(place: int, count: int, longest: int) -> float:
    """The shorter side is centred beside the longer."""
    return ROW * ((longest - count) / 2 + place + 0.5)


def _curve(
    start: tuple[float, float],
    end: tuple[float, float],
    weight: float,
    scale: Scale,
    colour: RGB | None,
) -> Markup:
    share = min(abs(weight) / scale.full, 1.0)
    middle = (start[0] + end[0]) / 2
    path = (
        f"M{start[0]:.1f} {start[1]:.1f}"
        f"C{middle:.1f} {start[1]:.1f} {middle:.1f} {end[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    )
    full = scale.full if weight >= 0 else -scale.full
    return element(
        "path",
        d=path,
        stroke=hexadecimal(scale.colour(full * 0.8) if colour is None else colour),
        stroke_width=round(max(THICKEST * share, 0.4), 2),
        stroke_opacity=round(0.15 + 0.75 * share, 3),
    )
