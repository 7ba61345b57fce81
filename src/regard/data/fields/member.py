"""One of many names, as users and places have."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.fields.label import printable
from regard.data.problems import NO_TEXT
from regard.words import t


class Member(Field):
    """A name; those of the training part have numbers from 1 on, in the order of the alphabet, others 0.

    Tensor: NAME (B,) int64
    """

    parts: ClassVar = ("number",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def read(self, cell: Cell, folder: Path | None = None) -> str:
        if isinstance(cell, float) and cell.is_integer():  # of a table of numbers
            cell = int(cell)
        if isinstance(cell, bool) or not isinstance(cell, str | int):
            raise Unusable(NO_TEXT)
        name = unicodedata.normalize("NFC", printable(str(cell))).strip()
        if not name:
            raise Unusable("empty {}lines")
        return name

    @property
    def file(self) -> str:
        return f"members.{self.name}.json"

    def learn(self, values: Iterable[str]) -> None:
        self.take(sorted(set(values)))
        if not self.names:
            raise ValueError(
                t("there is nothing to learn the names of {name} from", name=self.name)
            )

    def take(self, names: Sequence[str]) -> None:
        """These are known, in this order."""
        self.names = list(names)
        self._numbers = {name: number for number, name in enumerate(self.names, 1)}
        if len(self._numbers) < len(self.names):
            raise ValueError(t("it holds a name twice"))

    def to_json(self) -> str:
        return json.dumps({"names": self.names}, ensure_ascii=False) + "\n"

    def load(self, text: str) -> None:
        self.take(names_in(json.loads(text)))

    def number(self, name: str) -> int:
        """0: it was not met in training."""
        return self._numbers.get(name, 0)

    def named(self, number: int) -> str:
        """The name with this number, from 1."""
        return self.names[number - 1]

    @property
    def size(self) -> int:
        """How many numbers there are, that of unknown names among them."""
        return len(self.names) + 1

    @property
    def types(self) -> tuple[str, ...]:
        return ("<i4",)

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        return [([self.number(example[self.name])],) for example in examples]

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        return {self.name: torch.tensor([int(parts[0][0]) for parts in several])}


def names_in(read: Any) -> list[str]:
    """What an asset has; a ValueError if there are none."""
    match read:
        case {"names": list(names)} if names and all(isinstance(x, str) for x in names):
            return names
    raise ValueError(t("it holds no list of names"))
