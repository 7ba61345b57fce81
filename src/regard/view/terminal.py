"""Attention weights as a heat map in the terminal: a row for every query, a column for every key.

    print(heat_map(weights, ["I", "am"], ["我", "是"]))

         我     是
     I ██0.91 ░░0.09
    am ░░0.20 ██0.80

A weight of exactly 0 (a forbidden key has none other) is a dot, never a number; what rounds to 0
or 1 without being it is written <.01 or >.99; NaN and weights outside [0, 1] are shown as they are.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from regard.view import colours
from regard.view.terminal_cells import broken, fold, pad, shorten, visible, width
from regard.words import t

if TYPE_CHECKING:
    from torch import Tensor

WIDEST_COLUMN = 12  # a longer label is folded
LABEL_LINES = 3
ROUNDING = 1e-5  # how far above 1 a softmax may come out
FAINT = 0.01  # a difference that is smaller than this everywhere is drawn faintly


def heat_map(
    weights: Tensor | Sequence[Sequence[float]],
    queries: Sequence[object],
    keys: Sequence[object],
    *,
    title: str | None = None,
    colour: bool | None = None,
    width: int | None = None,
    shade: str = "",
) -> str:
    """weights (Lq, Lk), Lq labels, Lk labels -> a picture whose lines are all equally wide.

    colour: None asks the terminal (and NO_COLOR, FORCE_COLOR); False draws with ·░▒▓█.
    width: the cells there are, None those of the terminal; where not all keys fit, the heaviest are shown.
    shade: what the numbers are, if not weights.
    """
    rows = _rows(weights, len(queries), len(keys))
    scale = TerminalScale.of(rows)
    bits = 0 if colour is False else colours.colour_bits(sys.stdout)
    if colour and bits == 0:
        bits = 8
    texts = [[number(weight) for weight in row] for row in rows]
    space = width or shutil.get_terminal_size().columns
    plan = HeatMapLayout.of(
        [visible(q) for q in queries], [visible(k) for k in keys], texts, bits, space
    ).of_heaviest(rows)

    lines = [_bold(line, bits) for line in _title(title, space)] if title else []
    lines += [plan.line("", header) for header in plan.headers()]
    for label, row, text in zip(plan.queries, rows, texts, strict=True):
        cells = [(row[place], text[place]) for place in plan.places]
        drawn = [_cell(w, s, n, scale, bits) for (w, s), n in zip(cells, plan.columns, strict=True)]
        lines.append(plan.line(label, drawn))
    if plan.hidden:
        lines.append(shorten(t.plural(plan.hidden, "… {n} more key", "… {n} more keys"), space))
    if note := scale.note(bits, shade):
        lines.append(shorten(note, space))
    return _square(lines)


def _title(title: str, space: int) -> list[str]:
    """A name, which is cut off where there is no room; below it what else is said, which is not."""
    name, *more = title.split("\n")
    pieces = (piece for line in more for piece in broken(line, space))
    return [shorten(name, space), *(shorten(piece, space) for piece in pieces if piece)]


def beside(*pictures: str, gap: int = 4, width: int | None = None) -> str:
    """Pictures next to each other, as many in a row as the width allows."""
    space = width or shutil.get_terminal_size().columns
    shelves: list[list[list[str]]] = []
    room = 0
    for picture in pictures:
        lines = picture.split("\n")
        needs = _width(lines[0]) + gap
        if not shelves or needs > room + gap:
            shelves.append([])
            room = space
        shelves[-1].append(lines)
        room -= needs
    return "\n\n".join(_shelf(shelf, gap) for shelf in shelves)


def number(weight: float) -> str:
    """A weight in about four characters, none of which lies."""
    if weight == 0:
        return "·"
    if not math.isfinite(weight):
        return "NaN" if math.isnan(weight) else f"{weight}"
    if 0 < abs(weight) < 0.005:
        return "<.01" if weight > 0 else "≈0"
    if 0.995 <= weight < 1 - ROUNDING:
        return ">.99"
    return f"{weight:.2f}" if abs(weight) < 1000 else f"{weight:.0e}"


@dataclass(frozen=True)
class TerminalScale:
    """share = |weight| / full: how much of the shade a weight gets."""

    full: float = 1.0
    signed: bool = False

    @classmethod
    def of(cls, rows: list[list[float]]) -> TerminalScale:
        finite = [weight for row in rows for weight in row if math.isfinite(weight)]
        largest = max(map(abs, finite), default=0.0)
        signed = min(finite, default=0.0) < 0
        if signed:
            return cls(max(largest, FAINT), signed)
        return cls(largest if largest > 1 + ROUNDING else 1.0, signed)

    def share(self, weight: float) -> float:
        return min(abs(weight) / self.full, 1.0)

    def ramp(self, weight: float) -> colours.Ramp:
        if not self.signed:
            return colours.VIRIDIS
        return colours.ORANGES if weight < 0 else colours.PURPLES

    def note(self, bits: colours.Bits, shade: str = "") -> str:
        if self.full == 1.0 and not self.signed:
            return ""
        full = number(self.full)
        if shade and self.signed and bits:
            return t(
                "shades: {what}, full at {full}; negative ones are orange", what=shade, full=full
            )
        if shade:
            return t("shades: {what}, full at {full}", what=shade, full=full)
        if self.signed and bits:
            return t(
                "shades: size of the weight, full at {full}; negative weights are orange", full=full
            )
        return t("shades: size of the weight, full at {full}", full=full)


@dataclass(frozen=True)
class HeatMapLayout:
    """Where everything goes: the width of the row labels and of each column that is shown."""

    queries: list[str]
    keys: list[str]
    margin: int
    columns: list[int]
    places: Sequence[int]  # which of the keys are shown

    @property
    def hidden(self) -> int:
        """How many keys there is no room for."""
        return len(self.keys) - len(self.places)

    @classmethod
    def of(
        cls,
        queries: list[str],
        keys: list[str],
        texts: list[list[str]],
        bits: colours.Bits,
        space: int,
    ) -> HeatMapLayout:
        queries = [shorten(label, max(space // 3, 4)) for label in queries]
        margin = max(map(_width, queries), default=0)
        widest = max((len(text) for row in texts for text in row), default=1)
        cell = max(widest, 4) + (2 if bits else 3)  # blanks around it, or ██ before it
        wanted = [min(max(cell, _width(key) + 1), WIDEST_COLUMN) for key in keys]
        room = space - margin - 1
        even = [max(wanted, default=cell)] * len(keys)
        for columns in (even, wanted, [cell] * len(keys)):
            if sum(columns) <= room:
                return cls(queries, keys, margin, columns, range(len(keys)))
        shown = max((room - 2) // cell, 1)  # two cells for the ellipsis
        return cls(queries, keys, margin, [cell] * shown, range(shown))

    def of_heaviest(self, rows: list[list[float]]) -> HeatMapLayout:
        """With the heaviest keys of all rows together, in their order; of equals the first."""
        if not self.hidden:
            return self
        totals = [
            sum(abs(w) for w in column if not math.isnan(w)) for column in zip(*rows, strict=True)
        ]
        heaviest = sorted(range(len(totals)), key=lambda place: -totals[place])
        places = sorted(heaviest[: len(self.places)]) if totals else self.places
        return replace(self, places=places)

    def headers(self) -> list[list[str]]:
        """The labels of the keys, one list of pieces for each line they take."""
        folded = [
            fold(self.keys[place], cells - 1, LABEL_LINES)
            for place, cells in zip(self.places, self.columns, strict=True)
        ]
        height = max(map(len, folded), default=0)
        raised = [[""] * (height - len(label)) + label for label in folded]
        return [
            [pad(label[line], n, "^") for label, n in zip(raised, self.columns, strict=True)]
            for line in range(height)
        ]

    def line(self, label: str, cells: list[str]) -> str:
        end = " …" if self.hidden else ""
        return f"{pad(label, self.margin, '>')} {''.join(cells)}{end}"


_width = width  # `width` is also what heat_map and beside call the room they have


def _rows(
    weights: Tensor | Sequence[Sequence[float]], queries: int, keys: int
) -> list[list[float]]:
    shape = getattr(weights, "shape", None)
    if shape is not None and len(shape) != 2:
        raise ValueError(
            t(
                "a heat map draws weights (Lq, Lk), given {shape}: choose one row of the batch "
                "and one head, as in weights[0]",
                shape=tuple(shape),
            )
        )
    rows = weights.tolist() if hasattr(weights, "tolist") else [list(row) for row in weights]
    if len(rows) != queries or any(len(row) != keys for row in rows):
        seen = " × ".join(map(str, shape or (len(rows), len(rows[0]) if rows else 0)))
        raise ValueError(
            t(
                "the weights are {seen} (queries × keys), but there are labels for {queries} "
                "queries and {keys} keys",
                seen=seen,
                queries=queries,
                keys=keys,
            )
        )
    return [[float(weight) for weight in row] for row in rows]


def _cell(weight: float, text: str, cells: int, scale: TerminalScale, bits: colours.Bits) -> str:
    if bits:
        text = pad(text, cells, "^")
        if weight == 0:
            return f"{colours.FAINT}{text}{colours.RESET}"
        if math.isnan(weight):
            return f"{colours.REVERSE}{text}{colours.RESET}"
        ground = colours.shade(scale.ramp(weight), scale.share(weight), bits)
        return colours.paint(text, ground, bits)
    if weight == 0:
        return pad(text, cells, "^")
    shade = " " if math.isnan(weight) else "░▒▓█"[min(int(4 * scale.share(weight)), 3)]
    return pad(f"{shade * 2}{text:>4}", cells, "^")


def _bold(text: str, bits: colours.Bits) -> str:
    return f"{colours.BOLD}{text}{colours.RESET}" if bits else text


def _square(lines: list[str]) -> str:
    widest = max(map(_width, lines), default=0)
    return "\n".join(line + " " * (widest - _width(line)) for line in lines)


def _shelf(pictures: list[list[str]], gap: int) -> str:
    height = max(map(len, pictures))
    padded = [p + [" " * _width(p[0])] * (height - len(p)) for p in pictures]
    return "\n".join((" " * gap).join(pieces) for pieces in zip(*padded, strict=True))
