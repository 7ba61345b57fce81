"""The rows of a corpus as they stand in its files: a cell for each field.

A cell is text, or what the file's format holds: a JSON value, the words of a sentence, an array.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from regard.data.fields import Cell, Unusable
from regard.data.lines import byte_lines
from regard.data.spec import Corpus

LONGEST = 100_000  # bytes of a line
ENDED = object()  # after the last line of the shorter file

Row = tuple[int, "list[Cell] | Unusable"]


def read_rows(corpus: Corpus, fields: Sequence[str]) -> Iterator[Row]:
    """Each row's number, from 1, and its cells, in the order of the fields, or why it has none."""
    rows = _one_file(corpus) if len(corpus.files) == 1 else _side_by_side(corpus, fields)
    yield from enumerate(rows, start=1)


def _one_file(corpus: Corpus) -> Iterator[list[Cell] | Unusable]:
    for raw in byte_lines(corpus.files[0], longest=LONGEST):
        try:
            line = decoded(raw, "")
            yield _cells(corpus, line) if corpus.columns else [line]
        except Unusable as trouble:
            yield trouble


def _side_by_side(corpus: Corpus, fields: Sequence[str]) -> Iterator[list[Cell] | Unusable]:
    """Line i of every file."""
    files = (byte_lines(file, longest=LONGEST) for file in corpus.files)
    for lines in zip_longest(*files, fillvalue=ENDED):
        try:
            for field, line in zip(fields, lines, strict=True):
                if line is ENDED:
                    there = next(f for f, x in zip(fields, lines, strict=True) if x is not ENDED)
                    raise Unusable(f"{there} lines without a {field}")
            yield [decoded(x, f"{field} ") for field, x in zip(fields, lines, strict=True)]  # type: ignore[arg-type]
        except Unusable as trouble:
            yield trouble


def decoded(line: bytes | None, side: str) -> str:
    if line is None:
        raise Unusable(f"{side}lines over {LONGEST:,} bytes")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise Unusable(f"{side}lines not in UTF-8") from None


def _cells(corpus: Corpus, line: str) -> list[Cell]:
    """What stands in the columns of a corpus, in a line of it."""
    if not line.strip():
        raise Unusable("empty lines")
    return (_json_values if corpus.jsonl else _columns)(line, corpus.columns)


def _columns(line: str, columns: tuple[str, ...]) -> list[Cell]:
    found, wanted = line.split("\t"), [int(column) for column in columns]
    if max(wanted) >= len(found):
        raise Unusable(f"lines without a column {max(wanted)}")
    return [found[column] for column in wanted]


def _json_values(line: str, names: tuple[str, ...]) -> list[Cell]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise Unusable("lines not in JSON") from None
    return [_value(record, name) for name in names]


def _value(record: object, name: str) -> Any:
    value = record.get(name) if isinstance(record, dict) else None
    if value is None:
        raise Unusable(f"lines without a text '{name}'")
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold
        raise Unusable("lines not in UTF-8") from None
    return value
