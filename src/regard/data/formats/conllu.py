"""Treebanks in CoNLL-U: a word on each line, a blank line after each sentence.

A row is a sentence, a cell the list of what its words have in a column. Words that are written together (1-2)
and words that are not written (1.1) are left out. https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import ClassVar

from regard.data.formats.format import Format, Row, in_words
from regard.data.formats.tables import numbered_lines
from regard.data.problems import CorpusError, Unusable
from regard.words import t

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
LONGEST = 10_000  # words of a sentence
_WORD = re.compile(r"[0-9]{1,9}")
_LEFT_OUT = re.compile(r"[0-9]{1,9}[-.][0-9]{1,9}")


class Treebank(Format):
    """Columns have the names of CoNLL-U, in small letters."""

    endings: ClassVar = (".conllu",)

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        wanted = [column.lower() for column in wanted or fields]
        if len(wanted) != len(fields) or not set(wanted) <= set(COLUMNS):
            example = ",".join(("form", "upos", *COLUMNS[2:3], *COLUMNS[4:])[: len(fields)])
            come = (
                t("comes one")
                if len(fields) == 1
                else t("come {in_words}", in_words=in_words(len(fields)))
            )
            raise CorpusError(
                t(
                    "'{text}': after # {come} of the columns {columns}, as #{example}",
                    text=text,
                    come=come,
                    columns=", ".join(COLUMNS),
                    example=example,
                )
            )
        return tuple(wanted)

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        """Without columns, the forms. The number of a row is that of its first line."""
        wanted = [COLUMNS.index(column) for column in columns or ("form",)]
        first, words, trouble = 0, [[] for _ in wanted], None  # type: ignore[var-annotated]
        for number, line in chain(numbered_lines(path), [(0, "")]):
            if isinstance(line, str) and not line.strip():
                if first:
                    yield trouble or (first, words if words[0] else Unusable("{}lines of no words"))
                first, words, trouble = 0, [[] for _ in wanted], None
            elif isinstance(line, Unusable) or not line.startswith("#"):
                first = first or number
                if trouble is None:
                    why = line if isinstance(line, Unusable) else _add(line, wanted, words)
                    trouble = None if why is None else (number, why)


def _add(line: str, wanted: Sequence[int], words: Sequence[list[str]]) -> Unusable | None:
    """Put the word of a line with those before it, or say what is wrong with the line."""
    cells = line.split("\t")
    if _LEFT_OUT.fullmatch(cells[0]):
        return None
    if not _WORD.fullmatch(cells[0]) or max(wanted) >= len(cells) or not cells[1].strip():
        return Unusable("{}lines not in CoNLL-U")
    if len(words[0]) == LONGEST:
        return Unusable(f"{{}}sentences over {LONGEST:,} words")
    for column, place in zip(words, wanted, strict=True):
        column.append(cells[place])
    return None
