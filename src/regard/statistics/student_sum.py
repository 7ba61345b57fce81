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

from regard.statistics.normal import both_tails

NORMAL = 0  # in place of degrees of freedom: without end
_STEP = 0.4  # of the integral over log χ²; by trapezes, which are exact to 1e-9 here
_LEAST = 1e-9  # weight of a node that is worth its time
_STEPS, _NEAR = 100, 1e-9  # of the search for a quantile


@dataclass(frozen=True)
class StudentSum:
    """first · t(first_df) + second · t(second_df)

    first, second: (...), scales, zero where there is no such part; their df: 1 or more, or NORMAL.

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
        z, _, weights = self._normals(np.abs(np.asarray(distance, dtype=np.float64)))
        return both_tails(z) @ weights

    def quantile(self, outside: float) -> np.ndarray:
        """(...): the distance beyond which lies this share."""
        scale = np.sqrt(np.square(self.first) + np.square(self.second))
        guess, low, high = 2 * scale, np.zeros_like(scale), np.full_like(scale, np.inf)
        for _ in range(_STEPS):
            z, scales, weights = self._normals(guess)
            share = both_tails(z) @ weights
            with np.errstate(divide="ignore", invalid="ignore"):
                density = math.sqrt(2 / math.pi) * (np.exp(-np.square(z) / 2) / scales) @ weights
            inside = share > outside
            low, high = np.where(inside, guess, low), np.where(inside, high, guess)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                # by Newton, share and distance in logarithms; where that leaves the bounds, their middle
                newton = guess * np.exp(np.log(share / outside) * share / (guess * density))
            middle = np.where(np.isfinite(high), (low + high) / 2, 4 * guess)
            tried = np.where((newton >= low) & (newton <= high), newton, middle)
            settled = np.abs(tried - guess) <= _NEAR * guess
            guess = tried
            if settled.all():
                break
        return np.where(scale > 0, guess, 0.0)

    def _normals(self, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A t is a normal whose scale is drawn: distances in such scales, the scales, their weights.

        (..., nodes), (..., nodes), (nodes,)
        """
        one, one_weights = _inverse_chi_square(self.first_df if np.any(self.first) else NORMAL)
        two, two_weights = _inverse_chi_square(self.second_df if np.any(self.second) else NORMAL)
        first = np.square(self.first)[..., None, None] * one[:, None]
        second = np.square(self.second)[..., None, None] * two
        both = first + second  # (..., nodes of one, nodes of two)
        scales = np.sqrt(both.reshape(*both.shape[:-2], -1))
        far = distance[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(far > 0, far / scales, 0.0)  # ∞ where nothing varies
        return z, scales, np.outer(one_weights, two_weights).ravel()


@lru_cache(maxsize=256)
def _inverse_chi_square(df: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of df / χ²(df); a single node for a part that is normal, or not there."""
    if df == NORMAL:
        return np.ones(1), np.ones(1)
    width = math.sqrt(2 / df)  # of log χ², for many degrees
    step = min(_STEP, 0.8 * width)
    reach = 10 * width + 2 * math.log(1 / _LEAST) / df
    log = np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1) * step
    density = np.exp(df / 2 * (log - np.expm1(log)))  # of log(χ²/df), 1 at its mode
    weights = density / density.sum()
    kept = weights > _LEAST
    return np.exp(-log[kept]), weights[kept] / weights[kept].sum()
