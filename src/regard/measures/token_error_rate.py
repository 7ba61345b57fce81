"""How many words or characters must be changed to make an answer the wanted one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from regard.measures.measure import Counts, Measure
from regard.words import t


class TokenErrorRate(Measure):
    """Σ edits / Σ wanted tokens: insertions, deletions and substitutions, at least so many.

    An item is a sequence of tokens. The rate of a corpus is not the mean of its items' rates: long ones count
    for more. It is over 1 where answers are too long, and infinite where nothing at all was wanted.
    """

    name: ClassVar = "token_error_rate"
    share: ClassVar = True
    error: ClassVar = True

    @property
    def widest(self) -> float:
        return math.inf

    def tokens(self, item: Any) -> Sequence[Any]:
        """What is counted of an item."""
        tokens: Sequence[Any] = item
        return tokens

    def count(self, wanted: Any, answer: Any) -> tuple[float, float]:
        """answer: None, no answer, is one of no tokens"""
        if wanted is None:
            raise ValueError(t("{name} needs something that was wanted, not None", name=self.name))
        wanted, answer = self.tokens(wanted), () if answer is None else self.tokens(answer)
        return float(edit_distance(wanted, answer)), float(len(wanted))

    def value(self, sums: Counts) -> np.ndarray:
        edits, tokens = sums[..., 0], sums[..., 1]
        nothing = np.where(edits > 0, np.inf, 0.0)
        rate: np.ndarray = np.where(tokens > 0, edits / np.maximum(tokens, 1), nothing)
        return rate


class WordErrorRate(TokenErrorRate):
    """WER: the tokens of a text are what stands between blanks."""

    name: ClassVar = "word_error_rate"

    def tokens(self, item: str) -> list[str]:
        return item.split()


class CharacterErrorRate(TokenErrorRate):
    """CER: the tokens of a text are its characters but blanks, as for Chinese, which has none."""

    name: ClassVar = "character_error_rate"

    def tokens(self, item: str) -> str:
        return "".join(item.split())


def edit_distance(left: Sequence[Any], right: Sequence[Any]) -> int:
    """d(i, j) = min(d(i-1, j) + 1, d(i, j-1) + 1, d(i-1, j-1) + [left_i ≠ right_j]) — Levenshtein 1966"""
    row = list(range(len(right) + 1))
    for i, one in enumerate(left, 1):
        above, row = row, [i]
        for j, other in enumerate(right, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (one != other)))
    return row[-1]
