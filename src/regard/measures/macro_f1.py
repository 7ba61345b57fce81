"""F1 of each label, and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from regard.measures.measure import Counts, Measure
from regard.suggestions import meant
from regard.words import t

SHOWN = 12  # labels in a message


class MacroF1(Measure):
    """mean over labels of 2 · right / (items of the label + answers of it), however frequent each is

    labels: all that there are. One that neither occurs nor is answered is left out of the mean.

    >>> MacroF1(["a", "b"]).of(["a", "a", "b"], ["a", "b", "b"])
    0.6666666666666666
    """

    name: ClassVar = "macro_f1"
    share: ClassVar = True

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = {label: number for number, label in enumerate(labels)}

    def count(self, wanted: str, answer: str) -> Sequence[float]:
        """Of each label: right, and how often it was wanted or answered."""
        if unknown := [label for label in (wanted, answer) if label not in self.labels]:
            near = meant(str(unknown[0]), self.labels)
            known = ", ".join(list(self.labels)[:SHOWN]) + (
                " …" if len(self.labels) > SHOWN else ""
            )
            raise ValueError(
                t(
                    "no label {unknown}.{near} There are {known}",
                    unknown=repr(unknown[0]),
                    near=near,
                    known=known,
                )
            )
        counts = np.zeros((len(self.labels), 2))
        counts[self.labels[wanted], 0] = wanted == answer
        counts[self.labels[wanted], 1] += 1
        counts[self.labels[answer], 1] += 1
        flat: list[float] = counts.ravel().tolist()
        return flat

    def value(self, sums: Counts) -> np.ndarray:
        right, seen = self._by_label(sums)
        f1 = 2 * right / np.maximum(seen, 1)
        mean: np.ndarray = f1.sum(-1) / (seen > 0).sum(-1)
        return mean

    def of_label(self, label: str) -> LabelF1 | None:
        return LabelF1(list(self.labels), label) if label in self.labels else None

    def merits(self, counts: Counts) -> np.ndarray:
        """1 where the answer is right."""
        right: np.ndarray = self._by_label(counts)[0].sum(-1)
        return right

    def _by_label(self, sums: Counts) -> tuple[np.ndarray, np.ndarray]:
        """(..., K) -> two of (..., labels): right, and wanted or answered"""
        right, seen = np.moveaxis(sums.reshape(*sums.shape[:-1], len(self.labels), 2), -1, 0)
        return right, seen


class LabelF1(MacroF1):
    """2 · right / (items of the label + answers of it), of one label

    >>> LabelF1(["a", "b"], "a").of(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    0.6666666666666666
    """

    def __init__(self, labels: Sequence[str], label: str) -> None:
        super().__init__(labels)
        self.label = label

    def value(self, sums: Counts) -> np.ndarray:
        right, seen = (each[..., self.labels[self.label]] for each in self._by_label(sums))
        f1: np.ndarray = 2 * right / np.maximum(seen, 1)
        return f1
