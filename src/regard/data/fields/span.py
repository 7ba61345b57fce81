"""A stretch of another field's text, such as the answer to a question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.data.fields.document import Document, Sentences
from regard.data.fields.field import Cell, Field, Parts, Unusable
from regard.data.fields.text import Text
from regard.data.tokenizer import Tokens

CUT_OFF = -1  # the first token of a span that is not there
_PLACE = re.compile(r"\[\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*\]")


@dataclass(frozen=True)
class Stretch:
    """Characters start to end, without the last, of a text; None and "": not known until the text is.

    others: further texts that would be right as well, where a corpus has several answers.
    """

    start: int | None
    end: int | None
    text: str = ""
    others: tuple[str, ...] = ()


class Span(Field):
    """The first and the last token of a stretch of another field's text.

    of: a Text or a Document. A cell is [start, end] in characters of its text, without the last; an
    object with "text" and its "start", or "answer_start" as in SQuAD; or the text alone, which stands
    where it first occurs. Of several answers, as SQuAD has them, the first is pointed at, and the others are
    kept to be judged by. A token belongs to it if any of its characters does.

    Tensor: NAME (B, 2) int64, positions in the tensor of a Text (BOS is one); of a Document NAME (B, 2,
    2): the sentence and the word of the first, the sentence and the word of the last.
    """

    parts: ClassVar = ("places",)

    def __init__(self, name: str, of: Text | Document) -> None:
        super().__init__(name)
        self.of = of

    def __repr__(self) -> str:
        return f"Span({self.name!r}, of={self.of!r})"

    def read(self, cell: Cell, folder: Path | None = None) -> Stretch:
        if isinstance(cell, str):
            found = _PLACE.fullmatch(cell.strip())
            if found is None:
                return _said(cell, None)
            cell = [int(found[1]), int(found[2])]
        match cell:
            case [int(start), int(end)] if not isinstance(start, bool) and 0 <= start < end:
                return Stretch(start, end)
            case [{} as first, *others]:
                return replace(self.read(first), others=_texts(others))
            case {"text": [str(text), *others], "answer_start": [int(start), *_]}:
                return replace(_said(text, start), others=_texts(others))
            case {"text": str(text), "start": int(start)}:
                return _said(text, start)
            case {"text": str(text), "answer_start": int(start)}:
                return _said(text, start)
            case {"text": str(text)}:
                return _said(text, None)
        raise Unusable("{}lines without a stretch of text")

    def check(self, example: Mapping[str, Any]) -> Stretch:
        """With its place and its text."""
        value: Stretch = example[self.name]
        if self.of.name not in example:
            return value
        whole = _text(example[self.of.name])
        start = whole.find(value.text) if value.start is None else value.start
        end = start + len(value.text) if value.end is None else value.end
        if start < 0:
            raise Unusable(f"{{}}lines that do not occur in their {self.of.name}")
        if end > len(whole) or (value.text and whole[start:end] != value.text):
            raise Unusable(
                f"{{}}lines that are not where they are said to be in their {self.of.name}"
            )
        text = whole[start:end]
        if not text.strip():
            raise Unusable("empty {}lines")
        start += len(text) - len(text.lstrip())
        return replace(value, start=start, end=start + len(text.strip()), text=text.strip())

    def identity(self, value: Stretch) -> str:
        return value.text or f"{value.start} {value.end}"

    @property
    def size(self) -> int:
        """How many tokens are pointed at."""
        return 2

    @property
    def types(self) -> tuple[str, ...]:
        return ("<i4",)

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        values = [
            self.check({n: example[n] for n in (self.name, self.of.name)}) for example in examples
        ]
        others = [example[self.of.name] for example in examples]
        if isinstance(self.of, Text):
            texts = [[tokens] for tokens in self.of.tokens(others)]
        else:
            texts = self.of.tokens(others)
        return [(self._places(v, sentences),) for v, sentences in zip(values, texts, strict=True)]

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        shape = (len(several), 2) if isinstance(self.of, Text) else (len(several), 2, 2)
        places = np.array([parts[0] for parts in several], np.int64).reshape(shape)
        return {self.name: torch.from_numpy(places + self._shift)}

    def too_long(self, parts: Parts) -> str | None:
        return (
            f"{{}}lines beyond the end at which the {self.of.name} is cut off"
            if parts[0][0] < 0
            else None
        )

    def lengths(self, value: Stretch) -> dict[str, int]:
        return {"words": len(value.text.split()), "characters": len(value.text)}

    def show(self, value: Stretch) -> str:
        return super().show(value.text or f"{value.start}–{value.end}")

    @property
    def _shift(self) -> int:
        """How many positions stand before the first token."""
        return int(isinstance(self.of, Text) and self.of.bos)

    def _places(self, value: Stretch, sentences: Sequence[Tokens]) -> list[int]:
        """Sentence and word of the first token and of the last; of a text, one sentence, the words alone."""
        assert value.start is not None
        assert value.end is not None
        inside = [
            (sentence, word, end)
            for sentence, tokens in enumerate(sentences)
            for word, (start, end) in enumerate(tokens.offsets)
            if start < value.end and end > value.start
        ]
        in_text = isinstance(self.of, Text)
        if not inside or inside[-1][2] < value.end:  # the rest of it is cut off
            return [CUT_OFF] * (2 if in_text else 4)
        first, last = inside[0], inside[-1]
        return [first[1], last[1]] if in_text else [*first[:2], *last[:2]]


def _texts(answers: Sequence[Any]) -> tuple[str, ...]:
    """The texts of further answers, each once."""
    texts = (one.get("text") if isinstance(one, Mapping) else one for one in answers)
    return tuple(dict.fromkeys(text.strip() for text in texts if isinstance(text, str)))


def _said(text: str, start: int | None) -> Stretch:
    if not text.strip():
        raise Unusable("empty {}lines")
    if start is not None and (isinstance(start, bool) or start < 0):
        raise Unusable("{}lines without a stretch of text")
    return Stretch(start, None if start is None else start + len(text), text)


def _text(value: str | list[str] | Sentences) -> str:
    if isinstance(value, Sentences):
        return value.text
    return value if isinstance(value, str) else " ".join(value)
