"""How far methods of explanation explain the answers of a run to a corpus, in one table.

found = explain_corpus(regard.load("runs/zh-en"), limit=100)
print(found.text)
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.explanations.attributions import METHODS
from regard.explanations.corpus_faithfulness import (
    RANDOM,
    CorpusFaithfulness,
    Interval,
    MethodRow,
)
from regard.explanations.decoder_readings import differentiable
from regard.explanations.model_readings import Reading
from regard.records.question import BadQuestion
from regard.report.run_evaluation import corpus_examples
from regard.runs.loaded_run import LoadedRun
from regard.suggestions import meant
from regard.words import t

FEW = 20  # examples: percentiles of so few tell too little
LIMIT = 100  # examples, if nobody says how many
TOGETHER = 8  # examples that are answered side by side
Told = Callable[[int, int], None]  # of how many examples are done, and how many there are


@dataclass(frozen=True)
class ExplainedCorpus:
    """The table, and what it is of."""

    run: str
    task: str
    data: str
    there: int  # examples in the corpus
    wanted: int  # … that were to be explained
    items: int  # … that were
    answers: int
    seed: int
    rows: Sequence[MethodRow]
    missing: Sequence[str]  # methods that this model does not have

    @property
    def interrupted(self) -> bool:
        return self.items < self.wanted

    @property
    def text(self) -> str:
        """For a terminal: a line for each method."""
        heads = [
            t("method"),
            t("comprehensiveness ↑"),
            t("sufficiency ↓"),
            t("τ leave one out"),
            t("τ attention"),
            t("s/example"),
        ]
        lines = [heads, *map(_cells, self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        what = t(
            "{run}, {data}: {items} of {there} examples, {answers} answers; mean [95 % interval]",
            run=self.run,
            data=self.data,
            items=f"{self.items:,}",
            there=f"{self.there:,}",
            answers=f"{self.answers:,}",
        )
        notes = [t("* surely better than random tokens")]
        if self.items < FEW:
            notes = [
                t(
                    "* better than random tokens so far: fewer than {few} examples are not enough "
                    "to be sure",
                    few=FEW,
                )
            ]
        if self.missing:
            notes.append(t("not in this model: {methods}", methods=", ".join(self.missing)))
        return "\n".join([what, "", *table, "", *notes])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "run": self.run,
            "task": self.task,
            "data": self.data,
            "examples": {"there": self.there, "wanted": self.wanted, "explained": self.items},
            "answers": self.answers,
            "interrupted": self.interrupted,
            "seed": self.seed,
            "missing": list(self.missing),
            "methods": [
                {
                    "name": row.name,
                    **{name: found.to_dict() for name, found in row.columns.items()},
                    "beyond_random": {n: each.to_dict() for n, each in row.beyond_random.items()},
                    "seconds": round(row.seconds, 4),
                }
                for row in self.rows
            ],
        }


def explain_corpus(
    run: LoadedRun,
    data: Spec | None = None,
    *,
    methods: Sequence[str] = METHODS,
    limit: int = LIMIT,
    seed: int = 0,
    problems: Problems | None = None,
    told: Told = lambda done, count: None,
) -> ExplainedCorpus:
    """Explain the answers of a run to a corpus: its test set, or its dev set, if none is given.

    limit: so many examples, drawn with the seed, in their order. Ctrl-C ends it, and the table is of what was
    done until then.
    """
    check_methods(methods)
    spec, examples = corpus_examples(run, data, problems)
    chosen = sorted(random.Random(seed).sample(range(len(examples)), min(limit, len(examples))))
    table = CorpusFaithfulness(methods, seed=seed)
    empty = 0
    try:
        with run.module.inference(), differentiable():
            for reading in _readings(run, [examples[place] for place in chosen]):
                if reading is None:
                    empty += 1
                else:
                    table.add(reading)
                told(table.items + empty, len(chosen))
    except KeyboardInterrupt:
        if not table.items:
            raise
    if not table.items:
        raise BadQuestion(
            t("there is nothing to explain in {spec}: its texts are empty", spec=spec)
        )
    rows = table.rows()
    there = {row.name for row in rows}
    return ExplainedCorpus(
        str(run.folder.path.name),
        run.recipe.task.kind,
        str(spec),
        len(examples),
        len(chosen) - empty,
        table.items,
        table.answers,
        seed,
        rows,
        [name for name in methods if name not in there],
    )


def check_methods(methods: Sequence[str]) -> None:
    for name in methods:
        if name not in METHODS:
            raise BadQuestion(
                t(
                    "there is no method {name}.{meant} There is {methods}",
                    name=repr(name),
                    meant=meant(name, METHODS),
                    methods=", ".join(METHODS),
                )
            )
    if not methods:
        raise BadQuestion(t("name a method or more: {methods}", methods=", ".join(METHODS)))


def _readings(run: LoadedRun, examples: Sequence[Any]) -> Iterator[Reading | None]:
    for first in range(0, len(examples), TOGETHER):
        yield from run.task.readings(run.module, examples[first : first + TOGETHER])


def _cells(row: MethodRow) -> list[str]:
    name = t("random tokens") if row.name == RANDOM else row.name
    columns = [
        _cell(row.columns.get(column)) + "*" * row.better(column)
        for column in ("comprehensiveness", "sufficiency", "tau_leave_one_out", "tau_attention")
    ]
    return [name, *columns, "" if row.name == RANDOM else f"{row.seconds:.2f}"]


def _cell(found: Interval | None) -> str:
    """0.31 [0.29, 0.33]"""
    if found is None or found.mean != found.mean:
        return "–"
    mean, low, high = (f"{round(x, 2) + 0.0:.2f}".replace("-", "−") for x in found[:3])
    return f"{mean} [{low}, {high}]"
