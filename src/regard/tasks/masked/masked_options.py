"""What can be chosen about a masked language model. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from regard.options import InnerShare, TaskOptions


class MaskedOptions(TaskOptions):
    """Text to what is hidden of it: texts alone, cut by tokenizer.source, and cut off at data.max_length."""

    metrics: ClassVar[tuple[str, ...]] = ("loss", "accuracy")
    kind: Literal["masked"] = "masked"
    rate: InnerShare = Field(0.15, description="share of the tokens that are to be predicted")

    def task(self, recipe: Any) -> Any:
        from regard.tasks.masked.masked_task import MaskedTask

        return MaskedTask(recipe)
