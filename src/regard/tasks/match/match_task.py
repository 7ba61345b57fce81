"""Judging two texts: a label, a number, or a rank among the candidates of a question."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from torch import nn

from regard.data.batch import Batch
from regard.data.examples import Example
from regard.data.fields import Field, Label, Text
from regard.data.fields.numbers import Numbers
from regard.data.spec import Spec
from regard.measures import Confusion
from regard.measures.accuracy import Accuracy
from regard.measures.correlation import Pearson, Spearman
from regard.measures.measure import Measure
from regard.measures.ranking import MeanAveragePrecision, MeanReciprocalRank
from regard.recipe.mistakes import RecipeError
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer
from regard.tasks.evaluation import Measured
from regard.tasks.match.match_look import look_at_pair, with_pair_attention
from regard.tasks.match.match_module import Match
from regard.tasks.match.match_options import MatchOptions
from regard.tasks.report_part import Drawing, ReportPart
from regard.tasks.task import SAMPLES, Extent, Task, last
from regard.tasks.text_look import SeenAttention
from regard.view.confusion_chart import confusion_section, confusion_text
from regard.view.samples import Sample, SampleNames
from regard.words import t

MEASURES: Mapping[str, tuple[type[Measure], ...]] = {
    "label": (Accuracy,),
    "number": (Pearson, Spearman),
    "rank": (MeanAveragePrecision, MeanReciprocalRank),
}


@dataclass(frozen=True)
class MatchAnswer(Answer):
    """A label with its probability, a number, or the probability of being right."""

    @property
    def line(self) -> str:
        said = self.answer if isinstance(self.answer, str) else f"{self.answer:.4f}"
        return said if self.score is None else f"{said}\t{self.score:.4f}"


@dataclass(frozen=True)
class LabelledPairs(Measured):
    """How well a run labels the pairs of one corpus."""

    @property
    def confusion(self) -> Confusion:
        return Confusion.of([example["label"] for example in self.examples], self.answers)

    @property
    def table(self) -> str:
        return confusion_text(self.confusion)

    def to_dict(self) -> dict[str, Any]:
        found = self.confusion
        f1 = {label: found.f1(label) for label in found.labels}
        return {**super().to_dict(), "macro_f1": found.macro_f1, "f1": f1}


class MatchTask(Task):
    inputs: ClassVar = ("first", "second")
    apart: ClassVar = ("second",)
    noun: ClassVar = "pairs"
    scored: ClassVar = "pairs"
    learns: ClassVar = "tokenizer"
    verb: ClassVar = "match"

    first: Text
    second: Text
    judged: Label | Numbers

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(one.name for one in self.measured_by())

    @property
    def options(self) -> MatchOptions:
        assert isinstance(self.recipe.task, MatchOptions)
        return self.recipe.task

    def make_fields(self) -> Sequence[Field]:
        given = self.recipe.tokenizer.source
        settings = {"max_length": self.recipe.data.max_length, "cut": True, "eos": False}
        self.first = Text(
            "first",
            kind=given.kind,
            size=given.size,
            lowercase=given.lowercase,
            file="tokenizer.json",
            **settings,
        )
        self.second = Text("second", like=self.first, **settings)
        number = self.options.answer == "number"
        self.judged = Numbers("number", 1, standardise=True) if number else Label("label")
        return self.first, self.second, self.judged

    def learn(self, spec: Spec) -> None:
        """One tokenizer, of both texts."""
        self.first.learn(one[name] for one in self.read(spec) for name in self.inputs)
        self.judged.learn(one[self.judged.name] for one in self.read(spec))
        if self.options.answer == "rank" and self.options.right not in self._labels:
            named = ", ".join(self._labels)
            raise RecipeError(
                f"no candidate has the label {self.options.right!r}: there are {named}",
                "task.right is the label of the right ones",
            )

    @property
    def _labels(self) -> list[str]:
        assert isinstance(self.judged, Label)
        return self.judged.labels

    def for_training(self, model: nn.Module) -> Match:
        return Match(model, label_smoothing=self.recipe.training.label_smoothing)

    # what it answers

    def given(self, examples: Iterable[Any], *, files: bool = True) -> list[dict[str, Any]]:
        """Also `first TAB second`, and a mapping in JSON."""
        return super().given([_parted(example) for example in examples], files=files)

    def answers(self, module: Match, batch: Batch) -> Iterator[tuple[Any, float | None]]:
        outputs = module.outputs(batch).double().cpu()
        if isinstance(self.judged, Numbers):
            for number in self.judged.original(outputs)[:, 0].tolist():
                yield number, None
            return
        probabilities = outputs.softmax(-1)
        if self.options.answer == "rank":
            right = self.judged.number(self.options.right)
            for probability in probabilities[:, right].tolist():
                yield probability, None
            return
        for each in probabilities:
            best = int(each.argmax())
            yield self.judged.labels[best], float(each[best])

    def predict(
        self,
        module: Match,
        examples: Sequence[Mapping[str, Any]],
        *,
        attention: bool = False,
        batch: int,
    ) -> list[Answer]:
        """attention: what the words of the first text have of those of the second, or of a pooling both."""
        found: dict[int, Answer] = {}
        if not attention:
            return [
                MatchAnswer(one.input, one.answer, one.score)
                for one in super().predict(module, examples, batch=batch)
            ]
        with module.inference():
            for row, example in enumerate(examples):  # one by one: maps have no padding in them
                ((_, tensors),) = self.batches([example], module.device, inputs=True, batch=1)
                with SeenAttention.by(module.model) as seen:
                    ((answer, score),) = self.answers(module, tensors)
                plain = MatchAnswer(self.bare(example), answer, score)
                texts = [self._tokens(name, example) for name in self.inputs]
                found[row] = with_pair_attention(plain, seen, *texts)
        return [found[row] for row in range(len(examples))]

    def _tokens(self, name: str, example: Mapping[str, Any]) -> list[str]:
        field = self.fields[name]
        assert isinstance(field, Text)
        (tokens,) = field.tokens([example[name]])
        return list(tokens.pieces)

    # how good it is

    def wanted(self, example: Any) -> Any:
        match self.options.answer:
            case "number":
                return float(example["number"][0])
            case "rank":
                return self.first.identity(example["first"]), example["label"] == self.options.right
        return example["label"]

    def measured_by(self) -> Sequence[Measure]:
        return [measure() for measure in MEASURES[self.options.answer]]

    def evaluate(
        self, module: Match, corpus: str, examples: Sequence[Example], *, beam: int | None = None
    ) -> Measured:
        found = super().evaluate(module, corpus, examples)
        assert isinstance(found, Measured)
        return LabelledPairs(**vars(found)) if self.options.answer == "label" else found

    def report(self, module: Match, found: Mapping[str, Any], folder: Path) -> ReportPart:
        part = super().report(module, found, folder)
        one = last(found)
        if one is None:
            return part
        names = SampleNames(t("Pairs that are judged wrong"), t("pair"), t("wanted"), t("answer"))
        part = replace(part, sample_names=names, samples=self._worst(one))
        if self.options.answer != "label":
            return part
        confusions = {name: one.confusion for name, one in found.items()}
        drawn = Drawing(t("What is taken for what"), confusion_section(confusions))
        return replace(part, drawings=[drawn])

    def _worst(self, found: Measured) -> list[Sample]:
        """The pairs that are furthest from what was wanted."""
        off = [
            (self._off(self.wanted(example), answer), number)
            for number, (example, answer) in enumerate(
                zip(found.examples, found.answers, strict=True)
            )
        ]
        worst = sorted((one for one in off if one[0] > 0), key=lambda one: (-one[0], one[1]))
        return [
            self._sample(found.examples[number], found.answers[number])
            for _, number in worst[:SAMPLES]
        ]

    def _off(self, wanted: Any, answer: Any) -> float:
        match self.options.answer:
            case "number":
                return abs(wanted - answer)
            case "rank":
                return abs(float(wanted[1]) - answer)
        return float(wanted != answer)

    def _sample(self, example: Any, answer: Any) -> Sample:
        shown = " ⟷ ".join(self.fields[name].show(example[name]) for name in self.inputs)
        wanted = self.fields[self.judged.name].show(example[self.judged.name])
        return Sample(shown, MatchAnswer(None, answer).line, wanted)

    # what it looks at

    def look(self, module: Match, question: Question, *, model: str = "") -> AttentionRecord:
        return look_at_pair(self, module, question, model=model)

    def look_extent(self, question: Question) -> Extent:
        return self.extent(self.given([question.text])[0])


def _parted(example: Any) -> Any:
    if not isinstance(example, str):
        return example
    if example.count("\t") == 1:
        return dict(zip(MatchTask.inputs, example.split("\t"), strict=True))
    with suppress(ValueError, RecursionError):
        return json.loads(example) if example.lstrip().startswith("{") else example
    return example
