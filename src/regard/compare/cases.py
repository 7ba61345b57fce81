"""The items on which two variants differ most, what each answered, and what each looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from regard.compare.comparison import Comparison, matched
from regard.compare.items import Item, in_words
from regard.compare.judged_run import JudgedRun
from regard.measures.measure import Measure
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.runs.loaded_run import LoadedRun
from regard.statistics.influence import influence
from regard.tasks.asked_line import asked_line
from regard.tasks.task_module import Unanswerable

SHOWN = 6  # items: half of them where a is better, half where b is
NOTHING = 1e-9  # a difference that is one of rounding
LONGEST = 30, 100, 400  # words of an item whose attention is drawn, if there are enough such items


@dataclass(frozen=True)
class Case:
    """One item, and how much it moves the difference: more than 0 where a is better."""

    row: int
    weight: float
    runs: tuple[JudgedRun, JudgedRun]  # of the seed in which they differ most here
    answers: tuple[str, str]  # empty where there are none
    records: tuple[AttentionRecord | None, AttentionRecord | None] = (None, None)
    why_not: tuple[str, ...] = ()  # why there is no picture, of each that has none


def cases(
    found: Comparison,
    a: str,
    b: str,
    items: Sequence[Item],
    judged: Mapping[str, Mapping[int, JudgedRun]],
) -> list[Case]:
    """Half of them from either end, those that can be drawn first."""
    moved = item_weights(found, a, b)  # (seeds, items)
    weights = moved.mean(0)
    seeds, *_ = matched(found.by_name[a], found.by_name[b])
    pairs = [(judged[a][seed], judged[b][seed]) for seed in seeds]
    if not pairs:
        pairs = list(zip(judged[a].values(), judged[b].values(), strict=False))
    rows = sorted(  # of equals the shortest: it is read at a glance
        _readable(items, weights), key=lambda row: (-abs(weights[row]), items[row].words)
    )
    chosen = [row for row in rows if weights[row] > 0][: SHOWN // 2]
    chosen += [row for row in rows if weights[row] < 0][: SHOWN // 2]
    made = []
    for row in chosen:
        runs = pairs[int(np.argmax(np.sign(weights[row]) * moved[:, row]))]
        answers = _answer(runs[0], row), _answer(runs[1], row)
        made.append(Case(row, float(weights[row]), runs, answers))
    return made


def _readable(items: Sequence[Item], weights: np.ndarray) -> list[int]:
    """Those that differ, short ones if there are enough of them."""
    differing = [row for row in range(len(items)) if weights[row]]
    for longest in LONGEST:
        short = [row for row in differing if 0 < items[row].words <= longest]
        if len(short) >= SHOWN:
            return short
    return differing


def item_weights(found: Comparison, a: str, b: str) -> np.ndarray:
    """(seeds, items): how much better the answer of a is; where single answers are not good or bad, how much
    more it does for the measure. 0 where the same is counted of both.
    """
    _, one, other = matched(found.by_name[a], found.by_name[b])
    moved = _worth(found.measure, one) - _worth(found.measure, other)
    moved[(np.abs(moved) < NOTHING) | (one == other).all(-1)] = 0.0
    return -moved if found.measure.error else moved


def _worth(measure: Measure, counts: np.ndarray) -> np.ndarray:
    """(seeds, items, K) -> (seeds, items)"""
    merits = measure.merits(counts)
    if merits is None:
        merits = influence(counts, measure.value) + measure.value(counts.sum(1))[:, None]
    return merits


def with_records(
    case: Case, load: Callable[[Path], LoadedRun], names: tuple[str, str], examples: Sequence[Any]
) -> Case:
    """The case with what each run attends to; where a run shows nothing, why."""
    records: list[AttentionRecord | None] = []
    why: list[str] = []
    for judged, name in zip(case.runs, names, strict=True):
        run = load(judged.path)
        try:
            question = Question(asked_line(run.task, examples[case.row]), details=False)
            records.append(run.task.look(run.module, question, model=name))
        except (BadQuestion, Unanswerable, NotARecord, NotImplementedError) as error:
            records.append(None)
            why.append(f"{name}: {error}")
    return replace(case, records=(records[0], records[1]), why_not=tuple(why))


def _answer(run: JudgedRun, row: int) -> str:
    return in_words(run.answers[row]) if len(run.answers) else ""
