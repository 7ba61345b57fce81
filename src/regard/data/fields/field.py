"""What a field is: one column of an example, for its whole life.

    read      the cell of a corpus, or what a user gave, becomes a value
    check     it fits the values of the other fields: a span stands in its text
    learn     what is known of the column is learnt from the training part: its asset, one file of a run
    encode    a value becomes numbers, which are stored
    collate   the numbers of several examples become named tensors: `source`, `source_mask`
    length    how many positions they take, so that examples of like lengths share a batch
    show      a value for a person

A task makes its fields anew from its recipe; `learn` and `load` put the asset into the field itself.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regard.data.problems import Unusable as Unusable
from regard.words import t

Cell: TypeAlias = Any  # text of a line or a table, a JSON value, an array, words of a treebank
Parts: TypeAlias = Sequence[Sequence[int] | NDArray[Any]]  # numbers, for each of `Field.parts`


class Field(ABC):
    """One column of an example. `name` begins the names of its tensors."""

    parts: ClassVar[tuple[str, ...]]  # what is stored of a value
    any_size: ClassVar[Any] = 5  # a size to try a model with before anything is learnt
    any_cell: ClassVar[Any] = "…"  # what a cell looks like in JSON, for a hint

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    # from a corpus

    @abstractmethod
    def read(self, cell: Cell, folder: Path | None = None) -> Any:
        """The value of a cell; Unusable says what is wrong with it. folder: where paths begin."""

    def accept(self, value: Cell, *, files: bool = True) -> Any:
        """The value of what somebody gave to be answered; files: a path may be read, if it is one."""
        return self.read(value, Path() if files else None)

    def check(self, example: Mapping[str, Any]) -> Any:
        """The value once all fields of its example are read; Unusable says what does not fit the others."""
        return example[self.name]

    def of_line(self, line: str) -> Cell:
        """What a line of standard input holds: JSON, or the line as it is."""
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            return line

    @property
    def takes_any_line(self) -> bool:
        """Whether it is a text, which a line is whatever it looks like."""
        return False

    def identity(self, value: Any) -> str:
        """Values of one identity are never on both sides of a split into train, dev and test."""
        return str(value)

    # what is learnt of the column

    @property
    def file(self) -> str | None:
        """The name of the asset's file in a run folder; None: there is nothing to learn."""
        return None

    def learn(self, values: Iterable[Any]) -> None:  # noqa: B027, most have nothing to learn
        """Learn the asset from the values of the training part."""

    def to_json(self) -> str:
        """The asset, as its file holds it."""
        raise NotImplementedError(t("{value} has no asset", value=repr(self)))

    def load(self, text: str) -> None:  # noqa: B027
        """Take the asset from what `to_json` gave; a ValueError says why it cannot be."""

    @property
    @abstractmethod
    def size(self) -> Any:
        """What a model must know: of a text the size of its vocabulary, of a label how many there are."""

    def check_known(self, value: Any) -> None:  # noqa: B027
        """A ValueError says why a value of a dev or test set cannot be judged by what was learnt."""

    def unspaced(self, values: Iterable[Any]) -> bool:
        """Whether they are texts without spaces between words, which are taken for where words end."""
        return False

    def unknown(self, examples: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """How many tokens of these examples the vocabulary has not, and how many there are."""
        return 0, 0

    def doubts(self, values: Sequence[Any]) -> list[str]:
        """What may make answers about these values worth little, in a sentence each with what mends it."""
        return []

    # from values to tensors

    @property
    @abstractmethod
    def types(self) -> tuple[str, ...]:
        """The numpy type that each part is stored in, as `<u2`."""

    @abstractmethod
    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        """The numbers of this field of each example. Other fields may be looked at, as a span does."""

    @abstractmethod
    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        """The tensors of a batch, by their names."""

    def collate_even(self, parts: Sequence[NDArray[Any]]) -> dict[str, Tensor]:
        """`collate` of examples alike in their lengths: of each part the numbers of all, (B, length)."""
        return self.collate(list(zip(*parts, strict=True)))

    def length(self, counts: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64] | None:
        """Positions in a padded batch, by how many numbers each part has; None: it has no length."""
        return None

    def too_long(self, parts: Parts) -> str | None:
        """Why an example like this is not trained on, as `{}lines over 100 tokens`; None: it is."""
        return None

    def extent(self, example: Mapping[str, Any]) -> int:
        """How many positions a model reads of its value, about, for an estimate of the work."""
        return sum(len(part) for parts in self.encode([example]) for part in parts)

    # for people

    def show(self, value: Any) -> str:
        """A value in one line."""
        return " ".join(str(value).split())

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        """What was learnt of the column, in a few words; counts: as `length` takes them."""
        return ""

    def lengths(self, value: Any) -> dict[str, int]:
        """How long a value is, by unit: `{"words": 5, "characters": 21}`; {}: it has no length."""
        return {}

    def counted(self, value: Any) -> Sequence[str]:
        """The labels in a value, whose distribution is told of a corpus."""
        return ()
