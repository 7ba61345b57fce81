"""What a measure is: what it counts of one item, and what it makes of the sums over all items.

So a measure of a whole corpus can be computed again for any choice of its items, as a bootstrap does, and
what several processes counted adds up.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from regard.words import t

Counts = np.ndarray  # (..., K): float64
SHARES = (
    "accuracy",
    "exact_match",
    "f1",
    "precision",
    "recall",
    "error_rate",
    "rouge",
    "pointing",
)  # in names


class Measure(ABC):
    """One number for the answers to many items.

    >>> from regard.measures.accuracy import Accuracy
    >>> Accuracy().of(["a", "b", "b"], ["a", "b", "a"])
    0.6666666666666666
    """

    name: ClassVar[str]
    share: ClassVar[bool] = False  # from 0 to 1, and shown in per cent
    error: ClassVar[bool] = False  # better when smaller

    @property
    def widest(self) -> float:
        """The largest difference that two of its values can have."""
        return 1.0 if self.share else math.inf

    @abstractmethod
    def count(self, wanted: Any, answer: Any) -> Sequence[float]:
        """K numbers of one item."""

    @abstractmethod
    def value(self, sums: Counts) -> np.ndarray:
        """(..., K), the numbers added up over items -> (...)"""

    def of_label(self, label: str) -> Measure | None:
        """The measure of one label alone, of the same counts; None: it has none."""
        return None

    def merits(self, counts: Counts) -> np.ndarray | None:
        """(..., K) -> (...): how good the answer to each item is; None: all answers together tell that."""
        return None

    def counts(self, wanted: Iterable[Any], answers: Iterable[Any]) -> Counts:
        """(items, K)"""
        pairs = zip(wanted, answers, strict=True)
        return np.array([self.count(*pair) for pair in pairs], dtype=np.float64)

    def of(self, wanted: Iterable[Any], answers: Iterable[Any]) -> float:
        """The measure of the answers to all of the items."""
        counts = self.counts(wanted, answers)
        if not len(counts):
            raise ValueError(t("nothing to measure: {name} of no items", name=self.name))
        return float(self.value(counts.sum(0)))


class Mean(Measure):
    """A measure that is the mean of one number for each item."""

    @abstractmethod
    def score(self, wanted: Any, answer: Any) -> float:
        """Of one item."""

    def count(self, wanted: Any, answer: Any) -> tuple[float, float]:
        return self.score(wanted, answer), 1.0

    def value(self, sums: Counts) -> np.ndarray:
        total: np.ndarray = sums[..., 0] / sums[..., 1]
        return total

    def merits(self, counts: Counts) -> np.ndarray:
        return self.value(np.where(counts[..., 1:], counts, [0.0, 1.0]))  # 0 of what counts nothing


def named_as_share(name: str) -> bool:
    """Whether a number goes from 0 to 1, where nothing is known of it but what it is called."""
    return any(word in name for word in SHARES)
