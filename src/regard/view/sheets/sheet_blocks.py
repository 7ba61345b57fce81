"""What a tab of the page says, as blocks that a drawing draws. The page has the same in drawing/sheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from math import isfinite, isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from regard.records.record import Box
from regard.records.side import Picture
from regard.view.picked_matrix import Matrix

Numbers = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class SheetWords:
    """A line of text; a heading is larger."""

    text: str
    heading: bool = False


@dataclass(frozen=True)
class ColourMap:
    """A matrix of colours between labels, and below it what its colours stand for."""

    matrix: Matrix
    full: float  # what the strongest colour stands for
    signed: bool = False
    title: str = ""
    name: str = ""  # of the numbers; "" are weights


@dataclass(frozen=True)
class TableCell:
    """Of a table: a text; a bar before it, from -1 to 1; a strip of numbers, as colours from -1 to 1; or a
    ground, from 0 to 1.
    """

    text: str = ""
    bar: float | None = None
    strip: Sequence[float] | None = None
    shade: float | None = None
    language: str = ""


@dataclass(frozen=True)
class NumberTable:
    """columns: their titles; the kind of a column is that of its cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[TableCell]]
    foot: Sequence[TableCell] = ()
    title: str = ""
    signed_full: float = 0.0  # what the strongest colour of the strips stands for
    shades: str = ""  # what the grounds of cells stand for, from 0 to 1


@dataclass(frozen=True)
class Branch:
    """A token of the tree of a search."""

    parent: int
    text: str
    chance: float
    fate: Literal["open", "ended", "dropped"] | str
    end: str  # place and score of a whole hypothesis
    depth: int
    row: int
    on_path: bool


@dataclass(frozen=True)
class SearchTree:
    branches: Sequence[Branch]
    language: str = ""


@dataclass(frozen=True)
class LitPictures:
    """A picture for each word, lit where it looked."""

    matrix: Matrix
    picture: Picture
    glimpses: Sequence[Sequence[Box]] = ()


HUGE = 1e21  # from here on a number is written with its power of ten, as the page does
Block = SheetWords | ColourMap | NumberTable | SearchTree | LitPictures


@dataclass(frozen=True)
class TabSheet:
    """small: lines under the heading. sections: from top to bottom, each a row of blocks."""

    heading: str
    small: Sequence[str]
    sections: Sequence[Sequence[Block]] = field(default_factory=tuple)
    languages: tuple[str, str] = ("", "")


def number_text(x: float | None, digits: int = 2) -> str:
    """0.4231 -> "0.42"; what would be shown as 0 without being it is "≈0"."""
    if x is None or isnan(x):
        return "–"
    if not isfinite(x):
        return "∞" if x > 0 else "−∞"
    size = abs(float(x))
    if 0 < size < 0.5 * 10**-digits:
        return "≈0"
    if size >= HUGE:
        return f"{'−' if x < 0 else ''}{size!r}"
    shown = Decimal(size).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{'−' if x < 0 else ''}{shown}"


def largest(*arrays: Any) -> float:
    """The biggest size among numbers; those that are none do not count."""
    sizes = [np.abs(np.asarray(each, float)).ravel() for each in arrays]
    every = np.concatenate([np.zeros(1), *sizes])
    return float(every[np.isfinite(every)].max())
