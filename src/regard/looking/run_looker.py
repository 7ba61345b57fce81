"""A run of regard as one who answers questions with records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from regard.data.fields import Document, Image
from regard.explanations.explaining_work import explaining_work
from regard.explanations.model_work import ModelWork
from regard.recipe.recipe_files import UNDETERMINED
from regard.records.question import Question
from regard.records.record import AttentionRecord
from regard.runs.loaded_run import LoadedRun
from regard.search.settings import EXTRA_LENGTH
from regard.tasks.search_settings import search_settings
from regard.tasks.task import Extent, Task
from regard.tasks.text_look import asked_example


def look_at(run: LoadedRun, question: Question, *, name: str = "") -> AttentionRecord:
    """What a run attends to when it is asked this, whatever it was trained for.

    A text may be an example in JSON, as `predict` reads it: {"text": "…"}. name: what the run is called, if
    its own would not tell it from others.
    """
    if question.text.lstrip().startswith("{") and len(run.task.inputs) == 1:
        (value,) = asked_example(run.task, question.text).values()
        question = replace(question, text=value) if isinstance(value, str) else question
    return run.task.look(run.module, question, model=name or run.name)


def shows_pictures(task: Task) -> bool:
    """Whether a picture is all that it is asked about."""
    return len(task.inputs) == 1 and isinstance(task.fields[task.inputs[0]], Image)


class RunLooker:
    """Targets are not known yet: work is that of targets a little longer than their sources, as most are; for
    the size of a record they are counted as long as the search lets them become."""

    def __init__(self, run: LoadedRun, name: str = "") -> None:
        """name: what the run is called, if its own would not tell it from others."""
        self.run, self.costs = run, ModelWork.of(run.model)
        self.settings = search_settings(run.recipe)
        self._name = name

    @property
    def name(self) -> str:
        return self._name or self.run.name

    @property
    def pictures(self) -> bool:
        return shows_pictures(self.run.task)

    @property
    def searches(self) -> bool:
        return self.run.task.searches

    @property
    def reads_pictures(self) -> bool:
        return self._has(Image)

    @property
    def reads_documents(self) -> bool:
        return self._has(Document)

    @property
    def module(self) -> nn.Module:
        return self.run.module

    def with_module(self, module: nn.Module) -> RunLooker:
        run = self.run
        twin = LoadedRun(run.task, module, run.folder, step=run.step)  # type: ignore[arg-type]
        return RunLooker(twin, self._name)

    def look(self, question: Question) -> AttentionRecord:
        return look_at(self.run, question, name=self._name)

    def extent(self, question: Question) -> Extent:
        return self.run.task.look_extent(question)

    def work(self, look: Extent) -> float:
        target = self.expected(look.source) if look.target is None else look.target
        work = self.costs.reading(look.source, target, look.beam)
        work += self.costs.reading(look.source, target)  # what was found is read once more
        if look.explain:
            work += explaining_work(self.run.module.model.decoder, self.costs, look.source, target)
        return work

    def numbers(self, look: Extent) -> int:
        target = look.target or int(self.settings.limits(torch.tensor([look.source])))
        return self.costs.numbers(look.source, target, look.beam)

    def expected(self, source: int) -> int:
        """Tokens of a target whose source has so many."""
        return min(source + EXTRA_LENGTH, self.settings.max_length)

    def about(self) -> dict[str, Any]:
        from regard.looking.run_description import description

        recipe = self.run.recipe
        return {
            "task": recipe.task.kind,
            "kind": recipe.model.kind,
            "source": _known(recipe.data.source),
            "target": _known(recipe.data.target),
            **description(self.run),
        }

    def _has(self, kind: type[Any]) -> bool:
        task = self.run.task
        return any(isinstance(task.fields[name], kind) for name in task.inputs)


def _known(language: str) -> str:
    """Empty of what has no language, as pictures and labels."""
    return "" if language == UNDETERMINED else language
