"""What a task says in the report of a run, part by part: each has a default, from the measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from regard.measures.translation import MeasuredScore
from regard.tasks.answer import answer_parts
from regard.tasks.evaluation import last, listed, measure_name, on_set, with_beam
from regard.tasks.report_part import Drawing, NextStep, ReportPart, ReportScore, plain_names
from regard.tasks.task_corpus import TaskCorpus
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 8  # wrong answers shown


class TaskReport(TaskCorpus):
    """The second part of a `Task`. An evaluation is called `one` here; `found` are all, by their set."""

    command: ClassVar[str] = "predict"  # of the CLI, that uses such a run

    def report(self, module: Any, found: Mapping[str, Any], folder: Path) -> ReportPart:
        """This task's part of the report."""
        one = last(found)
        said = [self.verdict(name, each) for name, each in found.items()]
        facts = [(name, fact) for name, each in found.items() for fact in self.facts(each).items()]
        return ReportPart(
            verdict=listed(said),
            scores=() if one is None else self.scores(one),
            facts={on_set(name, fact): value for name, (fact, value) in facts},
            drawings=self.drawings(found) if found else (),
            samples=() if one is None else self.samples(module, one),
            sample_names=self.sample_names(),
            next_steps=self.next_steps(folder),
        )

    def verdict(self, name: str, one: Any) -> str:
        """How good it is on one set, in half a sentence."""
        count = len(one.examples)
        return t(
            "{measures} on {count} {set} {noun}",
            measures=one.words,
            count=f"{count:,}",
            set=name,
            noun=self.called(count),
        )

    def scores(self, one: Any) -> Sequence[MeasuredScore]:
        """The most important first."""
        return [self._score(one, name, one.corpus) for name in one.measures]

    def _score(self, one: Any, name: str, signature: str) -> ReportScore:
        """A measure as it is shown: with its beam, in per cent if it is a share, and with its interval."""
        factor, per_cent = (100, ", %") if name in one.task.shares else (1, "")
        found, ends = one.measures[name], one.intervals.get(name)
        return ReportScore(
            with_beam(f"{measure_name(name)}{per_cent}", one.beam if one.searched(name) else None),
            factor * found,
            signature,
            None if ends is None else (factor * ends[0], factor * ends[1]),
        )

    def facts(self, one: Any) -> Mapping[str, str]:
        return {t("loss"): f"{one.loss:.4f}"}

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        return ()

    def samples(self, module: Any, one: Any) -> Sequence[Sample]:
        """Wrong answers, the first of them."""
        return [self._sample(*pair) for pair in islice(self.wrong(one), SAMPLES)]

    def sample_names(self) -> SampleNames:
        return plain_names()

    def next_steps(self, folder: Path) -> Sequence[NextStep]:
        again = t("Score it on another test set.")
        return [
            NextStep(f"regard {self.command} -m {folder}", t("Use it, line by line.")),
            NextStep(f"regard evaluate -m {folder} --data SPEC", again),
        ]

    def wanted(self, example: Any) -> Any:
        """What the answer to an example should be."""
        values = [example[name] for name in self.fields if name not in self.inputs]
        return values[0] if len(values) == 1 else values

    def wrong(self, one: Any) -> Iterator[tuple[Any, Any]]:
        """The examples that were answered otherwise than wanted, and these answers."""
        pairs = zip(one.examples, one.answers, strict=True)
        return ((example, answer) for example, answer in pairs if answer != self.wanted(example))

    def _sample(self, example: Any, answer: Any) -> Sample:
        shown = "  ".join(self.fields[name].show(example[name]) for name in self.inputs)
        return Sample(shown, _plain(answer), _plain(self.wanted(example)))


def spread(items: Sequence[Any], count: int) -> Sequence[Any]:
    """So many of them, from all over."""
    return items[:: max(1, len(items) // count)][:count]


def _plain(value: Any) -> str:
    """An answer in one line."""
    return " ".join(answer_parts(value))
