"""The rows of a corpus as they stand in its files: a cell for each field.

A cell is text, or what the file's format holds: a JSON value, the words of a sentence, an array. formats/
says how files are read, a file for each format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from regard.data.formats import Row, format_of
from regard.data.problems import Unusable, before_noun
from regard.data.spec import Corpus


def read_rows(corpus: Corpus, fields: Sequence[str]) -> Iterator[Row]:
    """Each row's number, from 1, and its cells, in the order of the fields, or why it has none."""
    if len(corpus.files) > 1:
        yield from _side_by_side(corpus, fields)
        return
    (file,) = corpus.files
    columns = [column for column in corpus.columns if column]
    for number, cells in format_of(file).rows(file, columns):
        yield number, _of_field(cells, "") if isinstance(cells, Unusable) else cells


def _side_by_side(corpus: Corpus, fields: Sequence[str]) -> Iterator[Row]:
    """Row i of every file. Its number is that in the first file which has it."""
    files = [
        format_of(file).rows(file, [column] if column else [])
        for file, column in zip(corpus.files, corpus.columns, strict=True)
    ]
    for rows in zip_longest(*files):
        number = next(row[0] for row in rows if row is not None)
        try:
            yield number, _cells(rows, fields)
        except Unusable as trouble:
            yield number, trouble


def _cells(rows: Sequence[Row | None], fields: Sequence[str]) -> list[Any]:
    if None in rows:
        ended = fields[rows.index(None)]
        there = next(f for f, row in zip(fields, rows, strict=True) if row is not None)
        article = "" if ended.endswith("s") else "an " if ended[0] in "aeiou" else "a "
        raise Unusable(f"{before_noun(there)} lines without {article}{ended}")
    cells = []
    for field, row in zip(fields, rows, strict=True):
        assert row is not None
        if isinstance(row[1], Unusable):
            raise _of_field(row[1], f"{before_noun(field)} ")
        cells += row[1]
    return cells


def _of_field(trouble: Unusable, said: str) -> Unusable:
    return Unusable(str(trouble).replace("{}", said))
