"""How well labels are told apart: accuracy, macro-F1, and what is taken for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regard.words import t


@dataclass(frozen=True)
class Confusion:
    """counts[(label, answer)]: how often a text of that label got that answer.

    >>> found = Confusion.of(["a", "a", "b"], ["a", "b", "b"])
    >>> found.accuracy, found.f1("a"), found.macro_f1
    (0.6666666666666666, 0.6666666666666666, 0.6666666666666666)
    """

    counts: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, labels: Sequence[str], answers: Sequence[str]) -> Confusion:
        if not labels:
            raise ValueError(t("nothing to score: there are no labels"))
        return cls(Counter(zip(labels, answers, strict=True)))

    @property
    def labels(self) -> list[str]:
        """All that occur, as a label or as an answer."""
        return sorted({name for pair in self.counts for name in pair})

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def correct(self) -> int:
        return sum(self.count(label, label) for label in self.labels)

    @property
    def accuracy(self) -> float:
        return self.correct / self.total

    @property
    def macro_f1(self) -> float:
        """The mean of F1 over the labels, however frequent they are."""
        return sum(map(self.f1, self.labels)) / len(self.labels)

    def f1(self, label: str) -> float:
        """2 · right / (texts with this label + texts with this answer)"""
        with_label = sum(self.count(label, other) for other in self.labels)
        with_answer = sum(self.count(other, label) for other in self.labels)
        return 2 * self.count(label, label) / (with_label + with_answer)

    def count(self, label: str, answer: str) -> int:
        return self.counts.get((label, answer), 0)
