"""What can be chosen about tagging. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from regard.options import TaskOptions


class TagOptions(TaskOptions):
    """Words to labels: a label for every word, as parts of speech. Words stand between blanks."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "sentence_accuracy", "loss")
    kind: Literal["tag"] = "tag"

    def task(self, recipe: Any) -> Any:
        from regard.tasks.tag.tag_task import TagTask

        return TagTask(recipe)
