"""The cases of a trial: each drawn from the seed and its number, counted, and repeatable alone.

    with trials("damaged files") as trial:
        for case in trial.cases(100):
            with case:
                case.said = "what is tried"
                assert …

A case that fails does not end the trial: all findings are told at its end, with what repeats them.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType

import pytest
import torch

SEED, ONLY = "REGARD_HOSTILE_SEED", "REGARD_HOSTILE_CASE"
SHOWN = 12  # findings of a trial, those of different kinds first


def seed() -> int:
    return int(os.environ.get(SEED, "1"))


class Case:
    """One case; what goes wrong inside it is a finding of its trial."""

    def __init__(self, trial: Trial, number: int) -> None:
        self.trial, self.number, self.said = trial, number, ""
        self.draw = random.Random(f"{seed()} {trial.part} {trial.name} {number}")

    def __enter__(self) -> Case:
        torch.manual_seed(self.number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> bool:
        self.trial.tried += 1
        if not isinstance(error, Exception):
            return error is None
        words = str(error).partition("\nassert")[0][:600] or repr(error)
        wrong = words if isinstance(error, AssertionError) else f"{type(error).__name__}: {words}"
        self.trial.findings.append((wrong, f"case {self.number}: {self.said}: {wrong}"))
        return True


@dataclass
class Trial:
    part: str
    name: str = ""
    tried: int = 0
    findings: list[tuple[str, str]] = field(default_factory=list)  # what was wrong, and where
    begin: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)  # figures that are told and not judged

    def cases(self, count: int) -> Iterator[Case]:
        """So many; only one of them where the environment names it."""
        only = os.environ.get(ONLY)
        numbers = range(count) if only is None else [int(only)]
        return (Case(self, number) for number in numbers)

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.seconds = time.monotonic() - self.begin
        if kind is None and self.findings:
            pytest.fail(self.told(), pytrace=False)

    def told(self) -> str:
        kinds = {wrong[:40]: where for wrong, where in reversed(self.findings)}
        first = [*kinds.values(), *(where for _, where in self.findings)]
        shown = list(dict.fromkeys(first))[:SHOWN]
        again = f"{SEED}={seed()} {ONLY}=<case> and this test alone repeat one"
        return "\n".join(
            [f"{len(self.findings)} of {self.tried} cases went wrong; {again}", *shown]
        )


def table(trials: list[Trial]) -> list[str]:
    """Markdown: a row for each part, in the order of their first trial; then what they noted."""
    rows = ["| part | cases | seconds | found |", "| --- | ---: | ---: | ---: |"]
    for part in dict.fromkeys(trial.part for trial in trials):
        own = [trial for trial in trials if trial.part == part]
        tried, found = sum(t.tried for t in own), sum(len(t.findings) for t in own)
        rows.append(f"| {part} | {tried:,} | {sum(t.seconds for t in own):.0f} | {found:,} |")
    notes = [f"{t.part}, {t.name}: {note}" for t in trials for note in t.notes]
    return [*rows, "", *notes] if notes else rows
