"""The mean of F1 over labels, from what is counted of every item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from regard.measures.measure import Counts, Measure


class MacroF1(Measure):
    """F1 of a label = 2 · right / (items with it + answers with it), the mean over the labels that occur.

    >>> MacroF1(["a", "b"]).of(["a", "a", "b"], ["a", "b", "b"])
    0.6666666666666666
    """

    name: ClassVar = "macro_f1"
    share: ClassVar = True

    def __init__(self, labels: Sequence[str]) -> None:
        self._place = {label: place for place, label in enumerate(labels)}

    def count(self, wanted: str, answer: str) -> Sequence[float]:
        """For every label: right, then items and answers with it."""
        found = np.zeros((2, len(self._place)))
        found[1, self._place[wanted]] += 1
        found[1, self._place[answer]] += 1
        found[0, self._place[wanted]] = float(wanted == answer)
        return found.ravel().tolist()

    def value(self, sums: Counts) -> np.ndarray:
        right, there = np.split(sums, 2, -1)
        f1 = 2 * right / np.where(there > 0, there, 1)
        mean: np.ndarray = f1.sum(-1) / np.maximum((there > 0).sum(-1), 1)
        return mean
