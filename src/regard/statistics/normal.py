"""The tails of the normal distribution."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

_FINE = 2048  # points of the table for each standard deviation
_FARTHEST = 38  # standard deviations; no double is as small as what lies beyond


def both_tails(distance: np.ndarray) -> np.ndarray:
    """P(|z| > distance), and for distances below 0 what is missing to 2: erfc(distance / √2), to 3e-8
    of it. From a table, since numpy has no erfc.
    """
    table = _logarithms()
    place = np.minimum(np.abs(distance), _FARTHEST) * _FINE
    below = place.astype(np.intp)
    low = table[below]
    tails = np.exp(low + (table[below + 1] - low) * (place - below))
    tails = np.where(np.abs(distance) < _FARTHEST, tails, 0.0)
    return np.where(distance < 0, 2 - tails, tails)


@cache
def _logarithms() -> np.ndarray:
    points = [math.erfc(i / _FINE / math.sqrt(2)) for i in range(_FARTHEST * _FINE + 2)]
    return np.log(points)
