"""Classification: texts and their labels, accuracy, macro-F1 and what is taken for what."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from torch import nn

from regard.clock import clock
from regard.data.examples import Example
from regard.data.fields import Field, Label, Text
from regard.measures import Confusion, MeasuredScore
from regard.measures.accuracy import Accuracy
from regard.measures.macro_f1 import MacroF1
from regard.measures.measure import Measure
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer
from regard.tasks.classify.classify_module import Classification, Classify
from regard.tasks.evaluation import Evaluation, listed, on_set
from regard.tasks.report_part import Drawing, NextStep, ReportPart
from regard.tasks.task import Extent, Tally, Task, Validation, last
from regard.view.confusion_chart import confusion_section, confusion_text
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 8  # texts shown


@dataclass(frozen=True)
class ClassifyEvaluation(Evaluation):
    """How well a run labels one corpus."""

    corpus: str
    examples: Sequence[Example]
    predictions: Sequence[Classification]
    confusion: Confusion
    loss: float  # nats per text
    seconds: float  # of classifying

    @property
    def text(self) -> str:
        return t(
            "accuracy {accuracy} %, macro-F1 {macro_f1} %, loss {loss}  ({count} texts of {corpus}, "
            "classified in {time})",
            accuracy=f"{100 * self.confusion.accuracy:.2f}",
            macro_f1=f"{100 * self.confusion.macro_f1:.2f}",
            loss=f"{self.loss:.4f}",
            count=f"{len(self.examples):,}",
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
            "texts": len(self.examples),
            "accuracy": self.confusion.accuracy,
            "macro_f1": self.confusion.macro_f1,
            "loss": self.loss,
            "labels": labels,
            "confusion": [[self.confusion.count(a, b) for b in labels] for a in labels],
            "f1": {label: self.confusion.f1(label) for label in labels},
            "seconds": self.seconds,
        }


class ClassifyTask(Task):
    columns: ClassVar = ("accuracy", "macro_f1")
    inputs: ClassVar = ("text",)
    noun: ClassVar = "texts"
    scored: ClassVar = "texts"
    command: ClassVar = "classify"
    verb: ClassVar = "classify"
    learns: ClassVar = "tokenizer and labels"

    text: Text
    label: Label

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.recipe.tokenizer.source, self.recipe.data.max_length
        self.text = Text("text", **given.model_dump(), max_length=longest, cut=True)
        self.label = Label("label")
        return self.text, self.label

    def for_training(self, model: nn.Module) -> Classify:
        return Classify(
            model,
            self.text.tokenizer,
            self.label.labels,
            label_smoothing=self.recipe.training.label_smoothing,
            max_length=self.recipe.data.max_length,
        )

    def predict(
        self,
        module: Classify,
        examples: Sequence[Mapping[str, Any]],
        *,
        attention: bool = False,
        batch: int,
    ) -> list[Answer]:
        texts = [example["text"] for example in examples]
        return [_answer(one) for one in module.classify(texts, attention=attention, batch=batch)]

    # how good it is

    def measured_by(self) -> Sequence[Measure]:
        return Accuracy(), MacroF1(self.label.labels)

    def tally(self, module: Classify, examples: Sequence[Example]) -> Tally:
        found = self._classified(module, examples)
        return Tally((_nll(examples, found),), [one.label for one in found])

    def validation(self, found: Tally, examples: Sequence[Example]) -> Validation:
        confusion = Confusion.of([example["label"] for example in examples], found.answers)
        measures = {"accuracy": confusion.accuracy, "macro_f1": confusion.macro_f1}
        return Validation(found.counts[0] / len(examples), measures)

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
        found = self._classified(module, examples)
        wanted = [example["label"] for example in examples]
        return ClassifyEvaluation(
            corpus=corpus,
            examples=examples,
            predictions=found,
            confusion=Confusion.of(wanted, [one.label for one in found]),
            loss=_nll(examples, found) / len(examples),
            seconds=time.monotonic() - start,
        )

    def _classified(self, module: Classify, examples: Sequence[Example]) -> list[Classification]:
        texts = [example["text"] for example in examples]
        return module.classify(texts, batch=self.recipe.search.batch)

    def report(self, module: Classify, found: Mapping[str, Any], folder: Path) -> ReportPart:
        scores = [
            t(
                "{share} % of {count} {set} texts right",
                share=f"{100 * one.confusion.accuracy:.1f}",
                count=f"{len(one.examples):,}",
                set=name,
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

    # what it looks at

    def look_extent(self, question: Question) -> Extent:
        return self.extent({"text": question.text})._replace(explain=question.explain)

    def look(self, module: Classify, question: Question, *, model: str = "") -> AttentionRecord:
        from regard.tasks.classify.classify_look import look_at_classification

        return look_at_classification(
            module, question, model=model, language=self.recipe.data.source
        )


def _answer(found: Classification) -> Answer:
    weights = None if found.attention is None else found.attention[None]
    columns = [*found.tokens.pieces, "EOS"]
    return Answer(found.text, found.label, found.probability, weights, [found.label], columns)


def _nll(examples: Sequence[Example], found: Sequence[Classification]) -> float:
    pairs = zip(examples, found, strict=True)
    return -sum(one.log_probs[example["label"]] for example, one in pairs)


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
        (one.probability, example)
        for example, one in zip(found.examples, found.predictions, strict=True)
        if one.label != example["label"]
    ]
    worst = [example for _, example in sorted(wrong, key=lambda each: -each[0])[:SAMPLES]]
    answers = module.classify([example["text"] for example in worst], attention=True)
    return [_sample(example, answer) for example, answer in zip(worst, answers, strict=True)]


def _sample(example: Example, answer: Classification) -> Sample:
    weights = [] if answer.attention is None else answer.attention.tolist()
    places = answer.tokens.offsets
    return Sample(
        source=example["text"],
        hypothesis=answer.label,
        reference=example["label"],
        scores={
            f"p({label})": answer.probabilities[label] for label in (answer.label, example["label"])
        },
        marks=[(*place, weight) for place, weight in zip(places, weights, strict=False)],
    )
