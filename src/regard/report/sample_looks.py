"""What a run attends to on the samples of its report, so that the viewer can open on each."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.runs.loaded_run import LoadedRun
from regard.view.samples import Sample

MOST_CHARACTERS = 12_000_000  # of all records of a page, as JSON
LONGEST = 2_000  # characters of a text that is looked at
PICTURE = "data:image/"


class SampleLooks:
    """Records are numbered as they are made; a sample that cannot be looked at stays without a link.

    runs: by the names that their records have; the first is the one that a report is of.
    """

    def __init__(self, runs: Mapping[str, LoadedRun]) -> None:
        self.runs = runs
        self.records: list[AttentionRecord] = []
        self._room = MOST_CHARACTERS
        self._known: dict[tuple[str, str], int | None] = {}  # the number of the record, if any

    def linked(self, samples: Sequence[Sample]) -> list[Sample]:
        """The samples, each with the fragment that opens the viewer on it."""
        return [replace(sample, link=self.link(sample.asked)) for sample in samples]

    def link(self, asked: str, names: Sequence[str] = ()) -> str:
        """The fragment that shows what the runs of these names, or all, attend to: the first two of them side
        by side. Empty where there is nothing to look at.
        """
        found = [self._record(name, asked) for name in names or self.runs]
        places = [place for place in found if place is not None]
        if not places:
            return ""
        first, *others = places
        return f"#record={first}" + (f"&panel=compare&compare-record={others[0]}" if others else "")

    def _record(self, name: str, asked: str) -> int | None:
        if (name, asked) not in self._known:
            record = self._look(name, asked)
            self._known[name, asked] = None if record is None else len(self.records)
            self.records += [] if record is None else [record]
        return self._known[name, asked]

    def _look(self, name: str, asked: str) -> AttentionRecord | None:
        if not asked.strip() or (len(asked) > LONGEST and PICTURE not in asked):
            return None
        run = self.runs[name]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                record = run.task.look(run.module, Question(asked), model=name)
        except (ValueError, RuntimeError, TypeError, LookupError, NotImplementedError):
            return None  # a report is no place to fail: some tasks show nothing, some not of everything
        size = len(json.dumps(record.to_dict()))
        if size > self._room:
            return None
        self._room -= size
        return record
