"""What answering the same to everything scores: the least that a model has to be better than."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.data.fields import Label, Labels, Numbers
from regard.tasks.judged_items import ItemMean
from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.task import Task

FLAT = 0.01  # of the spread of what is wanted: answers that spread less are one answer


@dataclass(frozen=True)
class SimplestAnswer:
    """The most frequent label, or the mean of numbers, for every item alike."""

    said: str
    measures: Mapping[str, float]
    number: bool = False

    @property
    def name(self) -> str:
        """For people."""
        if self.number:
            return t("always answering the mean, {number}", number=self.said)
        return t("always answering {label}", label=self.said)


@dataclass(frozen=True)
class Baseline:
    """The simplest answer, and what the model does beside it."""

    simplest: SimplestAnswer
    one_answer: str | None = None  # what the model answers to everything; None: it tells them apart
    explained: float | None = None  # R² of its numbers

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: what is always answered, and what that scores."""
        beside = {"model_always_answers": self.one_answer, "model_r2": self.explained}
        known = {name: value for name, value in beside.items() if value is not None}
        return {"answer": self.simplest.said, **self.simplest.measures, **known}


def baseline_of(task: Task, examples: Sequence[Any], answers: Sequence[Any]) -> Baseline | None:
    """Of a model that gave these answers; None where nothing was answered, or nothing is simplest."""
    simplest = simplest_answer(task, examples) if answers else None
    if simplest is None:
        return None
    wanted = [task.wanted(example) for example in examples]
    one = one_answer(answers, wanted)
    share = explained(answers, wanted) if simplest.number and one is None else None
    return Baseline(simplest, one, share)


def simplest_answer(task: Task, examples: Sequence[Any]) -> SimplestAnswer | None:
    """Of these examples; None where an answer is neither a label, nor labels, nor a number."""
    target = [field for name, field in task.fields.items() if name not in task.inputs]
    known = len(target) == 1 and isinstance(target[0], Label | Labels | Numbers)
    by_task = any(
        isinstance(one, ItemMean) for one in task.measured_by()
    )  # it may answer otherwise
    if not examples or not known or by_task:
        return None
    wanted = [task.wanted(example) for example in examples]
    answer = _constant(wanted)
    if answer is None:
        return None
    answers = [[answer] * len(each) if isinstance(each, list) else answer for each in wanted]
    number = isinstance(answer, float)
    return SimplestAnswer(_said(answer), task.measure(answers, examples), number)


def one_answer(answers: Sequence[Any], wanted: Sequence[Any]) -> str | None:
    """What a model answers to everything, though more than that was wanted; None: it tells them apart."""
    said, asked = _parts(answers), _parts(wanted)
    if len(said) < 2 or len(set(asked)) < 2 or {type(each) for each in said} != {type(asked[0])}:
        return None
    if isinstance(said[0], float):
        near = statistics.pstdev(said) <= FLAT * statistics.pstdev(asked)
        return t("about {number}", number=_said(statistics.fmean(said))) if near else None
    return str(said[0]) if len(set(said)) == 1 and isinstance(said[0], str) else None


def explained(answers: Sequence[float], wanted: Sequence[float]) -> float | None:
    """R² = 1 − Σ (y − ŷ)² / Σ (y − mean)²: 0 of who always answers the mean; None: y never changes.

    >>> explained([1.0, 2.0, 2.0], [1.0, 2.0, 3.0])
    0.5
    """
    mean = statistics.fmean(wanted)
    spread = sum((y - mean) ** 2 for y in wanted)
    missed = sum((y - said) ** 2 for y, said in zip(wanted, answers, strict=True))
    return 1 - missed / spread if spread else None


def _constant(wanted: Sequence[Any]) -> str | float | None:
    parts = _parts(wanted)
    if not parts:
        return None
    if all(isinstance(each, float) for each in parts):
        return statistics.fmean(parts)
    if not all(isinstance(each, str) for each in parts):
        return None
    (label, _), *_ = Counter(sorted(parts)).most_common(1)
    return str(label)


def _parts(values: Sequence[Any]) -> list[Any]:
    """The labels of sequences one after the other; else the values."""
    return [
        part for each in values for part in (each if isinstance(each, list | tuple) else [each])
    ]


def _said(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
