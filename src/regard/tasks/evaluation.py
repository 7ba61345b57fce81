"""How good a run is on one corpus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.clock import clock


class Evaluation(ABC):
    corpus: str

    @property
    @abstractmethod
    def text(self) -> str:
        """For people, the most important first."""

    @property
    def table(self) -> str:
        """Where it is good and where not, for a terminal; empty if there is nothing to say."""
        return ""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""


@dataclass(frozen=True)
class Measured(Evaluation):
    """Answers to examples, and measures of them."""

    corpus: str
    noun: str
    examples: Sequence[Any]
    answers: Sequence[Any]
    loss: float  # nats for each that is scored
    measures: Mapping[str, float]
    words: str  # the measures for people
    seconds: float

    @property
    def text(self) -> str:
        return (
            f"{self.words}, loss {self.loss:.4f}  ({len(self.examples):,} {self.noun} of {self.corpus}, "
            f"answered in {clock(self.seconds)})"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            self.noun: len(self.examples),
            **self.measures,
            "loss": self.loss,
            "seconds": self.seconds,
        }
