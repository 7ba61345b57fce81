"""Text of a PDF: what Helvetica has is written with it, all else drawn by fonts of this system, as pixels."""

from __future__ import annotations

import io
import json
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from regard.view.markup import element
from regard.view.stills.paper import RTL_ISOLATE, length
from regard.view.stills.png import render
from regard.view.terminal_cells import END_ISOLATE

ZOOM = 4  # pixels for each unit of a letter that is drawn
MARKS = dict.fromkeys(map(ord, RTL_ISOLATE + END_ISOLATE))  # they take no room
SAME = {ord("−"): "–"}  # WinAnsi has no minus; its dash has the shape


@dataclass(frozen=True)
class LetterStyle:
    size: float
    bold: bool
    fill: str
    family: str


@dataclass(frozen=True)
class LetterPatch:
    """Letters as pixels (H, W, 4), and their upper left corner, seen from the start of the baseline."""

    pixels: NDArray[np.uint8]
    left: float
    top: float
    advance: float


def as_helvetica(text: str) -> bytes | None:
    """In WinAnsi encoding; None where a character is not in it."""
    try:
        return text.translate(SAME).encode("cp1252")
    except UnicodeEncodeError:
        return None


def helvetica_width(text: str, size: float, bold: bool) -> float:
    return sum(_advance(c, bold) for c in text) * size / 1000


@cache
def _advance(character: str, bold: bool) -> int:
    known = json.loads((files("regard.view.pdf") / "helvetica.json").read_text(encoding="utf-8"))
    if character in known["signs"]:
        return int(known["signs"][character][bold])
    plain = unicodedata.normalize("NFD", character)[0]  # é is as wide as e
    place = ord(plain) - 32
    widths = known["bold" if bold else "regular"]
    return int(widths[place]) if 0 <= place < len(widths) else 556


def drawn_letters(
    wanted: list[tuple[str, LetterStyle]],
) -> dict[tuple[str, LetterStyle], LetterPatch]:
    """All texts on one sheet, drawn once, and cut out again."""
    if not wanted:
        return {}
    rows, y, wide = [], 0.0, 0.0
    for text, style in wanted:
        high = style.size * 2
        rows.append((y, y + style.size * 1.4, high))
        y += high
        wide = max(wide, length(text, style.size) * 1.6 + 2 * style.size)
    texts = [
        element(
            "text",
            text,
            x=style.size,
            y=round(base, 2),
            font_family=style.family or "sans-serif",
            font_size=style.size,
            font_weight=600 if style.bold else None,
            fill=style.fill,
        )
        for (text, style), (_, base, _) in zip(wanted, rows, strict=True)
    ]
    sheet = element(
        "svg", *texts, xmlns="http://www.w3.org/2000/svg", width=round(wide), height=round(y)
    )
    with Image.open(io.BytesIO(render(sheet, zoom=ZOOM))) as opened:
        pixels = np.asarray(opened.convert("RGBA"))
    found = {}
    for (text, style), (top, base, high) in zip(wanted, rows, strict=True):
        first = round(top * ZOOM)
        found[text, style] = _cut(
            pixels[first : round((top + high) * ZOOM)], style.size, base - first / ZOOM
        )
    return found


def _cut(row: NDArray[np.uint8], left: float, base: float) -> LetterPatch:
    """What is not clear, and a little more where nothing is."""
    inked = row[..., 3] > 0
    if not inked.any():
        return LetterPatch(np.zeros((1, 1, 4), np.uint8), 0.0, 0.0, 0.0)
    down, across = np.flatnonzero(inked.any(1)), np.flatnonzero(inked.any(0))
    top, bottom, first, last = down[0], down[-1] + 1, across[0], across[-1] + 1
    cut = row[top:bottom, first:last]
    return LetterPatch(cut, first / ZOOM - left, top / ZOOM - base, last / ZOOM - left)
