"""A walk file: settings of walks through a city, which are made when they are read, in JSON.

    {"users": 300, "visits": 60, "places": 1000, "seed": 1}

The settings are those of `regard.data.visits.city_walks.WalkSettings`; columns are user, place, latitude,
longitude and time, in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from regard.data.formats.made_file import MadeFile


class WalkFile(MadeFile):
    """Its check-ins are made, not read."""

    endings: ClassVar = (".walks",)
    known: ClassVar = ("user", "place", "latitude", "longitude", "time")
    needs: ClassVar = frozenset({"users", "visits"})
    example: ClassVar = '{"users": 300, "visits": 60, "places": 1000}'

    def made(self, path: Path, columns: Sequence[str]) -> Iterator[list[Any]]:
        from regard.data.visits.city_walks import WalkSettings, city_walks

        settings = self.settings_of(path, self.said(path), WalkSettings)
        for visit in city_walks(settings):
            yield [getattr(visit, name) for name in columns or ("place",)]
