"""What a task says in the report of a run, part by part: each has a default, from the measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from regard.measures.measure import Measure
from regard.measures.translation import MeasuredScore
from regard.records.png_image import PngImage
from regard.tasks.answer import answer_parts
from regard.tasks.asked_line import asked_line, is_picture
from regard.tasks.evaluation import last, listed, measure_name, on_set, set_name, with_beam
from regard.tasks.judged_items import worst_first
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
        samples = () if one is None else self.samples(module, one)
        names = self.sample_names()
        if not samples and one is not None and (right := self._right(one)):
            samples, names = right, replace(names, title=t("Examples"))
        return ReportPart(
            verdict=listed(said),
            scores=() if one is None else self.scores(one),
            facts={on_set(name, fact): value for name, (fact, value) in facts},
            drawings=self.drawings(found) if found else (),
            samples=samples,
            sample_names=names,
            worst=() if one is None else self.worst(module, one),
            worst_names=self.worst_names(),
            next_steps=self.next_steps(folder),
        )

    def measured_by(self) -> Sequence[Measure]:
        """The measures of answers."""
        return ()

    def verdict(self, name: str, one: Any) -> str:
        """How good it is on one set, in half a sentence."""
        count = len(one.examples)
        return t(
            "{measures} on {count} {set} {noun}",
            measures=one.words,
            count=f"{count:,}",
            set=set_name(name),
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
        """Wrong answers, the worst first."""
        order = worst_first(one.items, [measure.name for measure in self.measured_by()])
        places = {id(one.examples[row]): place for place, row in enumerate(order)}
        wrong = sorted(self.wrong(one), key=lambda pair: places.get(id(pair[0]), 0))
        return [self.sample_of(*pair) for pair in wrong[:SAMPLES]]

    def _right(self, one: Any) -> list[Sample]:
        """Examples from all over, where no answer is wrong."""
        answered = len(getattr(one, "answers", ())) == len(one.examples)
        if not answered or not all(isinstance(example, Mapping) for example in one.examples):
            return []
        pairs = list(zip(one.examples, one.answers, strict=True))
        return [self.sample_of(*pair) for pair in spread(pairs, SAMPLES)]

    def worst(self, module: Any, one: Any) -> Sequence[Sample]:
        """The examples that were answered worst, of a task whose samples are others."""
        return ()

    def worst_names(self) -> SampleNames:
        names = self.sample_names()
        return replace(names, title=t("The worst of them"))

    def sample_of(self, example: Any, answer: Any) -> Sample:
        """With the line that asks about it, and its picture."""
        pictures = [example[name] for name in self.inputs if is_picture(example[name])]
        picture = PngImage.of(pictures[0]).source if pictures else ""
        line = asked_line(self, example)
        return replace(self._sample(example, answer), asked=line, picture=picture)

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
