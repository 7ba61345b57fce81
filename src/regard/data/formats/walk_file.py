"""A walk file: settings of walks through a city, which are made when they are read, in JSON.

    {"users": 300, "visits": 60, "places": 1000, "seed": 1}

The settings are those of `regard.data.visits.city_walks.WalkSettings`; columns are user, place, latitude,
longitude and time, in seconds.
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

COLUMNS = ("user", "place", "latitude", "longitude", "time")


class WalkFile(Format):
    """Its check-ins are made, not read. Columns are called as the fields unless told."""

    endings: ClassVar = (".walks",)

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
        from regard.data.visits.city_walks import WalkSettings, city_walks

        with open_bytes(path) as stream:
            data = stream.read(1 << 16)
        try:
            said = json.loads(data)
        except (ValueError, RecursionError):
            said = None
        known = [field.name for field in fields(WalkSettings)]
        if not isinstance(said, dict) or not {"users", "visits"} <= said.keys():
            raise CorpusError(
                t(
                    '{path} is no walk file: it is JSON, as {"users": 300, "visits": 60, "places": '
                    "1000}",
                    path=path,
                )
            )
        for name in said:
            if name not in known:
                raise CorpusError(
                    t(
                        "{path}: there is no setting {name} of walks.{meant}",
                        path=path,
                        name=repr(name),
                        meant=meant(name, known),
                    )
                )
        try:
            for number, row in enumerate(city_walks(WalkSettings(**said)), start=1):
                yield number, [getattr(row, name) for name in columns or ("place",)]
        except (ValueError, TypeError) as error:
            raise CorpusError(f"{path}: {error}") from None
