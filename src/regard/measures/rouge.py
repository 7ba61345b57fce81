"""ROUGE: how much of a reference an answer has, in n-grams or in its longest common subsequence.

    Rouge2().of(references, answers)          # the mean F1, 0 to 1
    Rouge2().compare(reference, answer)       # precision, recall and F1 of one

They equal those of rouge-score 0.1.2 without stemming; there is no stemmer here.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from regard import scripts
from regard.measures.measure import Mean

ENGLISH = re.compile(r"[a-z0-9]+")
WORD = re.compile(r"[^\W_]+")


class RougeScore(NamedTuple):
    """All from 0 to 1."""

    precision: float
    recall: float
    f1: float


class Rouge(Mean):
    """The mean F1 over items, P = common / answer, R = common / reference, F1 = 2 P R / (P + R)

    — Lin 2004, https://aclanthology.org/W04-1013. language: as `rouge_words` has it.
    """

    share: ClassVar = True

    def __init__(self, language: str = "en") -> None:
        self.language = language

    @abstractmethod
    def units(self, wanted: Sequence[str], answer: Sequence[str]) -> tuple[int, int, int]:
        """How many units both have in common, how many the wanted one has, and how many the answer."""

    def compare(self, wanted: str, answer: str | None) -> RougeScore:
        """Of one item; None, no answer, has nothing in common with anything."""
        words = rouge_words(wanted, self.language), rouge_words(answer or "", self.language)
        common, of_wanted, of_answer = self.units(*words)
        if not common:
            return RougeScore(0.0, 0.0, 0.0)
        precision, recall = common / of_answer, common / of_wanted
        return RougeScore(precision, recall, 2 * precision * recall / (precision + recall))

    def score(self, wanted: str, answer: str | None) -> float:
        return self.compare(wanted, answer).f1


class Rouge1(Rouge):
    """Words, each counted as often as both have it."""

    name: ClassVar = "rouge1"
    length: ClassVar = 1

    def units(self, wanted: Sequence[str], answer: Sequence[str]) -> tuple[int, int, int]:
        first, second = (_grams(words, self.length) for words in (wanted, answer))
        return (first & second).total(), first.total(), second.total()


class Rouge2(Rouge1):
    """Pairs of neighbouring words."""

    name: ClassVar = "rouge2"
    length: ClassVar = 2


class RougeL(Rouge):
    """Words of the longest common subsequence."""

    name: ClassVar = "rougeL"

    def units(self, wanted: Sequence[str], answer: Sequence[str]) -> tuple[int, int, int]:
        return common_subsequence(wanted, answer), len(wanted), len(answer)


def rouge_words(text: str, language: str = "en") -> list[str]:
    """The words of a text in lower case, without punctuation.

    Of English, runs of a … z and 0 … 9, as rouge-score has them. Of other languages letters and digits of any
    script, and where a script has no spaces, its characters one by one.
    """
    text = text.lower()
    if language.lower().replace("_", "-").split("-")[0] in ("en", "eng"):
        return ENGLISH.findall(text)
    spaced = "".join(f" {c} " if scripts.is_spaceless(c) else c for c in text)
    return WORD.findall(spaced)


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest, in one pass over `second` — Allison and Dix 1986

    Bit i of a row is set where the length grows at word i of `first`.
    """
    places: dict[str, int] = {}
    for i, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << i
    row = 0
    for word in second:
        here = row | places.get(word, 0)
        row = here & ~(here - (row << 1 | 1))
    return row.bit_count()


def _grams(words: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[i:] for i in range(length)), strict=False))
