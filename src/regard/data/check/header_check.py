"""The first line of a table: it may name the columns, and yet be read as an example."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from regard.data.byte_lines import STANDARD_INPUT
from regard.data.fields import Field
from regard.data.formats import format_of
from regard.data.formats.comma_table import CommaTable
from regard.data.formats.jsonl import JsonLines
from regard.data.formats.tables import PlainLines, numbered_lines
from regard.data.parts import PARTS
from regard.data.problems import CorpusError, Unusable
from regard.data.rows import read_rows
from regard.data.spec import EMBEDDED_FOLDER, Corpus, locate
from regard.words import t


def header_doubts(corpora: Iterable[Corpus], fields: Mapping[str, Field]) -> list[str]:
    """Of each table whose first line is read as an example, and has a label that stands nowhere else in it,
    while every other label comes again; and of each that has more columns than are read.
    """
    found = []
    for corpus in corpora:
        if (surplus := _surplus(corpus, fields)) is not None:
            found.append(surplus)
        names = _names_read(corpus)
        if len(names) != len(fields) or not any(
            _alone(corpus, place, field, list(fields))
            for place, field in enumerate(fields.values())
        ):
            continue
        file = _file(corpus.name)
        if all(name.isidentifier() for name in names):
            said = t(
                "{file}: line 1 looks like a header: name its columns, {named}",
                file=file,
                named=f"{file}#{','.join(names)}",
            )
        else:
            said = t("{file}: line 1 looks like a header, but is read: take it out", file=file)
        found.append(said)
    return found


def _surplus(corpus: Corpus, fields: Mapping[str, Field]) -> str | None:
    """Of a table with more columns than are read, none of which was named or numbered; what is embedded has
    its sources in the others, and is read as it was made to be.
    """
    (path, *others), file = corpus.files, _file(corpus.name)
    if others or "#" in corpus.name or path.name == STANDARD_INPUT or not _is_plain(path):
        return None
    if EMBEDDED_FOLDER in path.parents:
        return None
    cells = _first_cells(path)
    if not corpus.columns or len(cells) <= len(fields):
        return None
    named = all(cell.isidentifier() for cell in cells)
    example = cells[-len(fields) :] if named else [str(n) for n in range(len(fields))]
    return t(
        "{file} has {columns} columns, and the first {read} are read as {fields}: say which, as {example}",
        file=file,
        columns=len(cells),
        read=len(fields),
        fields=", ".join(fields),
        example=f"{file}#{','.join(example)}",
    )


def with_header(spec: str, columns: Sequence[str], fields: Sequence[str]) -> str:
    """The spec with the names of these columns, if its file has each of them, and not those of the fields."""
    if len(columns) != len(fields) or "#" in spec or "@" in spec:
        return spec
    with suppress(CorpusError, OSError):
        file = locate(spec)
        named = {*_first_names(file)}
        if {*columns} <= named and (_is_plain(file) or not {*fields} <= named):
            return f"{spec}#{','.join(columns)}"
    return spec


def _is_plain(file: Path) -> bool:
    """Whether its first line is read as an example, unless columns are named."""
    return isinstance(format_of(file), PlainLines)


def _first_names(file: Path) -> list[str]:
    """What columns could be called, by the first line: its cells, or the keys of its object."""
    match format_of(file):
        case JsonLines():
            _, line = next(numbered_lines(file), (1, ""))
            with suppress(ValueError, RecursionError):
                record = None if isinstance(line, Unusable) else json.loads(line)
                return list(record) if isinstance(record, dict) else []
            return []
        case CommaTable() as table:
            return table.header(file)
        case PlainLines():
            return _first_cells(file)
    return []


def _names_read(corpus: Corpus) -> list[str]:
    """The cells of the first line, in the order of the fields; none where it is no example."""
    (file, *others), columns = corpus.files, corpus.columns
    if others or file.name == STANDARD_INPUT or not _is_plain(file):
        return []
    if not columns or not all(column.isdigit() for column in columns):
        return []
    cells = _first_cells(file)
    return [cells[int(c)] for c in columns] if max(map(int, columns)) < len(cells) else []


def _first_cells(file: Path) -> list[str]:
    _, line = next(numbered_lines(file), (1, ""))
    return [] if isinstance(line, Unusable) else [cell.strip() for cell in line.split("\t")]


def _alone(corpus: Corpus, place: int, field: Field, fields: Sequence[str]) -> bool:
    """Whether the labels of line 1 stand nowhere else, and all others more than once."""
    labels = _labels(corpus, place, field, fields)
    first, seen = next(labels, ()), Counter[str]()
    if not first:
        return False
    for more in labels:
        if not {*first}.isdisjoint(more):  # soon, where the first line is an example as any other
            return False
        seen.update(more)
    return bool(seen) and min(seen.values()) > 1


def _labels(
    corpus: Corpus, place: int, field: Field, fields: Sequence[str]
) -> Iterator[Sequence[str]]:
    """Those of each line in the column of a field; none, if the first line has none."""
    folder = corpus.files[0].parent
    rows = read_rows(replace(corpus, part=None), fields)
    for number, cells in rows:
        labels: Sequence[str] = ()
        if not isinstance(cells, Unusable):
            with suppress(Unusable):
                labels = field.counted(field.read(cells[place], folder))
        if number == 1 and not labels:
            return
        yield labels


def _file(name: str) -> str:
    """Of a corpus as it was written, without its part and its columns."""
    whole, _, part = name.rpartition("@")
    return (whole if part in PARTS else name).partition("#")[0]
