"""A picture and how it was looked at in a terminal: half blocks, two pixels to a character, and lines.

Without colours pixels are ·░▒▓█ by their brightness, darkest to brightest. A place of a path is its number.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from regard.records.png_image import PngImage
from regard.records.record import AttentionRecord
from regard.records.sights import Canvases, Glimpses
from regard.view import colours
from regard.view.picked_matrix import Matrix
from regard.view.shaded.shaded_words import bits_for
from regard.view.stills.picture_overlay import overlaid
from regard.view.stills.sight_words import sight_name, step_words, warp_words
from regard.view.stills.warped_pixels import pixels_in, pixels_of
from regard.view.terminal import beside
from regard.view.terminal import number as weight_text
from regard.view.terminal_cells import pad, shorten, visible
from regard.words import t

WIDEST = 44  # characters of a picture
PANEL = 24  # of one among several
SHADES = " ·░▒▓█"
MOST_LINES = 16  # steps that have a line; of more, the last
MARK: colours.RGB = (255, 216, 77)
Pixels = NDArray[np.uint8]


def sight_text(record: AttentionRecord, *, colour: bool | None = None) -> str:
    """The picture, or what came of it beside it, and a line for each step."""
    sight = record.sight
    assert sight is not None
    bits = bits_for(colour)
    space = shutil.get_terminal_size().columns
    title = " — ".join(filter(None, (record.title and visible(record.title), sight_name(sight))))
    if isinstance(sight, Glimpses):
        places = [((step.x + 1) / 2, (step.y + 1) / 2) for step in sight.steps]
        drawn = half_blocks(sight.image, bits, min(space, WIDEST), places)
    else:
        last = sight.steps[-1].canvas if isinstance(sight, Canvases) else sight.warps[0].image
        both = [each for each in (sight.image, last) if each is not None]
        room = min(space // len(both) - 4, WIDEST)
        drawn = beside(*(half_blocks(each, bits, max(room, 4)) for each in both), width=space)
    if isinstance(sight, Glimpses | Canvases):
        count = len(sight.steps)
        first = max(count - MOST_LINES, 0)
        lines = [step_words(sight, number) for number in range(first, count)]
        if first:
            lines.insert(0, t("… {n} steps before these", n=first))
    else:
        lines = [warp_words(each) for each in sight.warps]
    return "\n".join([shorten(title, space), drawn, *lines])


def pictured_text(matrix: Matrix, title: str, *, colour: bool | None = None) -> str:
    """Words over the cells of a picture: the picture once for each, lit where it looked, and a line for each.
    Without colours it is there once, with the number of each word where that looked most.
    """
    picture = matrix.columns.picture
    assert picture is not None
    bits, space = bits_for(colour), shutil.get_terminal_size().columns
    rows, columns = picture.rows, picture.columns
    coded = picture.source.partition(",")[2]
    pixels = _at_most(pixels_in(base64.b64decode(coded), ("PNG", "JPEG", "GIF", "WEBP")), WIDEST)
    places = [divmod(int(row.argmax()), columns) for row in matrix.weights[:MOST_LINES]]
    queries = [visible(query) for query in matrix.queries[:MOST_LINES]]
    if bits:
        panels = []
        for query, weights in zip(queries, matrix.weights, strict=False):
            shares = (weights / (weights.max() or 1)).reshape(rows, columns)
            drawn = half_blocks(overlaid(pixels, shares), bits, min(space, PANEL))
            wide = min(space, PANEL, max(pixels.shape[1], 8))
            panels.append(f"{pad(shorten(query, wide), wide)}\n{drawn}")
        shown = beside(*panels, width=space, gap=2)
    else:
        middles = [((column + 0.5) / columns, (row + 0.5) / rows) for row, column in places]
        shown = half_blocks(pixels, bits, min(space, WIDEST), middles)
    lines = [
        t(
            "{number}  {word} looked most at row {row}, column {column}: {weight}",
            number=number,
            word=query,
            row=row + 1,
            column=column + 1,
            weight=weight_text(float(matrix.weights[number - 1].max())),
        )
        for number, (query, (row, column)) in enumerate(zip(queries, places, strict=True), 1)
    ]
    if hidden := len(matrix.queries) - len(queries):
        lines.append(t("… {n} words after these", n=hidden))
    return "\n".join([shorten(visible(title), space), shown, *lines])


def _at_most(pixels: Pixels, wide: int) -> Pixels:
    """Made smaller where it is wider than can be shown."""
    if pixels.shape[1] <= wide:
        return pixels
    high = max(round(pixels.shape[0] * wide / pixels.shape[1]), 1)
    return np.asarray(Image.fromarray(pixels).resize((wide, high), Image.Resampling.BOX))


def half_blocks(
    image: PngImage | Pixels,
    bits: colours.Bits,
    width: int,
    places: Sequence[tuple[float, float]] = (),
) -> str:
    """places: (x, y) in shares of the picture, numbered from 1."""
    whole = pixels_of(image) if isinstance(image, PngImage) else image
    wide = min(width, max(whole.shape[1], 8))
    high = max(
        round(wide * whole.shape[0] / whole.shape[1] / 2), 1
    )  # characters: twice as high as wide
    small = Image.fromarray(whole).resize((wide, 2 * high), Image.Resampling.BOX)
    pixels = np.asarray(small)
    marks = {
        (min(max(int(y * high), 0), high - 1), min(max(int(x * wide), 0), wide - 1)): str(n % 10)
        for n, (x, y) in enumerate(places, 1)
    }
    return "\n".join(_line(pixels, row, marks, bits) for row in range(high))


def _line(
    pixels: Pixels, row: int, marks: Mapping[tuple[int, int], str], bits: colours.Bits
) -> str:
    cells = []
    for column in range(pixels.shape[1]):
        upper, lower = pixels[2 * row, column], pixels[2 * row + 1, column]
        mark = marks.get((row, column))
        if bits == 0:
            bright = (int(upper.sum()) + int(lower.sum())) / (6 * 255)
            cells.append(mark or SHADES[min(int(bright * len(SHADES)), len(SHADES) - 1)])
        elif mark:
            cells.append(colours.paint(mark, MARK if bits == 24 else (255, 215, 95), bits))
        else:
            cells.append(f"\x1b[38;{_code(upper, bits)};48;{_code(lower, bits)}m▀{colours.RESET}")
    return "".join(cells)


def _code(pixel: Pixels, bits: colours.Bits) -> str:
    """A colour as a terminal is told it: all of it, or the nearest of the 256."""
    red, green, blue = (int(part) for part in pixel)
    if bits == 24:
        return f"2;{red};{green};{blue}"
    if max(red, green, blue) - min(red, green, blue) < 12:  # one of 24 shades of grey
        grey = (red + green + blue) // 3
        return f"5;{16 if grey < 4 else 231 if grey > 246 else 232 + min((grey - 3) // 10, 23)}"
    steps = (0, 95, 135, 175, 215, 255)
    r, g, b = (min(range(6), key=lambda n: abs(steps[n] - part)) for part in (red, green, blue))
    return f"5;{16 + 36 * r + 6 * g + b}"
