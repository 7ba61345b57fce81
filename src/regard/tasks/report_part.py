"""What a task has to say in the report of a run, as plain data and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from regard.measures.translation import MeasuredScore
from regard.view.markup import Markup
from regard.view.samples import Sample, SampleNames
from regard.words import t


class NextStep(NamedTuple):
    """A command worth running now, and why."""

    command: str
    why: str


class Drawing(NamedTuple):
    """A section of the report: a chart or a table."""

    title: str
    body: Markup


def plain_names() -> SampleNames:
    return SampleNames(t("Examples"), t("input"), t("wanted"), t("answer"))


@dataclass(frozen=True)
class ReportScore(MeasuredScore):
    """With the interval of a bootstrap, in the same unit, where there is one."""

    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class ReportPart:
    verdict: str = ""  # one line, in words; empty: there was nothing to judge by
    scores: Sequence[MeasuredScore] = ()  # the most important first
    facts: Mapping[str, str] = field(default_factory=dict)
    drawings: Sequence[Drawing] = ()
    samples: Sequence[Sample] = ()
    sample_names: SampleNames = field(default_factory=plain_names)
    worst: Sequence[Sample] = ()  # where the samples are not those
    worst_names: SampleNames = field(default_factory=plain_names)
    next_steps: Sequence[NextStep] = ()
