"""From the recipe's `task` section to the task."""

from __future__ import annotations

from importlib import import_module

from regard.recipe.recipe import Recipe
from regard.tasks.task import Task

TASKS = {
    "translate": "regard.tasks.translate.translate_task:TranslateTask",
    "classify": "regard.tasks.classify.classify_task:ClassifyTask",
    "language": "regard.tasks.language.language_task:LanguageTask",
    "masked": "regard.tasks.masked.masked_task:MaskedTask",
}


def task_of(recipe: Recipe) -> Task:
    module, name = TASKS[recipe.task.kind].split(":")
    made: Task = getattr(import_module(module), name)(recipe)
    return made
