"""One of the candidates that an example itself names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.data.fields.document import TextsInside
from regard.data.fields.field import Cell, Parts, Unusable
from regard.data.padding import block, pad_blocks
from regard.data.tokenizer import UNK
from regard.words import t

NONE = -100  # no answer: what cross_entropy leaves out
BETWEEN, ANSWER = "|", "*"


@dataclass(frozen=True)
class Alternatives:
    """Texts to choose from, and which of them is the answer, from 0; None: it is not known."""

    texts: tuple[str, ...]
    answer: int | None = None


class Choice(TextsInside):
    """One of K candidates, each of them up to L tokens without BOS and EOS; K may differ between examples.

    A cell is {"candidates": [text, …], "answer": its number from 0, or its text}, as a JSON value or as text;
    or text with | between the candidates and * before the answer: `Paris|*Rome|Bonn`; or a list of candidates
    without an answer. An example without an answer can be answered, but not be trained on. kind, vocabulary,
    lowercase: of the tokenizer, as in `Tokenizer.train`; like: a field whose tokenizer is used instead.
    words: a candidate is cut off there.

    Tensors: NAME (B, K, L) int64, NAME_mask (B, K, L) bool, True where a token is real, nowhere in candidates
    that an example has not; NAME_answer (B,) int64, -100 where it is not known.
    """

    parts: ClassVar = ("ids", "words", "answer")  # K·L ids, padded; tokens of each; the answer
    any_cell: ClassVar = ["…", "…"]

    def __init__(
        self,
        name: str,
        *,
        words: int = 100,
        **cut: Any,
    ) -> None:
        super().__init__(name, **cut)
        if words < 1:
            raise ValueError(t("a candidate of {words} words holds nothing", words=words))
        self.words = words

    def __repr__(self) -> str:
        return f"Choice({self.name!r}, words={self.words})"

    def read(self, cell: Cell, folder: Path | None = None) -> Alternatives:
        found, answer = _marked(cell) if isinstance(cell, str) else _named(cell)
        texts = tuple(" ".join(text.split()) for text in found)
        if len(texts) < 2 or not all(texts):
            raise Unusable("{}lines without two candidates")
        if len(set(texts)) < len(texts):
            raise Unusable("{}lines with the same candidate twice")
        if isinstance(answer, str):
            answer = " ".join(answer.split())
            if answer not in texts:
                raise Unusable("{}lines whose answer is no candidate")
            return Alternatives(texts, texts.index(answer))
        if answer is not None and (type(answer) is not int or not 0 <= answer < len(texts)):
            raise Unusable("{}lines whose answer is no candidate")
        return Alternatives(texts, answer)

    def accept(self, value: Cell, *, files: bool = True) -> Alternatives:
        """What was read from a corpus is accepted as it is."""
        return value if isinstance(value, Alternatives) else self.read(value)

    def identity(self, value: Alternatives) -> str:
        return BETWEEN.join(sorted(self._text.identity(text) for text in value.texts))

    def learn(self, values: Iterable[Alternatives]) -> None:
        self._text.learn(text for value in values for text in value.texts)

    @property
    def types(self) -> tuple[str, ...]:
        return (*self._text.types, "<i4", "<i4")

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> list[Parts]:
        values: list[Alternatives] = [example[self.name] for example in examples]
        texts = [text for value in values for text in value.texts]
        flat = iter(self.tokenizer.encode_ids(texts, self.words))
        found: list[Parts] = []
        for value in values:
            every = [ids or [UNK] for ids in islice(flat, len(value.texts))]
            found.append((*block(every), [NONE if value.answer is None else value.answer]))
        return found

    def collate(self, several: Sequence[Parts]) -> dict[str, Tensor]:
        ids, mask = pad_blocks(several)
        answers = np.array([int(parts[2][0]) for parts in several], np.int64)
        return {
            self.name: ids,
            f"{self.name}_mask": mask,
            f"{self.name}_answer": torch.from_numpy(answers),
        }

    def too_long(self, parts: Parts) -> str | None:
        return "{}lines without an answer" if int(parts[2][0]) == NONE else None

    def lengths(self, value: Alternatives) -> dict[str, int]:
        return {"candidates": len(value.texts), "words": sum(len(x.split()) for x in value.texts)}

    def show(self, value: Alternatives) -> str:
        """As a text that can be read."""
        marked = (ANSWER * (n == value.answer) + text for n, text in enumerate(value.texts))
        return BETWEEN.join(marked)


def _marked(text: str) -> tuple[list[str], Any]:
    if text.lstrip().startswith("{"):
        try:
            return _named(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise (
                error if isinstance(error, Unusable) else Unusable("{}lines not in JSON")
            ) from None
    texts = [text.strip() for text in text.split(BETWEEN)]
    answers = [number for number, text in enumerate(texts) if text.startswith(ANSWER)]
    if len(answers) > 1:
        raise Unusable("{}lines with two answers")
    return [text.removeprefix(ANSWER) for text in texts], answers[0] if answers else None


def _named(cell: Cell) -> tuple[list[str], Any]:
    match cell:
        case {"candidates": list(texts)} if all(type(text) in (str, int) for text in texts):
            return [str(text) for text in texts], cell.get("answer")
        case list(texts) if all(type(text) in (str, int) for text in texts):
            return [str(text) for text in texts], None
    raise Unusable("{}lines without a list of candidates")
