"""Two levels of one attention: what each sentence weighs in the answer, and each word in its sentence.

Legend: S sentences, W words of all of them, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.records.kinds import text, whole_numbers
from regard.records.packed_arrays import pack, unpack
from regard.records.side import NotARecord, Side
from regard.words import t

Array = NDArray[np.float32]


@dataclass(frozen=True)
class Levels:
    """Sentence i has the next lengths[i] of the words; none, if it is empty."""

    sentences: str  # the name of a side: its tokens are sentences
    words: str  # the name of a side
    lengths: tuple[int, ...]  # S
    sentence_weights: Array  # (S,): in the answer
    word_weights: Array  # (W,): of each word in its sentence
    mechanism: str = ""

    def __post_init__(self) -> None:
        seen = len(self.lengths), sum(self.lengths)
        wanted = self.sentence_weights.shape, self.word_weights.shape
        if wanted != ((seen[0],), (seen[1],)) or min(self.lengths, default=0) < 0:
            raise NotARecord(
                t(
                    "levels of {seen} sentences with {value} words need as many weights, not "
                    "{wanted} and {other}",
                    seen=seen[0],
                    value=seen[1],
                    wanted=wanted[0],
                    other=wanted[1],
                )
            )

    def check(self, sides: Mapping[str, Side]) -> None:
        for name, weights in (
            (self.sentences, self.sentence_weights),
            (self.words, self.word_weights),
        ):
            if name not in sides or len(sides[name]) != len(weights):
                raise NotARecord(
                    t(
                        "levels name a side {name} of {count} tokens, which there is not",
                        name=repr(name),
                        count=len(weights),
                    )
                )

    @property
    def places(self) -> list[slice]:
        """Of each sentence, where its words are among all words."""
        return [slice(a, b) for a, b in pairwise(accumulate(self.lengths, initial=0))]

    @property
    def owners(self) -> NDArray[np.int64]:
        """Of each word, the number of its sentence: (W,)"""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def product(self) -> Array:
        """p(s) · p(w), what each word weighs in the answer: (W,)"""
        return self.sentence_weights[self.owners] * self.word_weights

    @property
    def display(self) -> Array:
        """√p(s) · p(w), what Yang et al. 2016 colour a word with: (W,)"""
        return np.sqrt(self.sentence_weights)[self.owners] * self.word_weights

    def to_dict(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "words": self.words,
            "lengths": list(self.lengths),
            "sentence_weights": pack(self.sentence_weights),
            "word_weights": pack(self.word_weights),
            "mechanism": self.mechanism,
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Levels:
        return cls(
            text(given["sentences"], "sentences"),
            text(given["words"], "words"),
            whole_numbers(given["lengths"], "lengths"),
            unpack(given["sentence_weights"]),
            unpack(given["word_weights"]),
            text(given.get("mechanism", ""), "mechanism"),
        )
