"""Attention over a picture: one small copy for each word, as it is where the word looked, dim elsewhere."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from regard.records.image_size import image_size
from regard.records.record import Box
from regard.records.side import Picture
from regard.view.markup import Markup, element, join
from regard.view.picked_matrix import Matrix
from regard.view.stills.paper import Scale, Theme, label, length, write
from regard.view.stills.picture_overlay import draw_outline, overlay
from regard.words import t

ACROSS, GAP, NAME = 4, 14.0, 20.0  # panels side by side; between them; for the word above each
WIDTH, LARGE = 168.0, 420.0
GLIMPSE = "#ff9d2e"


def draw_panels(
    matrix: Matrix, picture: Picture, glimpses: Sequence[Sequence[Box]], scale: Scale
) -> tuple[Markup, float, float]:
    height = _height(picture, WIDTH)
    # one copy of it, used for each word
    name = f"picture-{zlib.crc32(picture.source.encode()):08x}"
    whole = element(
        "image",
        id=name,
        width=WIDTH,
        height=round(height, 2),
        href=picture.source,
        preserveAspectRatio="none",
    )
    panels = [element("defs", whole)]
    for number, query in enumerate(matrix.queries):
        x = (number % ACROSS) * (WIDTH + GAP)
        y = (number // ACROSS) * (height + NAME + GAP)
        word = write(
            label(query),
            WIDTH / 2,
            13,
            size=13,
            fill=scale.theme.ink,
            anchor="middle",
            language=matrix.rows.language,
        )
        parts = [
            element("use", href=f"#{name}"),
            _veil(matrix, number, picture, WIDTH, height),
            *(_glimpse(box, height) for box in (glimpses[number] if glimpses else ())),
        ]
        shown = element("g", *parts, transform=f"translate(0 {NAME})")
        panels.append(element("g", word, shown, transform=f"translate({x:.1f} {y:.1f})"))
    across = min(len(matrix.queries), ACROSS)
    down = -(-len(matrix.queries) // ACROSS)
    return join(panels), across * (WIDTH + GAP) - GAP, down * (height + NAME + GAP) - GAP


def draw_overlay_scale(theme: Theme) -> tuple[Markup, float, float]:
    """What the brightness of a picture stands for: on a ground half dark, half light, as both are met."""
    bar, steps, high = 132.0, 44, 10.0
    ground = [
        element("rect", x=0, y=0, width=bar, height=high / 2, fill="#222222"),
        element("rect", x=0, y=high / 2, width=bar, height=high / 2, fill="#dddddd"),
    ]
    shades = []
    for n in range(steps):
        shades.append(
            element(
                "rect",
                x=round(bar * n / steps, 2),
                y=0,
                width=round(bar / steps, 2),
                height=high,
                fill="#000000",
                fill_opacity=round(overlay(n / (steps - 1)), 3),
            )
        )
    said = t(
        "each word is scaled to its own strongest cell; a line is around cells with half of its weight or "
        "more"
    )
    marks = [
        write("0", 0, high + 13, size=11, fill=theme.muted),
        write(t("most"), bar, high + 13, size=11, fill=theme.muted, anchor="end"),
        write(said, bar + 16, high - 1, size=11, fill=theme.muted),
    ]
    return join([*ground, *shades, *marks]), bar + 16 + length(said, 11), high + 16


def draw_word(
    matrix: Matrix, row: int, picture: Picture, theme: Theme
) -> tuple[Markup, float, float]:
    """One word and what it looked at, large."""
    height = _height(picture, LARGE)
    image = element(
        "image",
        width=LARGE,
        height=round(height, 2),
        href=picture.source,
        preserveAspectRatio="none",
    )
    language = matrix.rows.language
    words, x, y, lines = [], 0.0, height + 26, 1
    for number, query in enumerate(matrix.queries):
        text = label(query)
        if x and x + length(text, 16) > LARGE:
            x, y, lines = 0.0, y + 24, lines + 1
        now = number == row
        fill = theme.ink if now else theme.muted
        bold = 700 if now else None
        words.append(write(text, x, y, size=16, fill=fill, weight=bold, language=language))
        x += length(text, 16) + 9
    veil = _veil(matrix, row, picture, LARGE, height)
    return join([image, veil, *words]), LARGE, height + 12 + 24 * lines


def _height(picture: Picture, width: float) -> float:
    wide, high = image_size(picture.source) or (picture.columns, picture.rows)
    return width * high / wide


def _veil(matrix: Matrix, row: int, picture: Picture, width: float, height: float) -> Markup:
    """Over each cell, black as far as the word did not attend to it; around the strongest, a line."""
    weights = matrix.weights[row]
    shares = weights / (float(weights[np.isfinite(weights)].max(initial=0.0)) or 1.0)
    wide, high = width / picture.columns, height / picture.rows
    cells = []
    for n, share in enumerate(shares):
        cells.append(
            element(
                "rect",
                x=round(wide * (n % picture.columns), 2),
                y=round(high * (n // picture.columns), 2),
                width=round(wide, 2),
                height=round(high, 2),
                fill="#000000",
                fill_opacity=round(overlay(float(share)), 3),
            )
        )
    line = draw_outline(shares.reshape(picture.rows, picture.columns), wide, high)
    return join([element("g", *cells, shape_rendering="crispEdges"), line])


def _glimpse(box: Box, height: float) -> Markup:
    left, top, wide, high = box
    return element(
        "rect",
        x=round(left * WIDTH, 2),
        y=round(top * height, 2),
        width=round(wide * WIDTH, 2),
        height=round(high * height, 2),
        fill="none",
        stroke=GLIMPSE,
        stroke_width=2,
    )
