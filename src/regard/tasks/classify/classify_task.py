"""Classification: what is read and its label, accuracy, macro-F1 and what is taken for what."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from torch import nn

from regard.data.examples import Example
from regard.data.fields import Label, Text
from regard.explanations.model_readings import Reading
from regard.measures.accuracy import Accuracy
from regard.measures.macro_f1 import MacroF1
from regard.measures.measure import Measure
from regard.tasks.answer import Answer, Examples
from regard.tasks.asked_line import asked_line
from regard.tasks.classify.classify_module import Classification, Classify
from regard.tasks.classify.judge import Judgement
from regard.tasks.classify.judge_task import JudgeTask
from regard.tasks.classify.judged_input import positions_read
from regard.tasks.confused_labels import LabelEvaluation, confusion_drawings
from regard.tasks.report_part import Drawing, NextStep
from regard.tasks.task import Tally
from regard.tasks.task_module import Unanswerable
from regard.view.samples import Sample, SampleNames
from regard.words import t

SAMPLES = 8  # texts shown


class ClassifyTask(JudgeTask):
    columns: ClassVar = ("accuracy", "macro_f1")
    learns: ClassVar = "tokenizer and labels"
    probable: ClassVar = True
    evaluation: ClassVar = LabelEvaluation

    target: Label

    def make_target(self) -> Label:
        return Label("label")

    def for_training(self, model: nn.Module) -> Classify:
        smoothing = self.recipe.training.label_smoothing
        return Classify(model, self.source, self.target.labels, label_smoothing=smoothing)

    def predict(
        self, module: Classify, examples: Examples, *, attention: bool = False, batch: int
    ) -> list[Answer]:
        def said(found: Judgement) -> tuple[str, float]:
            chances = module.log_probs(found)
            label = max(chances, key=chances.__getitem__)
            return label, math.exp(chances[label])

        return self.judgements(module, examples, said, attention=attention, batch=batch)

    # how good it is

    def measured_by(self) -> Sequence[Measure]:
        return Accuracy(), MacroF1(self.target.labels)

    def tally(
        self, module: Classify, examples: Sequence[Example], *, beam: int | None = None
    ) -> Tally:
        """The loss is that of the answers: what is read is read once."""
        start = time.monotonic()
        found = module.judge(self.read_values(examples), batch=self.batch_for(module))
        chances = [module.log_probs(one) for one in found]
        nll = -sum(each[example["label"]] for each, example in zip(chances, examples, strict=True))
        answers = [max(each, key=each.__getitem__) for each in chances]
        return Tally((nll, len(examples)), answers, time.monotonic() - start)

    # what is said of it

    def readings(self, module: Classify, examples: Sequence[Any]) -> Iterator[Reading | None]:
        from regard.tasks.classify.classify_explain import ClassificationReading

        if not isinstance(self.source, Text):
            raise Unanswerable(
                t("labels of {noun} are not explained, those of texts are", noun=self.noun),
                t("regard look shows what they were made of"),
            )
        for tokens in positions_read(self.source, self.read_values(examples)):
            yield ClassificationReading(module, tokens.ids) if len(tokens) else None

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        return confusion_drawings(found)

    def samples(self, module: Classify, one: LabelEvaluation) -> list[Sample]:
        """The wrong answers that the model was surest of."""
        wrong = [example for example, _ in self.wrong(one)]
        answers = module.classify_values(self.read_values(wrong), attention=True)
        pairs = zip(wrong, answers, strict=True)
        surest = sorted(pairs, key=lambda pair: -pair[1].probability)[:SAMPLES]
        return [replace(_sample(*pair), asked=asked_line(self, pair[0])) for pair in surest]

    def sample_names(self) -> SampleNames:
        return SampleNames(t("Most confidently wrong"), t("text"), t("label"), t("answer"))

    def next_steps(self, folder: Path) -> list[NextStep]:
        own = t("Label texts of your own, line by line.")
        again = t("Score it on another test set.")
        return [
            NextStep(f"regard classify -m {folder}", own),
            NextStep(f"regard evaluate -m {folder} --data TEXTS,LABELS", again),
        ]


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
