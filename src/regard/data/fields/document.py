"""A document: sentences of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.fields.text import Text
from regard.data.padding import block, pad_blocks
from regard.data.problems import NO_TEXT
from regard.data.sentences import sentence_places
from regard.data.tokenizer import PAD, UNK, Tokenizer, Tokens
from regard.words import t


@dataclass(frozen=True)
class Sentences:
    """A text, and where its sentences are, in characters."""

    text: str
    places: tuple[tuple[int, int], ...]

    def __iter__(self) -> Iterator[str]:
        return (self.text[start:end] for start, end in self.places)

    def __len__(self) -> int:
        return len(self.places)


class TextsInside(Field):
    """What is made of several texts, cut by one tokenizer: its own, or that of the field `like`."""

    def __init__(
        self,
        name: str,
        *,
        kind: str = "word",
        vocabulary: int = 20_000,
        lowercase: bool = False,
        like: Text | Document | None = None,
        file: str | None = None,
    ) -> None:
        super().__init__(name)
        if like is not None and not isinstance(like, Text | Document):
            raise ValueError(
                t("{like} has no tokenizer: a Text or a Document has", like=repr(like))
            )
        self._like = like
        shared = like._text if isinstance(like, Document) else like
        own = Text(name, kind=kind, size=vocabulary, lowercase=lowercase, marks=False, file=file)
        self._text: Text = own if shared is None else shared

    @property
    def tokenizer(self) -> Tokenizer:
        return self._text.tokenizer

    @property
    def file(self) -> str | None:
        return None if self._like else self._text.file

    def to_json(self) -> str:
        return self._text.to_json()

    def load(self, text: str) -> None:
        self._text.load(text)

    @property
    def size(self) -> int:
        return self._text.size

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        return t("{count} {field} tokens", count=f"{self.size:,}", field=self.name)

    def length(self, counts: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return counts["ids"]


class Document(TextsInside):
    """S sentences of up to W words each: ids x11 … x1n, x21 … x2m, …, with neither BOS nor EOS.

    A text is cut at the ends of its sentences and of its lines. A list has a sentence in each item, a
    text or a list of words. kind, vocabulary, lowercase: of the tokenizer, as in `Tokenizer.train`; like:
    a field whose tokenizer is used instead. sentences, words: what is beyond is cut off.

    Tensors: NAME (B, S, W) int64, NAME_mask (B, S, W) bool, True where a word is real.
    """

    parts: ClassVar = ("ids", "words")  # S·W ids, padded; how many words each sentence has

    def __init__(
        self,
        name: str,
        *,
        sentences: int = 100,
        words: int = 100,
        **cut: Any,
    ) -> None:
        super().__init__(name, **cut)
        if sentences < 1 or words < 1:
            raise ValueError(
                t(
                    "a document of {sentences} sentences of {words} words holds nothing",
                    sentences=sentences,
                    words=words,
                )
            )
        self.sentences, self.words = sentences, words

    def __repr__(self) -> str:
        return f"Document({self.name!r}, sentences={self.sentences}, words={self.words})"

    def read(self, cell: Cell, folder: Path | None = None) -> Sentences:
        found = self.accept(cell)
        if not found.places:
            raise Unusable("empty {}lines")
        return found

    def accept(self, value: Cell, *, files: bool = True) -> Sentences:
        """It may be empty: what is answered to nothing is an answer too. What was read is taken as it is."""
        if isinstance(value, Sentences):
            return value
        if isinstance(value, str):
            return Sentences(value, tuple(sentence_places(value)))
        if isinstance(value, list | tuple):
            return _joined([text for each in value if (text := self._sentence(each)).strip()])
        raise Unusable(NO_TEXT)

    def of_line(self, line: str) -> Cell:
        """A text is the line, whatever it looks like; sentences may be a list."""
        return super().of_line(line) if line.lstrip().startswith("[") else line

    @property
    def takes_any_line(self) -> bool:
        return True

    def identity(self, value: Sentences) -> str:
        return self._text.identity(value.text)

    def learn(self, values: Iterable[Sentences]) -> None:
        self._text.learn(sentence for value in values for sentence in value)

    @property
    def types(self) -> tuple[str, ...]:
        return (*self._text.types, "<i4")

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        values = [example[self.name] for example in examples]
        first = [sentence for value in values for sentence in islice(value, self.sentences)]
        flat = iter(self.tokenizer.encode_ids(first, self.words))
        found: list[Parts] = []
        for value in values:
            every = list(islice(flat, min(len(value), self.sentences)))
            if not all(every):  # behind sentences of no words there may be others
                every = self.tokenizer.encode_ids(list(value), self.words)
            found.append(block(list(filter(None, every))[: self.sentences]))
        return found

    def tokens(self, values: Sequence[Sentences]) -> list[list[Tokens]]:
        """The sentences of each value in tokens, with their places in its text; cut off as they are read."""
        every: list[list[Tokens]] = []
        for value in values:
            found: list[Tokens] = []
            for sentence, (start, _) in zip(value, value.places, strict=True):
                (one,) = self.tokenizer.encode_many([sentence], self.words)
                if one.ids:
                    places = [(a + start, b + start) for a, b in one.offsets]
                    found.append(Tokens(one.ids, one.pieces, places))
                if len(found) == self.sentences:
                    break
            every.append(found)
        return every

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        ids, mask = pad_blocks(several)
        return {self.name: ids, f"{self.name}_mask": mask}

    def unspaced(self, values: Iterable[Sentences]) -> bool:
        return self._text.unspaced(value.text for value in values)

    def unknown(self, examples: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        rows = [np.asarray(parts[0]) for parts in self.encode(examples)]
        return sum(int((r == UNK).sum()) for r in rows), sum(int((r != PAD).sum()) for r in rows)

    def describe(self, counts: Mapping[str, NDArray[np.int64]]) -> str:
        known = super().describe(counts)
        full = int((counts["words"] >= self.sentences).sum())
        if not full:
            return known
        return t(
            "{known} ({full} documents are read up to sentence {longest} only)",
            known=known,
            full=f"{full:,}",
            longest=self.sentences,
        )

    def too_long(self, parts: Parts) -> str | None:
        return None if len(parts[1]) else "{}lines without a word"

    def show(self, value: Sentences) -> str:
        return super().show(value.text)

    def lengths(self, value: Sentences) -> dict[str, int]:
        words = len(value.text.split())
        return {"sentences": len(value), "words": words, "characters": len(value.text.strip())}

    def _sentence(self, cell: Cell) -> str:
        if isinstance(cell, list | tuple) and all(isinstance(word, str) for word in cell):
            words = self._text.read(cell) if self._text.in_words and cell else cell
            return " ".join(words)
        if not isinstance(cell, str):
            raise Unusable(NO_TEXT)
        return cell.strip()


def _joined(sentences: Sequence[str]) -> Sentences:
    places, start = [], 0
    for sentence in sentences:
        places.append((start, start + len(sentence)))
        start += len(sentence) + 1
    return Sentences(" ".join(sentences), tuple(places))
