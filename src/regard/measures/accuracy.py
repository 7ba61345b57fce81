"""How many answers are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from regard.measures.measure import Mean


class Accuracy(Mean):
    """The share of items whose answer is the wanted one."""

    name: ClassVar = "accuracy"
    share: ClassVar = True

    def score(self, wanted: Any, answer: Any) -> float:
        return float(answer == wanted)


class SentenceAccuracy(Accuracy):
    """The share of sequences whose answers are all right."""

    name: ClassVar = "sentence_accuracy"

    def score(self, wanted: Sequence[Any], answer: Sequence[Any]) -> float:
        return float(list(answer) == list(wanted))


class WordAccuracy(Accuracy):
    """The share of right answers where an item has many, one for every word."""

    def count(self, wanted: Sequence[Any], answer: Sequence[Any]) -> tuple[float, float]:
        right = sum(a == b for a, b in zip(wanted, answer, strict=True))
        return float(right), float(len(wanted))
