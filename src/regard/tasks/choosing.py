"""From the recipe's `task` section to what a run needs of it."""

from __future__ import annotations

from typing import Any

from regard.recipe.recipe import Recipe
from regard.tasks.classifying import ClassifyRun
from regard.tasks.masking import MaskedRun
from regard.tasks.modelling import LanguageRun
from regard.tasks.run_task import RunTask
from regard.tasks.translating import TranslateRun

RUN_TASKS: dict[str, type[RunTask[Any]]] = {
    "translate": TranslateRun,
    "classify": ClassifyRun,
    "language": LanguageRun,
    "masked": MaskedRun,
}


def task_of(recipe: Recipe) -> RunTask[Any]:
    return RUN_TASKS[recipe.task.kind](recipe)
