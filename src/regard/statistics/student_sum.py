"""Two independent t, scaled and added: how far a mean over few seeds and many items may be off.

What a few seeds say of their spread is itself uncertain, and so has the tails of a t; what the items add
has its own t. Their sum is the law of Behrens and Fisher: as a test it errs at most as often as it
says, for any ratio of the two parts, which the approximation of Satterthwaite does not at 2 or 3 seeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

_STEP = 0.4  # of the integral over log χ²; by trapezes, which are exact to 1e-9 here
_LEAST = 1e-9  # weight of a node that is worth its time
_erfc = np.frompyfunc(math.erfc, 1, 1)


@dataclass(frozen=True)
class StudentSum:
    """first · t(first_df) + second · t(second_df)

    first, second: (...), scales, zero where there is no such part; their df: 1 or more.

    >>> law = StudentSum(1.0, 2, 0.0, 1)
    >>> round(float(law.quantile(0.05)), 3)  # the t of 2 degrees of freedom
    4.303
    """

    first: np.ndarray | float
    first_df: int
    second: np.ndarray | float
    second_df: int

    def beyond(self, distance: np.ndarray | float) -> np.ndarray:
        """P(|sum| > distance): (...)"""
        variances, weights = self._mixture()
        far = np.abs(np.asarray(distance, dtype=np.float64))[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(far > 0, far / np.sqrt(2 * variances), 0.0)  # ∞ where nothing varies
        return _erfc(z).astype(np.float64) @ weights

    def quantile(self, outside: float) -> np.ndarray:
        """(...): the distance beyond which lies this share."""
        low = np.zeros(np.broadcast_shapes(np.shape(self.first), np.shape(self.second)))
        scale = np.sqrt(np.square(self.first) + np.square(self.second))
        high = low + scale
        while np.any(open_ := (self.beyond(high) > outside) & (scale > 0)):
            high = np.where(open_, 2 * high, high)
        for _ in range(40):
            middle = (low + high) / 2
            inside = self.beyond(middle) > outside
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return (low + high) / 2

    def _mixture(self) -> tuple[np.ndarray, np.ndarray]:
        """A t is a normal whose variance is drawn. Variances (..., nodes), their weights (nodes,)."""
        one, one_weights = _inverse_chi_square(self.first_df)
        two, two_weights = _inverse_chi_square(self.second_df)
        first = np.square(self.first)[..., None, None] * one[:, None]
        second = np.square(self.second)[..., None, None] * two
        both = first + second  # (..., nodes of one, nodes of two)
        return both.reshape(*both.shape[:-2], -1), np.outer(one_weights, two_weights).ravel()


@lru_cache(maxsize=256)
def _inverse_chi_square(df: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of df / χ²(df)."""
    width = math.sqrt(2 / df)  # of log χ², for many degrees
    step = min(_STEP, 0.8 * width)
    reach = 10 * width + 2 * math.log(1 / _LEAST) / df
    log = np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1) * step
    density = np.exp(df / 2 * (log - np.expm1(log)))  # of log(χ²/df), 1 at its mode
    weights = density / density.sum()
    kept = weights > _LEAST
    return np.exp(-log[kept]), weights[kept] / weights[kept].sum()
