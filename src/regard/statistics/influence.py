"""What one item does to a measure, and what seeds and items do to a difference."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Value = Callable[[np.ndarray], np.ndarray]  # sums (..., K) -> (...)


def unit_of(numbers: np.ndarray) -> float:
    """A power of two of about the size of the largest: to divide by it loses no digit.

    >>> unit_of(np.array([3.0, -5.0]))
    4.0
    """
    largest = float(np.abs(numbers).max())
    return 2.0 ** (math.frexp(largest)[1] - 1) if 0 < largest < math.inf else 1.0


def influence(counts: np.ndarray, value: Value) -> np.ndarray:
    """What a second copy of an item does to the measure, times the number of items and one.

    counts (..., items, K) -> (..., items). Of a mean it is exactly score - mean; of any smooth measure
    its variance over items, divided by their number, is about that of the measure. A copy is added,
    nothing left out: what had a denominator keeps it.
    """
    sums = counts.sum(-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        changes = (counts.shape[-2] + 1) * (value(sums + counts) - value(sums))
        centred: np.ndarray = changes - changes.mean(-1, keepdims=True)
    return centred


def seed_variance(differences: np.ndarray) -> np.ndarray:
    """(..., seeds) -> (...): of the difference from seed to seed, on the same items."""
    variance: np.ndarray = differences.var(-1, ddof=1)
    return variance


def item_variance(influences: np.ndarray) -> np.ndarray:
    """(..., seeds, items) -> (...): of the difference from one test set to another, seeds without end.

    The covariance of two seeds, a mean over all pairs: what all seeds agree on about an item. What
    only one seed does with an item is in the variance over seeds already.
    """
    seeds, items = influences.shape[-2:]
    among_all = np.square(influences.sum(-2)).sum(-1) - np.square(influences).sum((-1, -2))
    return np.maximum(among_all / (seeds * (seeds - 1) * items * (items - 1)), 0)


def mean_item_variance(influences: np.ndarray) -> np.ndarray:
    """(..., seeds, items) -> (...): as above, with these seeds and no other: never too large for both.

    It is no less than what each seed does by itself with an item makes of it, also where that happens to
    cancel out between the seeds.
    """
    items = influences.shape[-1]
    variance: np.ndarray = influences.mean(-2).var(-1, ddof=1) / items
    return np.maximum(variance, noise_variance(influences))


def noise_variance(influences: np.ndarray) -> np.ndarray:
    """(..., seeds, items) -> (...): of the mean over these seeds, by what only one seed does with an item."""
    seeds, items = influences.shape[-2:]
    if seeds == 1:
        return np.zeros(influences.shape[:-2])
    noise: np.ndarray = influences.var(-2, ddof=1).sum(-1) / (seeds * items * (items - 1))
    return noise
