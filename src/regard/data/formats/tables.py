"""Lines of text, and tables: what stands between tabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from regard.data.byte_lines import byte_lines
from regard.data.formats.format import Format, Row
from regard.data.problems import CorpusError, Unusable

LONGEST = 100_000  # bytes of a line


class PlainLines(Format):
    """Every line is a cell, or has cells with tabs between them."""

    endings: ClassVar = (".txt",)

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        wanted = [int(column) for column in columns]
        for number, line in numbered_lines(path):
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
                f"'{text}' has columns: name the one with the {fields[0]}, as {text}#0"
            )
        return super().usual_columns(text, fields)


def numbered_lines(path: Path) -> Iterator[tuple[int, str | Unusable]]:
    """Each line with its number, from 1."""
    for number, raw in enumerate(byte_lines(path, longest=LONGEST), start=1):
        if raw is None:
            yield number, Unusable(f"{{}}lines over {LONGEST:,} bytes")
            continue
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError:
            yield number, Unusable("{}lines not in UTF-8")


def _cells(line: str, columns: Sequence[int]) -> list[str] | Unusable:
    if not line.strip():
        return Unusable("empty lines")
    found = line.split("\t")
    if max(columns) >= len(found):
        return Unusable(f"lines without a column {max(columns)}")
    return [found[column] for column in columns]
