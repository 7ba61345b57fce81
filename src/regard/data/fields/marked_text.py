"""Texts in which candidates stand as markers: nothing is known of them but what the text says.

— Hermann et al. 2015, https://arxiv.org/abs/1506.03340
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.data.fields.choice import NONE, Alternatives, Choice
from regard.data.fields.field import Cell, Parts, Unusable
from regard.data.fields.text import Text
from regard.data.tokenizer import Tokens
from regard.words import t


def drawn_markers(example: Mapping[str, Any], among: str, markers: int) -> list[int]:
    """The marker m of each candidate, drawn by the texts of the example: the same whenever it is read.

    In one order for all examples, a pair of markers that a model takes for each other would always count.
    """
    texts = sorted((name, value) for name, value in example.items() if isinstance(value, str))
    candidates = example[among].texts
    return random.Random(repr((texts, candidates))).sample(range(markers), len(candidates))


class MarkedText(Text):
    """A `Text` of V tokens, in which every candidate of the field `among` is one token, V + m.

    markers: how many candidates there can be; 0: none is marked. like: a text whose tokenizer is used
    instead. Candidates are found as whole tokens, of several that fit the longest.
    """

    def __init__(
        self,
        name: str,
        *,
        among: str = "candidates",
        markers: int = 0,
        **settings: Any,
    ) -> None:
        super().__init__(name, **settings)
        self.among, self.markers = among, markers

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, markers={self.markers})"

    @property
    def size(self) -> int:
        """Tokens and markers."""
        return len(self.tokenizer) + self.markers

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        if not self.markers:
            return super().encode(examples)
        return [(tokens.ids,) for tokens in self.marked(examples)]

    def marked(self, examples: Sequence[Mapping[str, Any]]) -> list[Tokens]:
        """The texts in tokens, as they are read: with markers, and cut off."""
        every = self.tokenizer.encode_many(
            [self.joined(example[self.name]) for example in examples]
        )
        if self.markers:
            every = [
                self._replaced(tokens, example)
                for tokens, example in zip(every, examples, strict=True)
            ]
        end = self.max_length if self.cut else None
        return [tokens[:end] for tokens in every]

    def _replaced(self, tokens: Tokens, example: Mapping[str, Any]) -> Tokens:
        found = self.tokenizer.encode_many(list(example[self.among].texts))
        drawn = drawn_markers(example, self.among, self.markers)
        pairs = zip(found, drawn, strict=True)
        numbers = {self._seen(each.pieces): marker for each, marker in pairs if each.pieces}
        lengths = sorted({len(pieces) for pieces in numbers}, reverse=True)
        pieces, new, at = self._seen(tokens.pieces), Tokens([], [], []), 0
        while at < len(pieces):
            ends = (at + n for n in lengths if n <= len(pieces) - at)
            end = next((end for end in ends if pieces[at:end] in numbers), at)
            known = numbers.get(pieces[at:end])
            new.ids.append(tokens.ids[at] if known is None else len(self.tokenizer) + known)
            end = max(end, at + 1)
            new.pieces.append(" ".join(tokens.pieces[at:end]))
            new.offsets.append((tokens.offsets[at][0], tokens.offsets[end - 1][1]))
            at = end
        return new

    def _seen(self, pieces: Sequence[str]) -> tuple[str, ...]:
        """Pieces as they are compared."""
        low = self._like.settings if self._like is not None else self.settings
        return tuple(piece.lower() if low["lowercase"] else piece for piece in pieces)


class MarkedChoice(Choice):
    """A `Choice` whose candidates are one token each, V + m: beside a `MarkedText`."""

    def __init__(self, name: str, *, markers: int = 0, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.markers = markers

    def __repr__(self) -> str:
        return f"MarkedChoice({self.name!r}, words={self.words}, markers={self.markers})"

    def read(self, cell: Cell, folder: Path | None = None) -> Alternatives:
        value = super().read(cell, folder)
        if 0 < self.markers < len(value.texts):
            raise Unusable(
                f"{{}}lines with over {self.markers} candidates: there is a marker for each"
            )
        return value

    def check_known(self, value: Alternatives) -> None:
        if value.answer is None:
            raise ValueError(
                t("{show} says not which of them is the answer", show=repr(self.show(value)))
            )

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        if not self.markers:
            return super().encode(examples)
        values: list[Alternatives] = [example[self.name] for example in examples]
        first = len(self.tokenizer)
        return [
            (
                [first + marker for marker in drawn_markers(example, self.name, self.markers)],
                [1] * len(value.texts),
                [NONE if value.answer is None else value.answer],
            )
            for value, example in zip(values, examples, strict=True)
        ]
