"""One input as a model reads it, in a form that every measure can ask: its answers, and other ones.

Legend: Q answers (target tokens, or one label), K keys (source tokens), M rows of weights for each answer
(one; in a Transformer those of all heads of all layers), V what can be answered, R tries, N of the Q answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True)
class Weighed:
    """The weights that the answers were made with."""

    weights: Tensor  # (Q, M, K)
    allowed: Tensor  # bool (Q, M, K): which keys could have been attended to
    reported: Tensor  # (Q, K): what the model itself reports of them


class Reading(Protocol):
    """What a measure asks about one input."""

    weighed: Weighed | None  # None: nothing is attended to
    said: Tensor  # (Q,): the answers, each one of V
    answers: Tensor  # (Q, V): the distributions they were taken from
    work: float  # for one answer with other weights

    def steered(self, weights: Tensor, rows: slice) -> Tensor:
        """The distributions (R, N, V) where each of N answers alone is made with weights (R, N, M, K)."""
        ...

    def reported(self, weights: Tensor, rows: slice) -> Tensor:
        """What the model would report (N, K) of weights (N, M, K)."""
        ...

    def gradients(self) -> Tensor:
        """Σ_d x_d · ∂ log p(y) / ∂ x_d for each answer y and each embedded token x: (Q, K)"""
        ...

    def without_each(self) -> Tensor:
        """p(y) for each answer y if one token were not there: (Q, K)"""
        ...
