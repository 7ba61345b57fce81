"""What a run answers to one example, in the form that every task has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor

from regard.data.fields.number_text import array_text, number_text
from regard.data.fields.read_picture import picture_words

MOST_NUMBERS = 10_000  # of an input that is written whole
Examples: TypeAlias = Sequence[Mapping[str, Any]]  # the values of each by the names of its fields


@dataclass(frozen=True)
class Answer:
    """input: the example, or its value where there is one input field. answer: plain values, for JSON.

    attention (rows, columns): what each part of the answer looked at, over parts of the input; None if it
    was not asked for, or if the model has none. rows, columns: what these parts are called. words: of columns
    that are pieces, each word and its columns, from start up to end, without the ends of the text. sentences:
    of a document, the columns of each, from start up to end, and what it weighs. hops: attentions over the
    same columns that a row is the mean of. rank: from 1, among the answers that it competes with, if any.
    places: of a picture, where was looked, one after the other: (x, y) from -1, left and above, to 1.
    stretch: of an answer that is a part of the text, its characters, from start up to end.
    """

    input: Any
    answer: Any
    score: float | None = (
        None  # larger is surer: a probability or a log-probability, as the task says
    )
    attention: Tensor | None = None
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    sentences: Sequence[tuple[int, int, float]] = ()  # start, end, weight
    hops: int = 1
    rank: int | None = None
    places: Sequence[tuple[float, float]] = ()
    stretch: tuple[int, int] | None = None
    words: Sequence[tuple[str, int, int]] = ()  # word, start, end

    def weighed_words(self, row: int = 0) -> list[tuple[str, float]]:
        """Each word and what it weighs: the sum over its pieces."""
        assert self.attention is not None
        weights = self.attention[row].tolist()
        return [(word, sum(weights[start:end])) for word, start, end in self.words]

    @property
    def parts(self) -> list[str]:
        """What it is made of, in words."""
        return answer_parts(self.answer)

    @property
    def line(self) -> str:
        """The answer in one line of text."""
        return " ".join(" ".join(self.parts).splitlines())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; attention in six digits, and with it the names of its rows and columns."""
        weights = None if self.attention is None else self.attention.tolist()
        plain: dict[str, Any] = {
            "input": _written(self.input),
            "answer": self.answer,
            "score": self.score if self.score is None or math.isfinite(self.score) else None,
            "attention": None
            if weights is None
            else [[round(w, 6) for w in row] for row in weights],
        }
        if weights is not None:
            plain |= {"rows": list(self.rows), "columns": list(self.columns)}
        if self.sentences:
            plain["sentences"] = [[a, b, round(w, 6)] for a, b, w in self.sentences]
        if weights is not None and self.hops > 1:
            plain["hops"] = self.hops
        if self.rank is not None:
            plain["rank"] = self.rank
        if self.places:
            plain["places"] = [[round(x, 6), round(y, 6)] for x, y in self.places]
        return plain


def answers_in_place(given: Sequence[Any | None], answers: Iterable[Answer]) -> list[Answer]:
    """An answer for each that was given; a blank one for None, of which nothing was asked."""
    found = iter(answers)
    return [Answer("", None) if one is None else next(found) for one in given]


def answer_parts(answer: Any) -> list[str]:
    """The items of a list, or the one value that it is."""
    if answer is None:
        return []
    return [_said(one) for one in (answer if isinstance(answer, list | tuple) else [answer])]


def plain_value(value: Any) -> Any:
    """For JSON: arrays become lists."""
    if isinstance(value, Mapping):
        return {name: plain_value(one) for name, one in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


def _written(value: Any) -> Any:
    """The same; a picture by its file and size alone, very many numbers by their count and the first."""
    if isinstance(value, Mapping):
        return {name: _written(one) for name, one in value.items()}
    if getattr(value, "ndim", 0) == 3 and str(getattr(value, "dtype", "")) == "uint8":
        return picture_words(value)
    if getattr(value, "ndim", 0) in (1, 2) and value.size > MOST_NUMBERS:
        return array_text(value)
    return plain_value(value)


def _said(value: Any) -> str:
    return number_text(value) if isinstance(value, float) else str(value)
