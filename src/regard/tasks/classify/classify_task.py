"""Classification: texts and their labels, accuracy, macro-F1 and what is taken for what."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from torch import nn

from regard.data.examples import Example
from regard.data.fields import Field, Label, Text
from regard.measures import Confusion
from regard.measures.accuracy import Accuracy
from regard.measures.macro_f1 import MacroF1
from regard.measures.measure import Measure
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.tasks.answer import Answer
from regard.tasks.classify.classify_module import Classification, Classify
from regard.tasks.evaluation import Measured
from regard.tasks.report_part import Drawing, NextStep
from regard.tasks.task import Extent, Tally, Task
from regard.view.confusion_chart import confusion_section, confusion_text
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 8  # texts shown


@dataclass(frozen=True)
class ClassifyEvaluation(Measured):
    """How well a run labels one corpus."""

    @property
    def confusion(self) -> Confusion:
        return Confusion.of([example["label"] for example in self.examples], self.answers)

    @property
    def table(self) -> str:
        return confusion_text(self.confusion)

    def to_dict(self) -> dict[str, Any]:
        found = self.confusion
        labels = found.labels
        return {
            **super().to_dict(),
            "labels": labels,
            "confusion": [[found.count(a, b) for b in labels] for a in labels],
            "f1": {label: found.f1(label) for label in labels},
        }


class ClassifyTask(Task):
    columns: ClassVar = ("accuracy", "macro_f1")
    inputs: ClassVar = ("text",)
    noun: ClassVar = "texts"
    scored: ClassVar = "texts"
    command: ClassVar = "classify"
    verb: ClassVar = "classify"
    learns: ClassVar = "tokenizer and labels"
    evaluation: ClassVar = ClassifyEvaluation

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

    def tally(
        self, module: Classify, examples: Sequence[Example], *, beam: int | None = None
    ) -> Tally:
        """The loss is that of the answers: the texts are read once."""
        start = time.monotonic()
        texts = [example["text"] for example in examples]
        found = module.classify(texts, batch=self.recipe.search.batch)
        pairs = zip(examples, found, strict=True)
        nll = -sum(one.log_probs[example["label"]] for example, one in pairs)
        answers = [one.label for one in found]
        return Tally((nll, len(examples)), answers, time.monotonic() - start)

    def measured_by(self) -> Sequence[Measure]:
        return Accuracy(), MacroF1(self.label.labels)

    # what is said of it

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        confusions = {name: one.confusion for name, one in found.items()}
        return [Drawing(t("What is taken for what"), confusion_section(confusions))]

    def samples(self, module: Classify, one: ClassifyEvaluation) -> list[Sample]:
        """The wrong answers that the model was surest of."""
        wrong = [example for example, _ in self.wrong(one)]
        answers = module.classify([example["text"] for example in wrong], attention=True)
        pairs = zip(wrong, answers, strict=True)
        surest = sorted(pairs, key=lambda pair: -pair[1].probability)[:SAMPLES]
        return [_sample(*pair) for pair in surest]

    def sample_names(self) -> SampleNames:
        return SampleNames(t("Most confidently wrong"), t("text"), t("label"), t("answer"))

    def next_steps(self, folder: Path) -> list[NextStep]:
        own = t("Label texts of your own, line by line.")
        again = t("Score it on another test set.")
        return [
            NextStep(f"regard classify -m {folder}", own),
            NextStep(f"regard evaluate -m {folder} --data TEXTS,LABELS", again),
        ]

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
