"""The items on which two variants differ most, what each answered, and what each looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.compare.comparison import Comparison
from regard.compare.items import Item, text_of
from regard.compare.judged_run import JudgedRun
from regard.data.checksums import Damaged
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.runs.loaded_run import LoadedRun
from regard.statistics.influence import influence
from regard.tasks.task import plain
from regard.tasks.task_module import Unanswerable

SHOWN = 6  # items: half of them where a is better, half where b is
LONGEST = 40  # words of an item whose attention is drawn


@dataclass(frozen=True)
class Case:
    """One item, and how much it moves the difference: more than 0 where a is better."""

    row: int
    weight: float
    answers: tuple[str, str]  # of the first seed that both have; empty where there are none
    records: tuple[AttentionRecord | None, AttentionRecord | None] = (None, None)
    why_not: str = ""  # why there is no picture


def cases(
    found: Comparison,
    a: str,
    b: str,
    items: Sequence[Item],
    judged: Mapping[str, Mapping[int, JudgedRun]],
) -> list[Case]:
    """Half of them from either end, those that can be drawn first."""
    weights = item_weights(found, a, b)
    seed = min({*judged[a]} & {*judged[b]}, default=None)
    runs = [judged[name][seed if seed is not None else min(judged[name])] for name in (a, b)]
    drawable = [row for row in np.argsort(weights).tolist() if 0 < items[row].words <= LONGEST]
    rows = drawable or np.argsort(weights).tolist()
    chosen = [row for row in rows[::-1] if weights[row] > 0][: SHOWN // 2]
    chosen += [row for row in rows if weights[row] < 0][: SHOWN // 2]
    return [
        Case(
            row,
            float(weights[row]),
            (_answer(runs[0], row), _answer(runs[1], row)),
        )
        for row in chosen
    ]


def item_weights(found: Comparison, a: str, b: str) -> np.ndarray:
    """(items,): how far each moves the difference between a and b, in the direction of better."""
    of = []
    for name in (a, b):
        counts = found.by_name[name].counts.values()
        of.append(np.mean([influence(each, found.measure.value) for each in counts], axis=0))
    moved: np.ndarray = of[0] - of[1]
    return -moved if found.measure.error else moved


def with_records(
    case: Case, runs: tuple[LoadedRun, LoadedRun], names: tuple[str, str], examples: Sequence[Any]
) -> Case:
    """The case with what each run attends to; where a run shows nothing, why."""
    records: list[AttentionRecord | None] = []
    why = ""
    for run, name in zip(runs, names, strict=True):
        try:
            question = Question(_text(run, examples[case.row]), details=False)
            records.append(run.task.look(run.module, question, model=name))
        except (BadQuestion, Unanswerable, NotARecord, Damaged, NotImplementedError) as error:
            records.append(None)
            why = why or f"{name}: {error}"
    return Case(case.row, case.weight, case.answers, (records[0], records[1]), why)


def _text(run: LoadedRun, example: Any) -> str:
    """What is asked: the one text that there is."""
    if len(run.task.inputs) > 1:
        raise BadQuestion("it answers about several inputs: what it attends to is not shown")
    return text_of(run.task, example)


def _answer(run: JudgedRun, row: int) -> str:
    return plain(run.answers[row]) if len(run.answers) else ""
