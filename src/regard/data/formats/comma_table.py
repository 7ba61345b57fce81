"""CSV: cells with commas between them, in quotes where they hold commas, quotes or line ends themselves."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from regard.data.byte_lines import byte_lines, has_old_ends, old_byte_lines
from regard.data.formats.format import NUMBER, Format, Row, in_words, only_place
from regard.data.formats.tables import LONGEST
from regard.data.problems import CorpusError, Unusable
from regard.suggestions import meant
from regard.words import t

SIGNS = ",;\t"  # between cells: the first of these that the first line has
TOO_LONG = "\udfff"  # in place of a line that is; no text has it


class CommaTable(Format):
    """Columns have the names that the first row gives them, those of the fields unless told; numbers, from 0,
    are of a file whose first row is one like the others.
    """

    endings: ClassVar = (".csv",)

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        if not wanted:
            return tuple(fields)
        if len(wanted) != len(fields) or not all(wanted):
            come = (
                t("comes one column")
                if len(fields) == 1
                else t("come {in_words} columns", in_words=in_words(len(fields)))
            )
            raise CorpusError(
                t(
                    "'{text}': after # {come}, as #{fields}",
                    text=text,
                    come=come,
                    fields=",".join(fields),
                )
            )
        return tuple(wanted)

    def check(self, path: Path, columns: Sequence[str]) -> None:
        if not _are_numbers(columns):
            _places(_records(path), columns, path)

    def header(self, path: Path) -> list[str]:
        """The cells of the first row."""
        _, head = next(_records(path), (1, Unusable("")))
        return [] if isinstance(head, Unusable) else [name.strip() for name in head]

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        if not columns:
            raise CorpusError(
                t("'{path}' has columns: name one, as {name}#text", path=path, name=path.name)
            )
        records = _records(path)
        numbers = _are_numbers(columns)
        wanted = [int(name) for name in columns] if numbers else _places(records, columns, path)
        for number, cells in records:
            yield number, cells if isinstance(cells, Unusable) else _chosen(cells, wanted, columns)


def _chosen(
    cells: Sequence[str], wanted: Sequence[int], columns: Sequence[str]
) -> list[str] | Unusable:
    for place, name in zip(wanted, columns, strict=True):
        if place >= len(cells):
            return Unusable(f"lines without a column {name}")
    return [cells[place] for place in wanted]


def _are_numbers(columns: Sequence[str]) -> bool:
    return all(NUMBER.fullmatch(column) for column in columns)


def _records(path: Path) -> Iterator[tuple[int, list[str] | Unusable]]:
    """The cells of each record, with the number, from 1, of the line that it begins on."""
    lines = _lines(path)
    first = next(lines, "")
    sign = next((sign for sign in SIGNS if sign in first), ",")

    def every() -> Iterator[str]:
        yield first
        yield from lines

    reader = csv.reader(every(), delimiter=sign, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            yield number, _usable(next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            if "limit" in str(error):
                yield number, Unusable(f"{{}}lines over {LONGEST:,} bytes")
            else:
                yield number, Unusable("lines with a quote that does not end its cell")
        except Unusable as trouble:
            yield number, trouble


def _lines(path: Path) -> Iterator[str]:
    """With their ends. Bytes that are not UTF-8 become halves of surrogate pairs, which are found later."""
    every = old_byte_lines if has_old_ends(path) else byte_lines
    for raw in every(path, longest=LONGEST):
        yield f"{TOO_LONG if raw is None else raw.decode('utf-8', 'surrogateescape')}\n"


def _usable(cells: list[str]) -> list[str]:
    if not any(cell.strip() for cell in cells):
        raise Unusable("empty {}lines")
    whole = "".join(cells)
    if TOO_LONG in whole or len(whole.encode("utf-8", "surrogateescape")) > LONGEST:
        raise Unusable(f"{{}}lines over {LONGEST:,} bytes")
    try:
        whole.encode("utf-8")
    except UnicodeEncodeError:
        raise Unusable("{}lines not in UTF-8") from None
    return cells


def _places(
    records: Iterator[tuple[int, list[str] | Unusable]], names: Sequence[str], path: Path
) -> list[int]:
    """The numbers of columns, from the first row, which names them."""
    _, head = next(records, (1, Unusable("")))
    known = [] if isinstance(head, Unusable) else [name.strip() for name in head]
    for name in names:
        if name not in known:
            there = ", ".join(known) or "nothing"
            raise CorpusError(
                t(
                    "'{path}' has no column {name}.{meant} Its first line has {there}",
                    path=path,
                    name=repr(name),
                    meant=meant(name, known),
                    there=there,
                ),
                t(
                    "say which it is, as {name}#{value}, or by numbers from 0 if the first line is "
                    "no header",
                    name=path.name,
                    value=",".join(["NAME"] * len(names)),
                ),
            )
    return [only_place(name, known, path) for name in names]
