"""From the recipe's `task` section to what a run needs of it."""

from __future__ import annotations

from typing import Any

from regard.training.recipe import Recipe
from regard.training.tasks.classifying import ClassifyRun
from regard.training.tasks.masking import MaskedRun
from regard.training.tasks.modelling import LanguageRun
from regard.training.tasks.run_task import RunTask
from regard.training.tasks.translating import TranslateRun

RUN_TASKS: dict[str, type[RunTask[Any]]] = {
    "translate": TranslateRun,
    "classify": ClassifyRun,
    "language": LanguageRun,
    "masked": MaskedRun,
}


def task_of(recipe: Recipe) -> RunTask[Any]:
    return RUN_TASKS[recipe.task.kind](recipe)
