"""The lines that a report on a corpus is made of: examples to look at, and a table of lengths."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

import numpy as np

from regard.data.problems import SHOWN
from regard.words import t

PERCENTILES = (0, 50, 95, 99, 100)


@dataclass(frozen=True)
class Remarkable:
    """Examples that can be used but deserve a look: how many, and the lines of the first."""

    count: int
    first: tuple[int, ...]

    def __str__(self) -> str:
        more = ", …" if self.count > len(self.first) else ""
        if not self.count:
            return "0"
        return t.plural(
            self.count,
            "{n} (line {lines})",
            "{n} (lines {lines})",
            n=f"{self.count:,}",
            lines=f"{', '.join(map(str, self.first))}{more}",
        )


def remarkable(lines: np.ndarray, which: np.ndarray) -> Remarkable:
    return Remarkable(int(which.sum()), tuple(lines[which][:SHOWN].tolist()))


def repeated(hashes: np.ndarray) -> np.ndarray:
    """True at every occurrence but the first."""
    found = np.ones(len(hashes), bool)
    found[np.unique(hashes, return_index=True)[1]] = False
    return found


def at_percentiles(values: array[int]) -> tuple[int, ...]:
    if not values:
        return (0,) * len(PERCENTILES)
    return tuple(int(v) for v in np.percentile(values, PERCENTILES, method="higher"))


def length_table(rows: Iterable[tuple[str, int, Sequence[int]]]) -> list[str]:
    """A line for each name, with its total and what stands at `PERCENTILES`."""
    names = (t("min"), t("median"), "95 %", "99 %", t("max"))
    head = "  ".join(_filled(name, -8) for name in names)
    table = [f"{'':22}{_filled(t('total'), -12)}  {head}"]
    for name, total, percentiles in rows:
        values = "  ".join(f"{v:>8,}" for v in percentiles)
        table.append(f"{_filled(name, 22)}{total:>12,}  {values}")
    return table


def _filled(text: str, cells: int) -> str:
    """With blanks at its right; at its left if the number is negative. Chinese takes two cells."""
    blanks = " " * (abs(cells) - sum(1 + (east_asian_width(c) in "WF") for c in text))
    return f"{text}{blanks}" if cells > 0 else f"{blanks}{text}"
