"""What a run attends to on the samples of its report, so that the viewer can open on each."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace

from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.runs.loaded_run import LoadedRun
from regard.view.samples import Sample

MOST_CHARACTERS = 12_000_000  # of all records of a page, as JSON
LONGEST = 2_000  # characters of a text that is looked at
PICTURE = "data:image/"


class SampleLooks:
    """Records are numbered as they are made; a sample that cannot be looked at stays without a link."""

    def __init__(self, run: LoadedRun, *, name: str) -> None:
        self.run, self.name = run, name
        self.records: list[AttentionRecord] = []
        self._room = MOST_CHARACTERS
        self._known: dict[str, int] = {}  # the number of the record of each line

    def linked(self, samples: Sequence[Sample]) -> list[Sample]:
        """The samples, each with the fragment that opens the viewer on it."""
        return [replace(sample, link=self.link(sample.asked)) for sample in samples]

    def link(self, asked: str) -> str:
        """Empty where there is nothing to look at."""
        if asked not in self._known and (record := self._look(asked)) is not None:
            self._known[asked] = len(self.records)
            self.records.append(record)
        return f"#record={self._known[asked]}" if asked in self._known else ""

    def _look(self, asked: str) -> AttentionRecord | None:
        if not asked.strip() or (len(asked) > LONGEST and PICTURE not in asked):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                record = self.run.task.look(self.run.module, Question(asked), model=self.name)
        except (ValueError, RuntimeError, TypeError, LookupError, NotImplementedError):
            return None  # a report is no place to fail: some tasks show nothing, some not of everything
        size = len(json.dumps(record.to_dict()))
        if size > self._room:
            return None
        self._room -= size
        return record
