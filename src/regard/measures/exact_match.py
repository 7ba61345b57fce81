"""Whether an answer in words is the wanted one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from regard.measures.answer_words import answer_words
from regard.measures.measure import Mean


class ExactMatch(Mean):
    """The share of answers that are one of the wanted ones, but for case, punctuation and articles

    — Rajpurkar et al. 2016 (SQuAD), https://arxiv.org/abs/1606.05250. language: as `answer_words` has it.
    """

    name: ClassVar = "exact_match"
    share: ClassVar = True

    def __init__(self, language: str = "en") -> None:
        self.language = language

    def score(self, wanted: Sequence[str] | str, answer: str | None) -> float:
        """wanted: one answer, or several, any of which is right; None, no answer, never is"""
        if answer is None:
            return 0.0
        wanted = [wanted] if isinstance(wanted, str) else wanted
        found = answer_words(answer, self.language)
        return float(any(found == answer_words(one, self.language) for one in wanted))
