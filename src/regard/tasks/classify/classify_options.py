"""What can be chosen about classification. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from regard.options import TaskOptions


class ClassifyOptions(TaskOptions):
    """Text to label: pairs of a text and its label. Texts over data.max_length are cut."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1", "loss")
    kind: Literal["classify"] = "classify"

    def task(self, recipe: Any) -> Any:
        from regard.tasks.classify.classify_task import ClassifyTask

        return ClassifyTask(recipe)
