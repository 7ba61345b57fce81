"""Summaries by a model: its sources are read up to a length, and their words may be copied."""

from __future__ import annotations

from collections.abc import Sequence

from regard.data.extended_tokenizer import ExtendedTokenizer
from regard.data.tokenizer import Tokenizer, Tokens
from regard.tasks.translate.translate_loss import Translate


class Summarise(Translate):
    """A model and the vocabulary that both sides share. longest: so many tokens of a source are read."""

    longest: int | None = None

    @property
    def copies(self) -> bool:
        """Whether a word of the source that the vocabulary lacks can be said."""
        return bool(getattr(self.model.decoder, "copies", False))

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        every = self.source_tokenizer.encode_many(texts, self.longest)
        if not self.copies:
            return every
        pairs = zip(texts, every, strict=True)
        return [ExtendedTokenizer(self.source_tokenizer, *pair).numbered(*pair) for pair in pairs]

    def writer(self, text: str, source: Tokens) -> Tokenizer:
        if not self.copies:
            return self.target_tokenizer
        return ExtendedTokenizer(self.target_tokenizer, text, source)

    def write(
        self, targets: Sequence[str], texts: Sequence[str], sources: Sequence[Tokens]
    ) -> list[list[int]]:
        if not self.copies:
            return super().write(targets, texts, sources)
        pairs = zip(targets, texts, sources, strict=True)
        return [self.writer(text, read).encode(target).ids for target, text, read in pairs]
