"""A text whose unknown words can be copied from a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from regard.data.extended_tokenizer import ExtendedTokenizer
from regard.data.fields.field import Parts
from regard.data.fields.text import Text


class CopiedText(Text):
    """A `Text` in which words that the vocabulary lacks have the ids of an `ExtendedTokenizer`.

    source: the field that they are copied from, as far as that is read; its own text if not given.
    """

    def __init__(self, name: str, *, source: Text | None = None, **settings: Any) -> None:
        super().__init__(name, **settings)
        self._source = source or self

    @property
    def types(self) -> tuple[str, ...]:
        """Some words more than the vocabulary has."""
        return ("<i4",)

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        texts = [example[self.name] for example in examples]
        own = list(zip(texts, self.tokens(texts), strict=True))
        read = own
        if self._source is not self:
            sources = [example[self._source.name] for example in examples]
            read = list(zip(sources, self._source.tokens(sources), strict=True))
        return [
            (ExtendedTokenizer(self.tokenizer, *source).numbered(*made).ids,)
            for source, made in zip(read, own, strict=True)
        ]
