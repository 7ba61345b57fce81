"""What a run answered to every item of a corpus, and what the measures count of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.measures.measure import Counts, Mean, Measure, named_as_share


@dataclass(frozen=True)
class JudgedItems:
    counts: Sequence[tuple[Measure, Counts]]  # (items, K) of each measure
    answers: Sequence[Any] = ()  # one for each item, where there are any


NO_ITEMS = JudgedItems(())


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
