"""What can be chosen about summaries. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from regard.options import TaskOptions


class SummariseOptions(TaskOptions):
    """A text in fewer words: pairs of a source and its summary, which share a vocabulary."""

    metrics: ClassVar[tuple[str, ...]] = ("rouge1", "rouge2", "rougeL", "loss")
    models: ClassVar[str] = "translate"
    kind: Literal["summarise"] = "summarise"

    def task(self, recipe: Any) -> Any:
        from regard.tasks.summarise.summarise_task import SummariseTask

        return SummariseTask(recipe)
