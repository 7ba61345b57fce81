"""How good a run is on one corpus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.clock import clock
from regard.words import say_plural, t


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
        return t(
            "{measures}, loss {loss}  ({count} {noun} of {corpus}, answered in {time})",
            measures=self.words,
            loss=f"{self.loss:.4f}",
            count=f"{len(self.examples):,}",
            noun=say_plural(len(self.examples), self.noun[:-1], self.noun),
            corpus=self.corpus,
            time=clock(self.seconds),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            self.noun: len(self.examples),
            **self.measures,
            "loss": self.loss,
            "seconds": self.seconds,
        }


def measure_name(name: str) -> str:
    """A measure in words: those of a task that regard does not know are called as they are."""
    known = {
        "accuracy": t("accuracy"),
        "exact_match": t("exact match"),
        "sentence_accuracy": t("sentence accuracy"),
        "perplexity": t("perplexity"),
        "loss": t("loss"),
        "precision": t("precision"),
        "recall": t("recall"),
    }
    return known.get(name, name.replace("_", " "))


def listed(parts: Sequence[str]) -> str:
    """Clauses as one sentence; none if there are none."""
    if not parts:
        return ""
    whole = parts[0]
    for part in parts[1:]:
        whole = t("{first} and {second}", first=whole, second=part)
    return t("{sentence}.", sentence=whole)


def on_set(name: str, measure: str) -> str:
    """`test loss`, of the part of the data that it was measured on."""
    return t("{set} {measure}", set=name, measure=measure)
