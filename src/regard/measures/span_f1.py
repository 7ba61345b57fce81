"""How far an answer in words is the wanted one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from regard.measures.answer_words import answer_words
from regard.measures.measure import Mean


class SpanF1(Mean):
    """The mean of F1 = 2 common / (words of the answer + words wanted), of the wanted answer that fits best

    — Rajpurkar et al. 2016 (SQuAD), https://arxiv.org/abs/1606.05250, by characters where words have no
    spaces between them. The script of CMRC 2018 counts the longest common stretch instead of all common
    characters, so its F1 is never larger than this. language: as `answer_words` has it.
    """

    name: ClassVar = "f1"
    share: ClassVar = True

    def __init__(self, language: str = "en") -> None:
        self.language = language

    def score(self, wanted: Sequence[str] | str, answer: str | None) -> float:
        """wanted: one answer, or several, any of which is right; None, no answer, never is"""
        if answer is None:
            return 0.0
        wanted = [wanted] if isinstance(wanted, str) else wanted
        return max((self._of(one, answer) for one in wanted), default=0.0)

    def _of(self, wanted: str, answer: str) -> float:
        a, b = (answer_words(text, self.language) for text in (wanted, answer))
        if not a or not b:  # nothing but signs: right if both are
            return float(a == b)
        common = sum((Counter(a) & Counter(b)).values())
        return 2 * common / (len(a) + len(b))
