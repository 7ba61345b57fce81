"""How well numbers follow the wanted ones: Pearson's and Spearman's correlations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from regard.measures.measure import Counts, Measure
from regard.words import t

ROUNDING = 1e-12  # of a variance, as a share of the mean square: what is below is none


class Pearson(Measure):
    """r = cov(x, y) / √(var x · var y), from six sums; 0 where either never changes.

    >>> Pearson().of([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    1.0
    """

    name: ClassVar = "pearson"

    def count(self, wanted: float, answer: float) -> tuple[float, ...]:
        """1, x, y, x², y², xy"""
        x, y = float(wanted), float(answer)
        return 1.0, x, y, x * x, y * y, x * y

    def counts(self, wanted: Iterable[Any], answers: Iterable[Any]) -> Counts:
        """Of centred numbers of one size: r is the same, and the sums lose no digits."""
        return super().counts(_centred(wanted), _centred(answers))

    def value(self, sums: Counts) -> np.ndarray:
        n, x, y, xx, yy, xy = np.moveaxis(np.asarray(sums, np.float64), -1, 0)
        n = np.maximum(n, 1.0)
        both = _spread(x, xx, n) * _spread(y, yy, n)
        changes = both > 0
        r = (xy / n - x / n * (y / n)) / np.sqrt(np.where(changes, both, 1.0))
        found: np.ndarray = np.where(changes, r, 0.0).clip(-1.0, 1.0)
        return found


class Spearman(Pearson):
    """Pearson's correlation of ranks; equal numbers share the mean of their ranks.

    An item has the rank that it has among all items, also where a bootstrap chooses some of them.
    """

    name: ClassVar = "spearman"

    def counts(self, wanted: Iterable[Any], answers: Iterable[Any]) -> Counts:
        return super().counts(ranks(wanted), ranks(answers))


def ranks(numbers: Iterable[float]) -> NDArray[np.float64]:
    """From 1, the least first.

    >>> ranks([3.0, 1.0, 3.0])
    array([2.5, 1. , 2.5])
    """
    given = np.array(list(numbers), np.float64)
    if np.isnan(given).any():
        raise ValueError(t("ranks need numbers, and NaN is none"))
    _, place, count = np.unique(given, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    shared: NDArray[np.float64] = (last - (count - 1) / 2)[place]
    return shared


def _centred(numbers: Iterable[float]) -> NDArray[np.float64]:
    """(x - mean) / the largest of them, and exactly 0 where all are equal

    Of numbers that are large and near one another the first is taken from all: that loses no digit.
    """
    x = np.array(list(numbers), np.float64)
    if not np.isfinite(x).all():
        raise ValueError(t("a correlation needs numbers that are finite"))
    if not x.size:
        return x
    x = x / 2.0 ** (np.frexp(np.abs(x).max())[1] - 1)  # by a power of two: none is 2 or more
    x = x - x[0]
    x = x / (np.abs(x).max() or 1.0)
    x = x - x.mean()
    centred: NDArray[np.float64] = x / (np.abs(x).max() or 1.0)
    return centred


def _spread(total: np.ndarray, squares: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The variance; exactly 0 where it is nothing but rounding."""
    mean_square = squares / n
    variance = mean_square - (total / n) ** 2
    found: np.ndarray = np.where(variance > ROUNDING * mean_square, variance, 0.0)
    return found
