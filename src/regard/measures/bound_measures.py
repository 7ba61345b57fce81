"""Measures of how probable a model finds pictures, by a bound: nats a picture, in two parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from regard.measures.measure import Mean


@dataclass(frozen=True)
class PictureBound:
    """-log p(x) <= E[-log p(x | z)] + KL(q(z | x) ‖ p(z)), of one picture, in nats."""

    reconstruction: float
    divergence: float
    estimate: float  # of -log p(x), by weights of the same draws; of one draw it is a bound too

    @property
    def bound(self) -> float:
        return self.reconstruction + self.divergence


class BoundLoss(Mean):
    """The mean bound of a picture."""

    name: ClassVar = "loss"
    error: ClassVar = True

    def score(self, wanted: Any, answer: PictureBound) -> float:
        return answer.bound


class Reconstruction(Mean):
    """The mean of -log p(x | z): what the code of a picture does not tell."""

    name: ClassVar = "reconstruction"
    error: ClassVar = True

    def score(self, wanted: Any, answer: PictureBound) -> float:
        return answer.reconstruction


class Divergence(Mean):
    """The mean of KL(q(z | x) ‖ p(z)): what the code itself costs."""

    name: ClassVar = "divergence"
    error: ClassVar = True

    def score(self, wanted: Any, answer: PictureBound) -> float:
        return answer.divergence
