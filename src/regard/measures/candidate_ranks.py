"""How high the right candidates of a question stand: MAP and MRR.

What is wanted of a candidate is (its question, whether it is right), its answer a number to sort by. What is
counted is a question, not a candidate: so what is chosen anew is a question with all its candidates.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from regard.measures.measure import Counts, Mean
from regard.words import t


class Ranking(Mean):
    """The mean of a number for each question that has a right candidate; others cannot be answered.

    Of candidates with equal scores the right ones come last: to score all alike gains nothing.
    """

    @abstractmethod
    def score(self, wanted: Sequence[bool], answer: Sequence[float]) -> float:
        """Of one question: which of its candidates are right, and their scores."""

    def counts(self, wanted: Iterable[Any], answers: Iterable[Any]) -> Counts:
        """(candidates, K): the first of a question has what is counted of all of them, the others 0."""
        questions: dict[Any, list[tuple[int, bool, float]]] = {}
        for row, ((question, right), score) in enumerate(zip(wanted, answers, strict=True)):
            if math.isnan(score):
                raise ValueError(t("candidate {row} has no score: it is not a number", row=row + 1))
            questions.setdefault(question, []).append((row, bool(right), float(score)))
        counts = np.zeros((sum(map(len, questions.values())), 2))
        for candidates in questions.values():
            rows, rights, scores = zip(*candidates, strict=True)
            if any(rights):
                counts[rows[0]] = self.count(rights, scores)
        if questions and not counts[:, 1].any():
            raise ValueError(t("no question has a right candidate: nothing can be ranked"))
        return counts


class MeanAveragePrecision(Ranking):
    """MAP = mean over questions of 1/R Σ_r r / rank of the r-th right candidate, R of them

    >>> MeanAveragePrecision().of([("a", True), ("a", False), ("a", True)], [0.9, 0.5, 0.1])
    0.8333333333333333
    """

    name: ClassVar = "map"

    def score(self, wanted: Sequence[bool], answer: Sequence[float]) -> float:
        places = right_places(wanted, answer)
        return sum(number / place for number, place in enumerate(places, 1)) / len(places)


class MeanReciprocalRank(Ranking):
    """MRR = mean over questions of 1 / rank of the first right candidate

    >>> MeanReciprocalRank().of([("a", False), ("a", True)], [0.9, 0.5])
    0.5
    """

    name: ClassVar = "mrr"

    def score(self, wanted: Sequence[bool], answer: Sequence[float]) -> float:
        return 1 / right_places(wanted, answer)[0]


def right_places(right: Sequence[bool], scores: Sequence[float]) -> list[int]:
    """The ranks, from 1, of the right candidates, the best first."""
    order = np.lexsort((np.asarray(right), -np.asarray(scores, np.float64)))
    return [rank for rank, number in enumerate(order, 1) if right[number]]
