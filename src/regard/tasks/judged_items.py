"""What a run answered to every item of a corpus, and what the measures count of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.measures.likelihood_measures import TokenLoss
from regard.measures.measure import Counts, Mean, Measure, named_as_share
from regard.measures.translation_measures import CorpusChrf


@dataclass(frozen=True)
class JudgedItems:
    counts: Sequence[tuple[Measure, Counts]]  # (items, K) of each measure
    answers: Sequence[Any] = ()  # one for each item, where there are any


NO_ITEMS = JudgedItems(())


def item_scores(
    judged: JudgedItems, names: Collection[str], *, least: int = 2
) -> tuple[Measure, np.ndarray] | None:
    """(items,) of the measure, among these, that tells single items best apart; None: none does.

    least: how many different scores there must be.
    """
    found, most = None, least - 1
    for measure, counts in judged.counts:
        if measure.name not in names or not len(counts):
            continue
        each = measure.merits(counts)
        if each is None and isinstance(measure, CorpusChrf | TokenLoss):
            with np.errstate(divide="ignore", invalid="ignore"):
                each = np.nan_to_num(measure.value(counts))
        if each is not None and (different := len(np.unique(each))) > most:
            found, most = (measure, each), different
    return found


def worst_first(judged: JudgedItems, names: Collection[str]) -> list[int]:
    """The places of the items, those with the worst answers first; as they stand, where nothing tells."""
    found = item_scores(judged, names)
    if found is None:
        return list(range(len(judged.counts[0][1]) if judged.counts else 0))
    measure, each = found
    return np.argsort(-each if measure.error else each, kind="stable").tolist()


class ItemMean(Mean):
    """The mean over items of a measure that a task takes of one answer: (value, 1) for each."""

    def __init__(self, name: str, *, error: bool) -> None:
        self.name, self.error = name, error  # type: ignore[misc]
        self.share = named_as_share(name)  # type: ignore[misc]

    @property
    def widest(self) -> float:
        return math.inf  # its name is all that is known of it

    def score(self, wanted: Any, answer: float) -> float:
        return answer
