"""Words that are cut already, each with its characters."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Parts
from regard.data.fields.text import Text
from regard.layers.special_tokens import PAD, UNK
from regard.words import t

RARE = 1  # a character that occurs so often is not known: what is unknown is learnt too
LONGEST = 40  # characters of a word that are read


class Words(Text):
    """A `Text` of kind "split" without EOS, whose words are also spelt.

    Tensors: NAME (B, L) int64, NAME_mask (B, L) bool, NAME_characters (B, L, C) int64, padded with 0.
    """

    parts: ClassVar = ("ids", "characters", "spelt")
    any_size: ClassVar = (5, 5)

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(
            name, **{"kind": "split", "eos": False, "file": f"words.{name}.json", **settings}
        )
        self.characters: list[str] = []
        self._numbers: dict[str, int] = {}

    def learn(self, values: Iterable[str | list[str]]) -> None:
        every = [[_composed(word) for word in value] for value in values]
        super().learn(every)
        counts = Counter(c for words in every for word in words for c in word)
        self._take(sorted(c for c, count in counts.items() if count > RARE))

    def to_json(self) -> str:
        kept = {"tokenizer": json.loads(super().to_json()), "characters": self.characters}
        return json.dumps(kept, ensure_ascii=False) + "\n"

    def load(self, text: str) -> None:
        match json.loads(text):
            case {"tokenizer": dict(tokenizer), "characters": list(characters)}:
                super().load(json.dumps(tokenizer))
                self._take([str(c) for c in characters])
            case _:
                raise ValueError(t("it holds no words with their characters"))

    @property
    def size(self) -> tuple[int, int]:  # type: ignore[override]
        """How many words, and how many characters; padding and the unknown are counted."""
        return len(self.tokenizer), len(self.characters) + 2

    @property
    def types(self) -> tuple[str, ...]:
        return "<i4", "<i4", "<u1"

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        found: list[Parts] = []
        for (ids,), example in zip(super().encode(examples), examples, strict=True):
            words = [_composed(word)[:LONGEST] for word in example[self.name][: len(ids)]]
            letters = [self._numbers.get(c, UNK) for word in words for c in word]
            found.append((ids, letters, [len(word) for word in words]))
        return found

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        tensors = super().collate(several)
        width = max((int(n) for *_, spelt in several for n in spelt), default=0)
        letters = np.full((*tensors[self.name].shape, width), PAD, np.int64)
        for row, (_, characters, spelt) in enumerate(several):
            real = np.arange(width) < np.asarray(spelt, np.int64)[:, None]
            letters[row, : len(spelt)][real] = characters
        return {**tensors, f"{self.name}_characters": torch.from_numpy(letters)}

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        return t(
            "{count} {field}, {characters} characters",
            count=f"{self.size[0]:,}",
            field=self.name,
            characters=f"{self.size[1]:,}",
        )

    def _take(self, characters: Sequence[str]) -> None:
        self.characters = list(characters)
        self._numbers = {c: number for number, c in enumerate(characters, start=2)}


def _composed(word: str) -> str:
    """é is one character, however it was typed: as the tokenizer has it."""
    return unicodedata.normalize("NFC", word)
