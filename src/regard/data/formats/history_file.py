"""A history file: settings of histories of events, which are made when they are read, in JSON.

    {"count": 3000, "seed": 1, "kinds": 6, "order": "random"}

The settings are those of `regard.data.histories.event_histories.HistorySettings`; columns are text, the
events with blanks between them, and label.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import ClassVar

from regard.data.byte_lines import open_bytes
from regard.data.formats.format import Format, Row, in_words
from regard.data.problems import CorpusError
from regard.suggestions import meant
from regard.words import t

COLUMNS = ("text", "label")


class HistoryFile(Format):
    """Its histories are made, not read. Columns are called as the fields unless told."""

    endings: ClassVar = (".histories",)

    def columns(self, text: str, wanted: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        names = tuple(wanted or fields)
        if len(names) != len(fields) or not set(names) <= set(COLUMNS):
            raise CorpusError(
                t(
                    "'{text}': after # come {in_words} of the columns {columns}",
                    text=text,
                    in_words=in_words(len(fields)),
                    columns=", ".join(COLUMNS),
                )
            )
        return names

    def rows(self, path: Path, columns: Sequence[str]) -> Iterator[Row]:
        from regard.data.histories.event_histories import HistorySettings, event_histories

        with open_bytes(path) as stream:
            data = stream.read(1 << 16)
        try:
            said = json.loads(data)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict) or "count" not in said:
            raise CorpusError(
                t(
                    '{path} is no history file: it is JSON, as {"count": 3000, "seed": 1, "kinds": '
                    "6}",
                    path=path,
                )
            )
        known = [field.name for field in fields(HistorySettings)]
        for name in said:
            if name not in known:
                raise CorpusError(
                    t(
                        "{path}: there is no setting {name} of histories.{meant}",
                        path=path,
                        name=repr(name),
                        meant=meant(name, known),
                    )
                )
        try:
            for number, row in enumerate(event_histories(HistorySettings(**said)), start=1):
                yield number, [getattr(row, name) for name in columns or ("text",)]
        except (ValueError, TypeError) as error:
            raise CorpusError(f"{path}: {error}") from None
