"""Lines of text, and tables: what stands between tabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from regard.data.byte_lines import STANDARD_INPUT, byte_lines
from regard.data.formats.format import Format, Row, only_place
from regard.data.problems import CorpusError, Unusable
from regard.suggestions import meant
from regard.words import t

LONGEST = 100_000  # bytes of a line


FIRST, REST = "first", "rest"  # of a line: its first word, and what stands behind it


class PlainLines(Format):
    """Every line is a cell, or has cells with tabs between them, or a label before its text. Columns have
    numbers, or the names that the first line gives them, which is then no row.
    """

    endings: ClassVar = (".txt",)

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        named = wanted and all(column.isidentifier() for column in wanted)
        if named and len(wanted) == len(fields):
            return tuple(wanted)
        return super().columns(text, wanted, fields)

    def check(self, path: Path, columns: Sequence[str]) -> None:
        if _are_names(columns) and path.name != STANDARD_INPUT:
            _places(numbered_lines(path), columns, path)

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        if {*columns} & {FIRST, REST}:
            yield from _labelled(path, columns)
            return
        lines, named = numbered_lines(path), _are_names(columns)
        wanted = _places(lines, columns, path) if named else [int(column) for column in columns]
        for number, line in lines:
            if isinstance(line, Unusable) or not wanted:
                yield number, line if isinstance(line, Unusable) else [line]
            else:
                yield number, _cells(line, wanted)


class Table(PlainLines):
    """A file that says that it has columns."""

    endings: ClassVar = (".tsv",)

    def usual_columns(self, text: str, fields: Sequence[str]) -> tuple[str, ...]:
        if len(fields) == 1:
            raise CorpusError(
                t(
                    "'{text}' has columns: name the one with the {fields}, as {text}#0",
                    text=text,
                    fields=fields[0],
                )
            )
        return super().usual_columns(text, fields)


def numbered_lines(path: Path, *, latin: bool = False) -> Iterator[tuple[int, str | Unusable]]:
    """Each line with its number, from 1. latin: one that is not UTF-8 is taken for Latin-1."""
    for number, raw in enumerate(byte_lines(path, longest=LONGEST), start=1):
        if raw is None:
            yield number, Unusable(f"{{}}lines over {LONGEST:,} bytes")
            continue
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError:
            yield number, raw.decode("latin-1") if latin else Unusable("{}lines not in UTF-8")


def _labelled(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """`0 a film without hope`, as old collections of labelled sentences are, some of them in Latin-1."""
    for number, line in numbered_lines(path, latin=True):
        if isinstance(line, Unusable):
            yield number, line
            continue
        first, _, rest = line.strip().partition(" ")
        cells = {FIRST: first, REST: rest.strip()}
        found = [cells[column] for column in columns]
        yield number, found if first else Unusable("empty lines")


def _are_names(columns: Sequence[str]) -> bool:
    return bool(columns) and not columns[0].isdigit() and not {*columns} & {FIRST, REST}


def _places(
    lines: Iterator[tuple[int, str | Unusable]], names: Sequence[str], path: Path
) -> list[int]:
    """The numbers of columns, from the first line, which names them."""
    _, head = next(lines, (1, ""))
    known = [] if isinstance(head, Unusable) else [name.strip() for name in head.split("\t")]
    for name in names:
        if name not in known:
            there = ", ".join(known) or "nothing"
            raise CorpusError(
                t(
                    "'{path}' has no column {name}.{meant} Its first line has {there}; or number "
                    "them from 0",
                    path=path,
                    name=repr(name),
                    meant=meant(name, known),
                    there=there,
                )
            )
    return [only_place(name, known, path) for name in names]


def _cells(line: str, columns: Sequence[int]) -> list[str] | Unusable:
    if not line.strip():
        return Unusable("empty lines")
    found = line.split("\t")
    if max(columns) >= len(found):
        return Unusable(f"lines without a column {max(columns)}")
    return [found[column] for column in columns]
