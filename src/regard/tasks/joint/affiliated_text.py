"""A target text whose tokens know which source token they come of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard.aligners import Lexicon
from regard.data.fields import Text
from regard.data.fields.field import Parts
from regard.words import t


class AffiliatedText(Text):
    """A `Text` and the place of the source token that each of its tokens translates, by a `Lexicon`.

    The end comes of the end. What it has learnt is its tokenizer and the lexicon, in one file.

    Tensors: those of a text, and NAME_places (B, L - 1) of what follows BOS.
    """

    parts: ClassVar[tuple[str, ...]] = ("ids", "places")

    def __init__(self, name: str, *, source: Text, **settings: Any) -> None:
        super().__init__(name, **settings)
        self._source = source
        self._file = f"affiliated.{name}.json"
        self._lexicon: Lexicon | None = None

    @property
    def lexicon(self) -> Lexicon:
        if self._lexicon is None:
            raise ValueError(
                t("{value} has learnt no lexicon yet: learn or load one", value=repr(self))
            )
        return self._lexicon

    def learn_pairs(self, examples: Sequence[Mapping[str, Any]]) -> None:
        """The lexicon, once both sides have learnt their tokenizers."""
        sides = (self._source, self)
        sources, targets = (
            side.tokenizer.encode_ids([example[side.name] for example in examples])
            for side in sides
        )
        self._lexicon = Lexicon.learnt([*zip(sources, targets, strict=True)], self.size)

    def to_json(self) -> str:
        parts = {"tokenizer": json.loads(super().to_json()), "lexicon": self.lexicon.to_dict()}
        return json.dumps(parts, ensure_ascii=False)

    def load(self, text: str) -> None:
        found = json.loads(text)
        if not isinstance(found, dict) or not {"tokenizer", "lexicon"} <= found.keys():
            raise ValueError(t("it has no tokenizer and lexicon"))
        super().load(json.dumps(found["tokenizer"], ensure_ascii=False))
        self._lexicon = Lexicon.from_dict(found["lexicon"])

    @property
    def types(self) -> tuple[str, ...]:
        return (*super().types, "<i4")

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        sources = [parts[0] for parts in self._source.encode(examples)]
        targets = [parts[0] for parts in super().encode(examples)]
        pairs = zip(sources, targets, strict=True)
        return [
            (target, [*self.lexicon.places(source, target), len(source)])
            for source, target in pairs
        ]

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        rows = [torch.as_tensor([int(i) for i in parts[1]]) for parts in several]
        places = pad_sequence(rows, batch_first=True)
        return {**super().collate(several), f"{self.name}_places": places}
