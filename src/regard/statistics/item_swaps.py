"""Few items that differ: how often coins, one for each of them, would say as much.

If a is as good as b, then on each item the two might as well have changed places. All ways of changing
places are counted: an exact test, by Fisher 1935 (The design of experiments), for measures of a corpus too
(Noreen 1989, Computer-intensive methods for testing hypotheses). Of k items it never says less than 2^(1-k).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from regard.statistics.influence import Value

MOST_SWAPPED = 24  # items: of more, not all ways of changing places are counted
MOST_HALVED = 1000  # 2^-1000 is a number still
SURE = 0.5  # a p above this implies no standard error: it says nothing


def differing_items(counts_a: np.ndarray, counts_b: np.ndarray) -> np.ndarray:
    """(seeds, items, K) each -> the numbers of the items of which something else was counted."""
    return np.flatnonzero((counts_a != counts_b).any((0, 2)))


def swap_moves(
    counts_a: np.ndarray, counts_b: np.ndarray, items: np.ndarray, value: Value
) -> np.ndarray:
    """What each of the items adds to the difference, a mean over seeds: half of how far that moves when a
    and b change places there. Of a mean it is exactly the item's difference over the number of items.

    counts (seeds, items, K) -> (chosen items,)
    """
    more = counts_b[:, items] - counts_a[:, items]
    sums_a, sums_b = (counts.sum(1, keepdims=True) for counts in (counts_a, counts_b))
    with np.errstate(divide="ignore", invalid="ignore"):
        before = value(sums_a) - value(sums_b)
        moved: np.ndarray = (before - (value(sums_a + more) - value(sums_b - more))) / 2
    return np.nan_to_num(moved.mean(0), nan=0.0, posinf=0.0, neginf=0.0)


def swap_p(moves: np.ndarray) -> float:
    """The share of the 2^k choices of signs whose sum is as far from 0 as that of the moves.

    >>> swap_p(np.ones(6))  # two of 64
    0.03125
    """
    total, near = abs(moves.sum()), 1e-9 * np.abs(moves).sum()
    if total <= near:
        return 1.0
    half = len(moves) // 2  # two halves, each with all its sums: 2^(k/2) numbers, not 2^k
    one, other = _signed_sums(moves[:half]), np.sort(_signed_sums(moves[half:]))
    as_far = len(one) * len(other) - np.searchsorted(other, total - near - one).sum()
    return min(1.0, float(2 * as_far / (len(one) * len(other))))


def implied_error(difference: float, p: float) -> float:
    """The standard error of a normal law that would say p of this difference; 0 where p says nothing."""
    if not difference or p > SURE:
        return 0.0
    return abs(difference) / -NormalDist().inv_cdf(p / 2)


def least_error(difference: float, count: int) -> float:
    """The same for the least p of so many items, 2^(1-k): what they say where all of them agree.

    >>> least_error(1.0, 24) > least_error(1.0, 25) > least_error(1.0, 10_000) > 0
    True
    """
    if count <= MOST_HALVED:
        return implied_error(difference, 2.0 ** (1 - count))
    log = 2 * count * math.log(2)  # z² = -2 log p - log(2π z²) - …, of a tail p = 2^-k
    squared = log
    for _ in range(3):
        squared = log - math.log(2 * math.pi * squared)
    return abs(difference) / math.sqrt(squared)


def _signed_sums(moves: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for move in moves:
        sums = np.concatenate([sums + move, sums - move])
    return sums
