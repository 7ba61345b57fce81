"""One of a few labels, which are known from the training part."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.problems import NO_TEXT
from regard.suggestions import meant
from regard.words import t

MOST_LABELS = 1000  # more are texts, not labels
SHOWN = 12  # labels named
FEW = 20  # values may all be different; of more, nearly all, and there is nothing to learn
NEARLY_ALL = 0.9
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class LabelSet(Field):
    """K labels, in the order of the alphabet, known from the training part."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.labels: list[str] = []
        self._numbers: dict[str, int] = {}

    @property
    def file(self) -> str:
        return f"labels.{self.name}.json"

    def to_json(self) -> str:
        return json.dumps({"labels": self.labels}, ensure_ascii=False, indent=1) + "\n"

    def load(self, text: str) -> None:
        self._take(labels_in(text))

    def __contains__(self, label: object) -> bool:
        return label in self._numbers

    def number(self, label: str) -> int:
        """Where it stands among the labels; a ValueError if it is none of them."""
        if label not in self._numbers:
            raise ValueError(
                t(
                    "the label {label} is not in the data to learn from.{meant} There are {named}",
                    label=repr(label[:60]),
                    meant=meant(label, self.labels),
                    named=self.named,
                )
            )
        return self._numbers[label]

    @property
    def named(self) -> str:
        """The labels in words, not too many."""
        return ", ".join(self.labels[:SHOWN]) + (", …" if len(self.labels) > SHOWN else "")

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def types(self) -> tuple[str, ...]:
        return ("<i4",)

    def _take(self, labels: Sequence[str]) -> None:
        self.labels = list(labels)
        self._numbers = {label: number for number, label in enumerate(labels)}


class Label(LabelSet):
    """One of K labels. Tensor: NAME (B,) int64, from 0 to K - 1."""

    parts: ClassVar = ("number",)

    def read(self, cell: Cell, folder: Path | None = None) -> str:
        if isinstance(cell, bool) or not isinstance(cell, str | int):
            raise Unusable(NO_TEXT)
        label = unicodedata.normalize("NFC", printable(str(cell))).strip()
        if not label:
            raise Unusable("empty {}lines")
        return label

    def accept(self, value: Cell, *, files: bool = True) -> str:
        """One of those that were learnt, if any were."""
        label = self.read(value)
        if self.labels:
            self.number(label)
        return label

    def learn(self, values: Iterable[str]) -> None:
        """Labels of which nearly every example has its own, as of a column of numbers, are refused."""
        counts: Counter[str] = Counter()
        labels = learn_labels(_counted(values, counts))
        count = counts.total()
        if count > FEW and len(labels) > NEARLY_ALL * count:
            some = ", ".join(repr(label[:30]) for label in labels[:3])
            raise ValueError(
                t(
                    "{count} examples have {labels} different labels ({some}, …): a label is learnt "
                    "from the examples that have it. Is it in another column? #0,1 means the label "
                    "in column 1",
                    count=f"{count:,}",
                    labels=f"{len(labels):,}",
                    some=some,
                )
            )
        self._take(labels)

    def check_known(self, value: str) -> None:
        self.number(value)

    def counted(self, value: str) -> list[str]:
        return [value]

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        count, labels = f"{self.size:,}", self.named
        if self.name == "label":
            return t("{count} labels: {labels}", count=count, labels=labels)
        return t("{count} values of {field}: {labels}", count=count, field=self.name, labels=labels)

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        return [([self.number(example[self.name])],) for example in examples]

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        return {self.name: torch.tensor([int(parts[0][0]) for parts in several])}

    def decode(self, number: int | Tensor) -> str:
        """The label with this number, a tensor of one number too."""
        return self.labels[int(number)]


def _counted(values: Iterable[str], counts: Counter[str]) -> Iterator[str]:
    for value in values:
        counts[value] += 1
        yield value


def learn_labels(values: Iterable[str]) -> list[str]:
    """The different ones, sorted; too many or too few are refused."""
    known: set[str] = set()
    for label in values:
        known.add(label)
        if len(known) > MOST_LABELS:
            some = ", ".join(repr(text[:30]) for text in sorted(known)[:3])
            raise ValueError(
                t(
                    "there are more than {most_labels} different labels ({some}, …): are they in "
                    "another column? #0,1 means text in column 0, label in column 1",
                    most_labels=f"{MOST_LABELS:,}",
                    some=some,
                )
            )
    if len(known) < 2:
        seen = (
            t("there is no label")
            if not known
            else t("the only label is {known}", known=repr(min(known)))
        )
        raise ValueError(t("{seen}: a classifier tells at least two apart", seen=seen))
    return sorted(known)


def labels_in(text: str) -> list[str]:
    """What `to_json` wrote."""
    match json.loads(text):
        case {"labels": list(labels)} if labels and all(isinstance(x, str) for x in labels):
            if len({*labels}) < len(labels):
                raise ValueError(t("it holds a label twice"))
            return labels
    raise ValueError(t("it holds no list of labels"))


def printable(label: str) -> str:
    """Without control characters, which would reach the terminals of those who read it."""
    return CONTROL.sub(" ", label)
