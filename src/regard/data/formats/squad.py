"""Questions about paragraphs with spans as answers, in the layout of SQuAD v1.1, XQuAD and CMRC 2018.

    {"data": [{"paragraphs": [{"context": …, "qas": [QUESTION, …]}, …]}, …]}
    QUESTION: {"question": …, "answers": [{"text": …, "answer_start": 12}, …]}

A row is a question. — Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from regard.data.byte_lines import DAMAGE, open_bytes
from regard.data.formats.format import Format, Row, in_words
from regard.data.problems import CorpusError, Unusable
from regard.words import t

HINT = "a file with a JSON value on each line is called .jsonl"
COLUMNS = ("story", "question", "answer", "id")


class SquadQuestions(Format):
    """Columns are called as the fields unless told. The file is one JSON object, and is read whole."""

    endings: ClassVar = (".json",)

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        wanted = wanted or fields
        if len(wanted) != len(fields) or not set(wanted) <= set(COLUMNS):
            raise CorpusError(
                t(
                    "'{text}': after # come {in_words} of the columns {columns}",
                    text=text,
                    in_words=in_words(len(fields)),
                    columns=", ".join(COLUMNS),
                )
            )
        return tuple(wanted)

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        """Without columns, the paragraphs. A row's number is that of the question."""
        for number, cells in enumerate(_questions(path), start=1):
            if isinstance(cells, Unusable):
                yield number, cells
            else:
                yield number, [cells[column] for column in columns or ("story",)]


def _questions(path: Path) -> Iterator[dict[str, Any] | Unusable]:
    for paragraph in _paragraphs(path):
        match paragraph:
            case {"context": str(story), "qas": list(questions)}:
                for asked in questions:
                    match asked:
                        case {"question": str(question), "answers": [_, *_] as answers}:
                            name = str(asked.get("id", ""))
                            yield {
                                "story": story,
                                "question": question,
                                "answer": answers,
                                "id": name,
                            }
                        case _:
                            yield Unusable("lines without an answer")
            case _:
                yield Unusable("lines without a context and questions")


def _paragraphs(path: Path) -> Iterator[Any]:
    try:
        with open_bytes(path) as file:
            whole = json.load(file)
    except DAMAGE as error:
        raise CorpusError(
            t("{path} is damaged or cut off: {error}", path=path, error=error)
        ) from error
    except (ValueError, RecursionError) as error:
        raise CorpusError(t("{path} is no JSON: {error}", path=path, error=error), HINT) from None
    match whole:
        case {"data": list(articles)}:
            for article in articles:
                match article:
                    case {"paragraphs": list(paragraphs)}:
                        yield from paragraphs
                    case _:
                        yield None
        case _:
            raise CorpusError(
                t("{path} has not the layout of SQuAD: it has no list 'data'", path=path), HINT
            )
