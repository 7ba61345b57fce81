"""The stories of bAbI: a numbered fact on each line, and questions with their answers between them.

    1 Mary moved to the bathroom.
    2 John went to the hallway.
    3 Where is Mary? 	bathroom	1

A row is a question; its story are the facts before it, and a split keeps the questions of a story together,
or a question of @dev would have most of its story in @train. The candidates are all answers of the file, in
alphabetical order; the answer as a span stands in the last supporting fact that has it.
— Weston et al. 2015, https://arxiv.org/abs/1502.05698
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from regard.data.formats.format import Format, Kin, Row, bare_name, in_words
from regard.data.formats.tables import numbered_lines
from regard.data.problems import CorpusError, Unusable
from regard.words import t

COLUMNS = ("story", "question", "candidates", "answer")
_NAME = re.compile(r"qa[0-9]{1,2}_.*\.txt")  # as the files are called
_LINE = re.compile(r"([0-9]{1,6}) (.*)")


class BabiStories(Format):
    """Columns are called as the fields unless told. `qa1_….txt`, as published, or any name with .babi"""

    endings: ClassVar = (".babi",)

    def has(self, name: str) -> bool:
        return super().has(name) or _NAME.fullmatch(bare_name(name)) is not None

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
        """Without columns, the stories."""
        wanted = columns or ("story",)
        answers = sorted(
            {cells["name"] for _, cells in _questions(path) if isinstance(cells, dict)}
        )
        for number, cells in _questions(path):
            if isinstance(cells, Unusable):
                yield number, cells
                continue
            if "answer" in wanted and cells["answer"]["start"] is None:
                yield number, Unusable("lines whose answer is in no supporting fact")
                continue
            cells["candidates"] = {"candidates": answers, "answer": cells["name"]}
            yield number, Kin((cells[column] for column in wanted), cells["family"])


def _questions(path: Path) -> Iterator[tuple[int, dict[str, Any] | Unusable]]:
    facts: dict[str, str] = {}  # of this story, by their numbers
    begun = 0  # the line it begins on
    for number, line in numbered_lines(path):
        if isinstance(line, Unusable):
            yield number, line
            continue
        found = _LINE.fullmatch(line.rstrip())
        if found is None:
            if line.strip():
                yield number, Unusable("{}lines without a number")
            continue
        if found[1] == "1":
            facts, begun = {}, number
        said, *told = (part.strip() for part in found[2].split("\t"))
        if not told:
            facts[found[1]] = said
            continue
        answer, supporting = told[0], told[1].split() if len(told) > 1 else []
        story = " ".join(facts.values())
        place = {"text": answer, "start": _place(answer, facts, supporting)}
        yield (
            number,
            {
                "story": story,
                "question": said,
                "name": answer,
                "answer": place,
                "family": f"line {begun}",
            },
        )


def _place(answer: str, facts: Mapping[str, str], supporting: Sequence[str]) -> int | None:
    """Where the answer stands in the story: in the last supporting fact that has it; None: in none."""
    start, found = 0, None
    for number, fact in facts.items():
        if number in supporting and answer in fact:
            found = start + fact.index(answer)
        start += len(fact) + 1
    return found
