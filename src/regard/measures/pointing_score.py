"""Does a model look at what it names? Attention over the cells of a picture, and the box of what is named.

    peak    whether the middle of the cell with the largest weight is in the box; of several such cells, the
            share that is
    inside  how much weight is in the box; a cell that is partly in it counts in part

Chance, a look that is the same everywhere, gives the share of middles in the box, and the share of the
picture that the box covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from regard.measures.measure import Counts, Measure

Box = Sequence[float]  # left, top, width, height, in shares of the picture


@dataclass(frozen=True)
class Pointing:
    """Summed over words that name something; pointings add up."""

    words: int = 0
    peaks: float = 0.0
    inside: float = 0.0
    peaks_by_chance: float = 0.0
    inside_by_chance: float = 0.0

    def __add__(self, other: Pointing) -> Pointing:
        return Pointing(*(a + b for a, b in zip(self.counts, other.counts, strict=True)))  # type: ignore[arg-type]

    @property
    def counts(self) -> tuple[float, ...]:
        return self.words, self.peaks, self.inside, self.peaks_by_chance, self.inside_by_chance

    @classmethod
    def of_word(
        cls, weights: NDArray[Any], box: Box, grid: tuple[int, int], cells: tuple[float, float]
    ) -> Pointing:
        """weights (L,) over the cells of a grid, row by row. cells: the height and width of a cell, in shares
        of the picture, whose last ones may reach beyond it.
        """
        shares, middles = _in_box(box, grid, cells)
        largest = weights == weights.max()
        areas = _areas(grid, cells)
        return cls(
            1,
            float(middles[largest].mean()),
            float((weights * shares).sum()),
            float(middles.mean()),
            float((areas * shares).sum() / areas.sum()),
        )


class PointingPeak(Measure):
    """The share of words whose largest weight is in the box of what they name; an answer is a `Pointing`."""

    name: ClassVar = "pointing"
    share: ClassVar = True

    def count(self, wanted: Any, answer: Pointing) -> tuple[float, float]:
        return answer.peaks, float(answer.words)

    def value(self, sums: Counts) -> np.ndarray:
        part: np.ndarray = sums[..., 0] / np.maximum(sums[..., 1], 1)
        return part


class PointingInside(PointingPeak):
    """The share of weight that is in the box of what a word names."""

    name: ClassVar = "weight_inside"

    def count(self, wanted: Any, answer: Pointing) -> tuple[float, float]:
        return answer.inside, float(answer.words)


def _in_box(
    box: Box, grid: tuple[int, int], cells: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(L,), (L,): the share of each cell that is in the box, and whether its middle is (1 or 0)."""
    left, top, width, height = box
    down = _along(top, top + height, grid[0], cells[0])
    across = _along(left, left + width, grid[1], cells[1])
    shares, middles = (np.outer(a, b).reshape(-1) for a, b in zip(down, across, strict=True))
    return shares, middles


def _along(
    start: float, end: float, count: int, size: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One axis: of each of so many cells, the share between start and end, and whether its middle is."""
    first, last = _edges(count, size)
    covered = np.minimum(last, end) - np.maximum(first, start)
    middle = (first + last) / 2
    return (
        np.maximum(covered, 0.0) / (last - first),
        ((start <= middle) & (middle < end)).astype(np.float64),
    )


def _edges(count: int, size: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    edges = np.minimum(np.arange(count + 1) * size, 1.0)
    return edges[:-1], edges[1:]


def _areas(grid: tuple[int, int], cells: tuple[float, float]) -> NDArray[np.float64]:
    """(L,)"""
    sides = [np.subtract(*_edges(n, size)[::-1]) for n, size in zip(grid, cells, strict=True)]
    return np.outer(*sides).reshape(-1)
