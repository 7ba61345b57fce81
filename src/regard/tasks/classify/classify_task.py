"""Classification: what is read and its label, accuracy, macro-F1 and what is taken for what."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from torch import nn

from regard.clock import clock
from regard.data.examples import Example
from regard.data.fields import Label, Text
from regard.measures import Confusion, MeasuredScore
from regard.measures.accuracy import Accuracy
from regard.measures.macro_f1 import MacroF1
from regard.measures.measure import Measure
from regard.tasks.answer import Answer
from regard.tasks.classify.classify_module import Classification, Classify
from regard.tasks.classify.judge_task import JudgeTask
from regard.tasks.evaluation import Evaluation, listed, on_set
from regard.tasks.report_part import Drawing, NextStep, ReportPart
from regard.tasks.task import Tally, Validation, last
from regard.view.confusion_chart import confusion_section, confusion_text
from regard.view.samples import Sample, SampleNames
from regard.view.shaded_words import shaded_words
from regard.words import say_plural, t

SAMPLES = 8  # texts shown
Chances: TypeAlias = Mapping[str, float]  # log p of every label


@dataclass(frozen=True)
class ClassifyEvaluation(Evaluation):
    """How well a run labels one corpus."""

    corpus: str
    noun: str
    examples: Sequence[Example]
    chances: Sequence[Chances]
    confusion: Confusion
    loss: float  # nats per example
    seconds: float  # of classifying

    @property
    def text(self) -> str:
        return t(
            "accuracy {accuracy} %, macro-F1 {macro_f1} %, loss {loss}  ({count} {noun} of {corpus}, "
            "classified in {time})",
            accuracy=f"{100 * self.confusion.accuracy:.2f}",
            macro_f1=f"{100 * self.confusion.macro_f1:.2f}",
            loss=f"{self.loss:.4f}",
            count=f"{len(self.examples):,}",
            noun=say_plural(len(self.examples), self.noun[:-1], self.noun),
            corpus=self.corpus,
            time=clock(self.seconds),
        )

    @property
    def table(self) -> str:
        return confusion_text(self.confusion)

    def to_dict(self) -> dict[str, Any]:
        labels = self.confusion.labels
        return {
            "corpus": self.corpus,
            self.noun: len(self.examples),
            "accuracy": self.confusion.accuracy,
            "macro_f1": self.confusion.macro_f1,
            "loss": self.loss,
            "labels": labels,
            "confusion": [[self.confusion.count(a, b) for b in labels] for a in labels],
            "f1": {label: self.confusion.f1(label) for label in labels},
            "seconds": self.seconds,
        }


class ClassifyTask(JudgeTask):
    columns: ClassVar = ("accuracy", "macro_f1")
    learns: ClassVar = "tokenizer and labels"

    target: Label

    def make_target(self) -> Label:
        return Label("label")

    def for_training(self, model: nn.Module) -> Classify:
        smoothing = self.recipe.training.label_smoothing
        return Classify(model, self.source, self.target.labels, label_smoothing=smoothing)

    def predict(
        self,
        module: Classify,
        examples: Sequence[Mapping[str, Any]],
        *,
        attention: bool = False,
        batch: int,
    ) -> list[Answer]:
        values = self.read_values(examples)
        found = module.classify_values(values, attention=attention, batch=batch)
        end = ["EOS"] if isinstance(self.source, Text) else []
        return [_answer(one, end) for one in found]

    def drawn(self, answer: Answer) -> str:
        """The label, its probability, and the words that it came from."""
        line = answer.line if answer.score is None else f"{answer.line}  {answer.score:.4f}"
        if answer.attention is None:
            return line
        weights = answer.attention[0].tolist()
        read = len(answer.columns) - isinstance(self.source, Text)  # the end is no word
        return f"{line}\n{shaded_words(answer.columns[:read], weights[:read])}"

    # how good it is

    def measured_by(self) -> Sequence[Measure]:
        return Accuracy(), MacroF1(self.target.labels)

    def tally(self, module: Classify, examples: Sequence[Example]) -> Tally:
        found = self._chances(module, examples)
        return Tally((_nll(examples, found),), [likeliest(each) for each in found])

    def validation(self, found: Tally, examples: Sequence[Example]) -> Validation:
        return Validation(found.counts[0] / len(examples), self.measure(found.answers, examples))

    def measures_line(self, found: Validation) -> str:
        of = found.measures
        return t(
            "accuracy {accuracy} %, macro-F1 {macro_f1} %",
            accuracy=f"{100 * of['accuracy']:.2f}",
            macro_f1=f"{100 * of['macro_f1']:.2f}",
        )

    def evaluate(
        self, module: Classify, corpus: str, examples: Sequence[Example], *, beam: int | None = None
    ) -> ClassifyEvaluation:
        start = time.monotonic()
        found = self._chances(module, examples)
        wanted = [example["label"] for example in examples]
        return ClassifyEvaluation(
            corpus=corpus,
            noun=self.noun,
            examples=examples,
            chances=found,
            confusion=Confusion.of(wanted, [likeliest(each) for each in found]),
            loss=_nll(examples, found) / len(examples),
            seconds=time.monotonic() - start,
        )

    def _chances(self, module: Classify, examples: Sequence[Example]) -> list[Chances]:
        found = module.judge(self.read_values(examples), batch=self.recipe.search.batch)
        return [module.log_probs(one) for one in found]

    def report(self, module: Classify, found: Mapping[str, Any], folder: Path) -> ReportPart:
        scores = [
            t(
                "{share} % of {count} {set} {noun} right",
                share=f"{100 * one.confusion.accuracy:.1f}",
                count=f"{len(one.examples):,}",
                set=name,
                noun=self.called(len(one.examples)),
            )
            for name, one in found.items()
        ]
        one = last(found)
        confusions = {name: one.confusion for name, one in found.items()}
        drawn = Drawing(t("What is taken for what"), confusion_section(confusions))
        return ReportPart(
            verdict=listed(scores),
            scores=() if one is None else _scores(one.confusion),
            facts={on_set(name, t("loss")): f"{one.loss:.4f}" for name, one in found.items()},
            drawings=[drawn] if found else (),
            samples=() if one is None else _samples(module, one),
            sample_names=SampleNames(
                t("Most confidently wrong"), t("text"), t("label"), t("answer")
            ),
            next_steps=[
                NextStep(
                    f"regard classify -m {folder}", t("Label texts of your own, line by line.")
                ),
                NextStep(
                    f"regard evaluate -m {folder} --data TEXTS,LABELS",
                    t("Score it on another test set."),
                ),
            ],
        )


def likeliest(chances: Chances) -> str:
    return max(chances, key=chances.__getitem__)


def _answer(found: Classification, end: Sequence[str]) -> Answer:
    weights = None if found.attention is None else found.attention[None]
    columns = [*found.tokens.pieces, *end]
    return Answer(found.text, found.label, found.probability, weights, [found.label], columns)


def _nll(examples: Sequence[Example], found: Sequence[Chances]) -> float:
    pairs = zip(examples, found, strict=True)
    return -sum(chances[example["label"]] for example, chances in pairs)


def _scores(found: Confusion) -> tuple[MeasuredScore, MeasuredScore]:
    right = t("{right} of {count} texts", right=f"{found.correct:,}", count=f"{found.total:,}")
    mean = t("mean of {count} labels", count=f"{len(found.labels):,}")
    return (
        MeasuredScore(t("Accuracy, %"), 100 * found.accuracy, right),
        MeasuredScore(t("Macro-F1, %"), 100 * found.macro_f1, mean),
    )


def _samples(module: Classify, found: ClassifyEvaluation) -> list[Sample]:
    """The wrong answers that the model was surest of."""
    wrong = [
        (chances[answer], example)
        for example, chances in zip(found.examples, found.chances, strict=True)
        if (answer := likeliest(chances)) != example["label"]
    ]
    worst = [example for _, example in sorted(wrong, key=lambda each: -each[0])[:SAMPLES]]
    values = [example[module.given.name] for example in worst]
    answers = module.classify_values(values, attention=True)
    return [_sample(example, answer) for example, answer in zip(worst, answers, strict=True)]


def _sample(example: Example, answer: Classification) -> Sample:
    weights = [] if answer.attention is None else answer.attention.tolist()
    places = answer.tokens.offsets
    return Sample(
        source=answer.text,
        hypothesis=answer.label,
        reference=example["label"],
        scores={
            f"p({label})": answer.probabilities[label] for label in (answer.label, example["label"])
        },
        marks=[(*place, weight) for place, weight in zip(places, weights, strict=False)],
    )
