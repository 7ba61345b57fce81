"""A time, and degrees of a place on the earth: one number each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from regard.data.fields.field import Cell, Field, Parts, Unusable

Unit = Literal["seconds", "minutes", "hours", "days"]
HOURS: dict[Unit, float] = {"seconds": 1 / 3600, "minutes": 1 / 60, "hours": 1.0, "days": 24.0}
FOURSQUARE = "%a %b %d %H:%M:%S %z %Y"  # Tue Apr 03 18:00:09 +0000 2012


class SingleNumber(Field):
    """A number.  Tensor: NAME (B,) float64"""

    parts: ClassVar = ("number",)
    size: ClassVar = 1
    types: ClassVar = ("<f8",)

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        return [([example[self.name]],) for example in examples]

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        numbers = [float(parts[0][0]) for parts in several]
        return {self.name: torch.tensor(numbers, dtype=torch.float64)}


class TimePoint(SingleNumber):
    """A time in hours. A cell is a number of `unit`s since any start, the same for all of a corpus, or a date
    as 2012-04-03T18:00:09Z (or 2012-04-03 18:00), in hours since 1970; without a zone it is UTC.
    """

    any_cell: ClassVar = "2012-04-03T18:00"

    def __init__(self, name: str, unit: Unit = "seconds") -> None:
        super().__init__(name)
        self.unit: Unit = unit

    def __repr__(self) -> str:
        return f"TimePoint({self.name!r}, unit={self.unit!r})"

    def read(self, cell: Cell, folder: Path | None = None) -> float:
        number = number_of(cell)
        hours = _date(cell) if number is None else number * HOURS[self.unit]
        if hours is None:
            raise Unusable("{}lines without a time (2012-04-03T18:00) or a number")
        return hours


class Degrees(SingleNumber):
    """Degrees from -`most` to `most`: of latitude 90, of longitude 180."""

    any_cell: ClassVar = 40.75

    def __init__(self, name: str, most: float) -> None:
        super().__init__(name)
        self.most = most

    def read(self, cell: Cell, folder: Path | None = None) -> float:
        number = number_of(cell)
        if number is None:
            raise Unusable("{}lines that are not numbers")
        if abs(number) > self.most:
            raise Unusable(f"{{}}lines that are not between -{self.most:g} and {self.most:g}")
        return number


def number_of(cell: Cell) -> float | None:
    """A finite number, or text that is one; None: it is neither."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    try:
        number = float(cell)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _date(cell: Cell) -> float | None:
    """Hours since 1970."""
    if not isinstance(cell, str):
        return None
    for parse in (datetime.fromisoformat, lambda text: datetime.strptime(text, FOURSQUARE)):
        try:
            found = parse(cell.strip())
        except ValueError:
            continue
        zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
        return zoned.timestamp() / 3600
    return None
