"""From the recipe's `task` section to the task."""

from __future__ import annotations

from regard.recipe.recipe import Recipe
from regard.tasks.task import Task


def task_of(recipe: Recipe) -> Task:
    made: Task = recipe.task.task(recipe)
    return made
