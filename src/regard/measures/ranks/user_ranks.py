"""How high the next item of a user stands among all items: recall at k and MAP, as a mean over users.

What is wanted is (the user, the item), an answer the rank of that item, from 1; infinite if it was no
candidate. Every user counts the same, however many items were asked about.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from regard.measures.measure import Counts, Measure
from regard.words import t


class UserMean(Measure):
    """mean over users of the mean over what was asked about them"""

    share: ClassVar = True

    @abstractmethod
    def score(self, rank: float) -> float:
        """Of one item."""

    def count(self, wanted: Any, answer: float) -> tuple[float, float]:
        """Of a user who is asked about once."""
        if math.isnan(answer) or answer < 1:
            raise ValueError(t("{answer} is no rank: they begin with 1", answer=answer))
        return self.score(answer), 1.0

    def counts(self, wanted: Iterable[Any], answers: Iterable[Any]) -> Counts:
        """(items, 2): those of a user add up to (their mean, 1)."""
        users = [user for user, _ in wanted]
        many = Counter(users)
        pairs = zip(users, answers, strict=True)
        rows = [[n / many[user] for n in self.count(user, rank)] for user, rank in pairs]
        return np.array(rows, np.float64).reshape(-1, 2)

    def value(self, sums: Counts) -> np.ndarray:
        mean: np.ndarray = sums[..., 0] / sums[..., 1]
        return mean


class RecallAt1(UserMean):
    """The share of items that are the first of the ranking

    >>> RecallAt1().of([("ann", "a"), ("ann", "b"), ("bob", "a")], [1, 3, 2])
    0.25
    """

    name: ClassVar = "recall_at_1"
    most: ClassVar[int] = 1

    def score(self, rank: float) -> float:
        return float(rank <= self.most)


class RecallAt5(RecallAt1):
    """… among the first five"""

    name: ClassVar = "recall_at_5"
    most: ClassVar = 5


class RecallAt10(RecallAt1):
    """… among the first ten"""

    name: ClassVar = "recall_at_10"
    most: ClassVar = 10


class UserMap(UserMean):
    """MAP: with one right item it is the mean of 1 / rank

    >>> UserMap().of([("ann", "a"), ("ann", "b"), ("bob", "a")], [1, 2, 4])
    0.5
    """

    name: ClassVar = "map"
    share: ClassVar = False

    def score(self, rank: float) -> float:
        return 1.0 / rank
