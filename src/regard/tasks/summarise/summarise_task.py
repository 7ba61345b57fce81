"""Summaries: translation into fewer words of the same language, measured by ROUGE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from torch import nn

from regard.data.check.column_check import ExamplesSummary
from regard.data.check.pair_check import CorpusSummary
from regard.data.examples import Example
from regard.data.fields import CopiedText, Field, Text
from regard.data.problems import Problems
from regard.data.spec import Spec
from regard.measures import MeasuredScore
from regard.measures.measure import Measure
from regard.measures.rouge import Rouge1, Rouge2, RougeL, rouge_words
from regard.recipe.mistakes import RecipeError
from regard.tasks.evaluation import Measured
from regard.tasks.report_part import Drawing, NextStep
from regard.tasks.summarise.summarise_module import Summarise
from regard.tasks.summarise.summarise_options import SummariseOptions
from regard.tasks.summarise.summary_evaluation import SummaryEvaluation
from regard.tasks.summarise.told_lengths import told_length
from regard.tasks.task_report import TaskReport
from regard.tasks.translate.translate_loss import Translate
from regard.tasks.translate.translate_task import TranslateTask
from regard.view.samples import SampleNames
from regard.words import t


class SummariseTask(TranslateTask):
    """Both sides share a vocabulary. Of a long source the first `data.max_length` tokens are read."""

    columns: ClassVar[tuple[str, ...]] = ("perplexity", "accuracy", "rouge1", "rouge2", "rougeL")
    command: ClassVar = "predict"
    verb: ClassVar = "summarise"
    evaluated_with: ClassVar[tuple[str, ...]] = ("beam",)
    evaluation: ClassVar[type[Measured]] = SummaryEvaluation
    trained: ClassVar[type[Translate]] = Summarise
    shared = True

    def make_fields(self) -> Sequence[Field]:
        given, longest = self.recipe.tokenizer.target.model_dump(), self.recipe.data.max_length
        common: dict[str, Any] = {**given, "max_length": longest, "file": "tokenizer.json"}
        if not self._copies:
            self.source = Text("source", **common, cut=True)
            self.target = Text("target", **common, bos=True)
        else:
            self.source = CopiedText("source", **common, cut=True)
            self.target = CopiedText("target", source=self.source, **common, bos=True)
        return self.source, self.target

    @property
    def _copies(self) -> bool:
        return bool(getattr(self.recipe.model, "copies", False))

    # the data

    def read(self, spec: Spec, problems: Problems | None = None) -> Iterator[Example]:
        return map(self._told, super().read(spec, problems))

    def _joined(self, spec: Spec, problems: Problems | None, join: int) -> Iterator[Example]:
        return map(self._told, super()._joined(spec, problems, join))

    @property
    def made_by(self) -> list[int | str | None]:
        return [*super().made_by, *self._lengths]

    @property
    def _lengths(self) -> list[int]:
        task = self.recipe.task
        assert isinstance(task, SummariseOptions)
        return task.lengths

    def _told(self, example: Example) -> Example:
        """With the length of its summary, if lengths are told."""
        target = example.get("target")
        if not self._lengths or target is None:
            return example
        words = len(rouge_words(target, self.recipe.data.target))
        source = told_length(example["source"], words, self._lengths)
        return replace(example, fields={**example.fields, "source": source})

    def check(
        self, spec: Spec, *, learnt: bool = False, train: Spec | None = None
    ) -> ExamplesSummary | CorpusSummary:
        return TaskReport.check(self, spec, learnt=learnt, train=train)

    # the model

    def for_training(self, model: nn.Module) -> Summarise:
        if self._copies and self.recipe.training.label_smoothing:
            raise RecipeError(
                t(
                    "training.label_smoothing spreads over all tokens, and most words that a model "
                    "could copy are not in a source"
                ),
                "training.label_smoothing=0",
            )
        module = super().for_training(model)
        assert isinstance(module, Summarise)
        module.longest = self.recipe.data.max_length
        return module

    def for_inference(self, model: nn.Module) -> Summarise:
        return self.for_training(model)

    def tune(self, module: Summarise, examples: Sequence[Any]) -> bool:
        """The weights of extractive features, if the model has some."""
        if getattr(module.model.decoder, "extractive", None) is None or not examples:
            return False
        from regard.tasks.summarise.extractive_weights import tune_extractive

        name = self.recipe.training.metric
        measure = next((one for one in self.measured_by() if one.name == name), Rouge1())
        tune_extractive(module, examples, measure, self.recipe, self.batch_for(module))
        return True

    # how good it is

    def measured_by(self) -> Sequence[Measure]:
        return tuple(one(self.recipe.data.target) for one in (Rouge1, Rouge2, RougeL))

    # what is said of it

    def verdict(self, name: str, one: Any) -> str:
        return TaskReport.verdict(self, name, one)

    def scores(self, one: Any) -> Sequence[MeasuredScore]:
        rouge = [one.name for one in self.measured_by()]
        every = zip(one.measures, TaskReport.scores(self, one), strict=True)
        return [score for name, score in every if name in rouge]

    def drawings(self, found: Mapping[str, Any]) -> Sequence[Drawing]:
        return ()

    def sample_names(self) -> SampleNames:
        return SampleNames(t("Summaries"), t("source"), t("reference"), t("summary"))

    def next_steps(self, folder: Path) -> list[NextStep]:
        own = t("Summarise texts of your own, line by line.")
        seen = t("See what each word looks at, and whether that is an explanation.")
        again = t("Score it on another test set.")
        return [
            NextStep(f"regard predict -m {folder} TEXT", own),
            NextStep(f"regard look -m {folder} TEXT", seen),
            NextStep(f"regard evaluate -m {folder} --data SPEC", again),
        ]
