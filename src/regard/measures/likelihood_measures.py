"""Measures of how probable a model finds what was said: they count of an item what `Likelihood` holds."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from regard.measures.likelihood import Likelihood
from regard.measures.measure import Counts, Measure


class TokenLoss(Measure):
    """The mean -log p of a token, in nats."""

    name: ClassVar = "loss"
    error: ClassVar = True

    def count(self, wanted: Any, answer: Likelihood) -> tuple[float, float]:
        return answer.nll, float(answer.tokens)

    def value(self, sums: Counts) -> np.ndarray:
        mean: np.ndarray = sums[..., 0] / sums[..., 1]
        return mean


class Perplexity(TokenLoss):
    """e to the loss."""

    name: ClassVar = "perplexity"

    def value(self, sums: Counts) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(super().value(sums))


class TokenAccuracy(Measure):
    """The share of tokens that were the most probable."""

    name: ClassVar = "accuracy"
    share: ClassVar = True

    def count(self, wanted: Any, answer: Likelihood) -> tuple[float, float]:
        return float(answer.correct), float(answer.tokens)

    def value(self, sums: Counts) -> np.ndarray:
        share: np.ndarray = sums[..., 0] / sums[..., 1]
        return share


class BitsPerCharacter(Measure):
    """Bits for each character of the text, whatever its tokens are: `wanted` is how many there are."""

    name: ClassVar = "bits_per_character"
    error: ClassVar = True

    def count(self, wanted: int, answer: Likelihood) -> tuple[float, float]:
        return answer.nll, float(wanted)

    def value(self, sums: Counts) -> np.ndarray:
        return sums[..., 0] / math.log(2) / np.maximum(sums[..., 1], 1)
