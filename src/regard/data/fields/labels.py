"""A label for every word of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Cell, Parts, Unusable
from regard.data.fields.label import LabelSet, learn_labels, printable
from regard.data.fields.text import Text
from regard.words import t

NONE = -100  # where there is no label: what cross_entropy leaves out


class Labels(LabelSet):
    """One of K labels for every word, in the order of the alphabet: y1 … yn.

    of: the words, a Text of kind "split". A cell is a list of labels, or text with blanks between them.

    Tensor: NAME (B, L) int64, from 0 to K - 1 and as long as the words: label i is that of position i. At
    BOS, at EOS and at padding it is -100, which cross_entropy leaves out.
    """

    parts: ClassVar = ("numbers",)
    any_cell: ClassVar = ["…", "…"]

    def __init__(self, name: str, of: Text) -> None:
        super().__init__(name)
        if not of.in_words:
            raise ValueError(
                t(
                    "{of} is cut into {kind} tokens: labels are of words, kind='split'",
                    of=repr(of),
                    kind=of.settings["kind"],
                )
            )
        self.of = of

    def __repr__(self) -> str:
        return f"Labels({self.name!r}, of={self.of!r})"

    def read(self, cell: Cell, folder: Path | None = None) -> list[str]:
        found = cell.split() if isinstance(cell, str) else cell
        if not isinstance(found, list | tuple) or not all(type(x) in (str, int) for x in found):
            raise Unusable("{}lines without a list of labels")
        labels = ["_".join(printable(str(label)).split()) for label in found]
        if not labels or not all(labels):
            raise Unusable("empty {}lines")
        return labels

    def check(self, example: Mapping[str, Any]) -> list[str]:
        labels: list[str] = example[self.name]
        words = example.get(self.of.name)
        if words is not None and len(words) != len(labels):
            raise Unusable("{}lines without one label for every word")
        return labels

    def identity(self, value: list[str]) -> str:
        return " ".join(value)

    def learn(self, values: Iterable[list[str]]) -> None:
        self._take(learn_labels(label for value in values for label in value))

    def check_known(self, value: list[str]) -> None:
        for label in value:
            self.number(label)

    def counted(self, value: list[str]) -> list[str]:
        return value

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        end = self.of.max_length if self.of.cut else None
        return [([self.number(x) for x in example[self.name][:end]],) for example in examples]

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        first = int(self.of.bos)
        width = max((len(parts[0]) for parts in several), default=0) + first + int(self.of.eos)
        labels = np.full((len(several), width if several else 0), NONE, np.int64)
        for row, (numbers,) in enumerate(several):
            labels[row, first : first + len(numbers)] = numbers
        return {self.name: torch.from_numpy(labels)}

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        count, field = f"{self.size:,}", self.name
        return t("{count} {field}: {labels}", count=count, field=field, labels=self.named)

    def decode(self, numbers: Sequence[int]) -> list[str]:
        """The labels at the positions of a row that have one."""
        return [self.labels[number] for number in numbers if number != NONE]

    def show(self, value: list[str]) -> str:
        return " ".join(value)
