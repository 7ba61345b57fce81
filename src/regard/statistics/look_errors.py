"""How much error each look may spend."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from regard.statistics.normal import both_tails

_GRID = 301  # points of the integral between the bounds of a look


@lru_cache(maxsize=256)
def look_errors(seeds: tuple[int, ...], error: float) -> tuple[float, ...]:
    """For each look the p-value below which it decides, so that all together err at most so often.

    The error spent after a look is its share of all seeds. A look knows that earlier ones have not
    decided: with independent seeds the sums of their differences walk like a Brownian motion, and
    how much of it is left between the bounds is integrated look by look. Where the same items
    are in every look, looks are more alike than that, and err less.

    >>> [round(p, 4) for p in look_errors((3, 5, 10), 0.05)]
    [0.015, 0.0149, 0.0322]
    """
    times = [count / seeds[-1] for count in seeds]
    walk, mass = np.zeros(1), np.ones(1)  # where the sum may be, and with what probability
    levels = []
    for before, now in zip([0.0, *times], times, strict=False):
        step = math.sqrt(now - before)
        bound = _bound(walk, mass, step, error * (now - before), math.sqrt(now))
        levels.append(float(both_tails(np.array([bound / math.sqrt(now)]))[0]))
        points = np.linspace(-bound, bound, _GRID)
        weights = np.full(_GRID, points[1] - points[0])
        weights[[0, -1]] /= 2
        distance = (points[:, None] - walk) / step
        density = np.exp(-np.square(distance) / 2) @ mass / (step * math.sqrt(2 * math.pi))
        walk, mass = points, density * weights
    return tuple(levels)


def _bound(walk: np.ndarray, mass: np.ndarray, step: float, spend: float, scale: float) -> float:
    """The bound that the walk leaves in its next step with probability `spend`."""
    low, high = 0.0, 40 * scale
    for _ in range(50):
        middle = (low + high) / 2
        tails = both_tails((middle - walk) / step) + both_tails((middle + walk) / step)
        outside = tails @ mass / 2
        low, high = (middle, high) if outside > spend else (low, middle)
    return high
