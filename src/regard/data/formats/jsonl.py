"""A JSON value on each line; the columns are the keys of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from regard.data.formats.format import Format, Row, in_words
from regard.data.formats.tables import numbered_lines
from regard.data.problems import CorpusError, Unusable
from regard.words import t

LOOKED_AT = 100  # lines, for one that is an object


class JsonLines(Format):
    """Columns are called as the fields unless told."""

    endings: ClassVar = (".jsonl",)

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        if not wanted:
            return tuple(fields)
        if len(wanted) != len(fields) or not all(wanted):
            come = (
                t("comes one field")
                if len(fields) == 1
                else t("come {in_words} fields", in_words=in_words(len(fields)))
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

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        for number, line in numbered_lines(path):
            yield number, line if isinstance(line, Unusable) else _cells(line, columns)


def first_keys(path: Path) -> list[str]:
    """The keys of the first object among the lines; none if there is none."""
    for _, line in islice(numbered_lines(path), LOOKED_AT):
        with suppress(ValueError, RecursionError, TypeError):
            if isinstance(found := json.loads(str(line)), dict):
                return list(found)
    return []


def _cells(line: str, columns: Sequence[str]) -> list[Any] | Unusable:
    if not line.strip():
        return Unusable("empty {}lines")
    try:
        record = json.loads(line)
        cells = [_value(record, name) for name in columns] if columns else [record]
        json.dumps(cells, ensure_ascii=False).encode("utf-8")
    except Unusable as trouble:
        return trouble
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold
        return Unusable("{}lines not in UTF-8")
    except (ValueError, RecursionError):
        return Unusable("{}lines not in JSON")
    return cells


def _value(record: object, name: str) -> Any:
    value = record.get(name) if isinstance(record, dict) else None
    if value is None:
        raise Unusable(f"lines without a value '{name}'")
    return value
