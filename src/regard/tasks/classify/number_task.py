"""A number for what is read: how strong a feeling is, what a series goes on with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import nn

from regard.data.fields import Numbers
from regard.measures.correlation import Pearson
from regard.measures.errors import MeanAbsoluteError, MeanSquaredError
from regard.measures.measure import Measure
from regard.tasks.answer import Answer, Examples
from regard.tasks.classify.judge import Judgement
from regard.tasks.classify.judge_task import JudgeTask
from regard.tasks.classify.number_module import Estimate


class NumberTask(JudgeTask):
    columns: ClassVar = ("mean_absolute_error", "mean_squared_error", "pearson")
    command: ClassVar = "predict"
    learns: ClassVar = "tokenizer and numbers"

    target: Numbers

    def make_target(self) -> Numbers:
        return Numbers("number", size=1, standardise=True)

    def for_training(self, model: nn.Module) -> Estimate:
        return Estimate(model, self.source, self.target)

    def predict(
        self,
        module: Estimate,
        examples: Examples,
        *,
        attention: bool = False,
        batch: int,
    ) -> list[Answer]:
        def said(found: Judgement) -> tuple[float, None]:
            return self.target.original(found.outputs).item(), None

        return self.judgements(module, examples, said, attention=attention, batch=batch)

    def wanted(self, example: Any) -> float:
        return float(example["number"].item())

    def measured_by(self) -> Sequence[Measure]:
        return MeanAbsoluteError(), MeanSquaredError(), Pearson()
