"""A history file: settings of histories of events, which are made when they are read, in JSON.

    {"count": 3000, "seed": 1, "kinds": 6, "order": "random"}

The settings are those of `regard.data.histories.event_histories.HistorySettings`; columns are text, the
events with blanks between them, and label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from regard.data.formats.made_file import MadeFile


class HistoryFile(MadeFile):
    """Its histories are made, not read."""

    endings: ClassVar = (".histories",)
    known: ClassVar = ("text", "label")
    needs: ClassVar = frozenset({"count"})
    example: ClassVar = '{"count": 3000, "seed": 1, "kinds": 6}'

    def made(self, path: Path, columns: Sequence[str]) -> Iterator[list[Any]]:
        from regard.data.histories.event_histories import HistorySettings, event_histories

        settings = self.settings_of(path, self.said(path), HistorySettings)
        for history in event_histories(settings):
            yield [getattr(history, name) for name in columns or ("text",)]
