"""What can be chosen about summaries. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from regard.options import Length, TaskOptions
from regard.words import t


class SummariseOptions(TaskOptions):
    """A text in fewer words: pairs of a source and its summary, which share a vocabulary."""

    metrics: ClassVar[tuple[str, ...]] = ("rouge1", "rouge2", "rougeL", "loss")
    models: ClassVar[str] = "translate"
    kind: Literal["summarise"] = "summarise"
    lengths: list[Length] = Field(
        [],
        description="words up to which a summary is short, or medium: sources then begin with short:, "
        "medium: or long:, which is how long a summary is asked for",
    )

    @field_validator("lengths")
    @classmethod
    def _rising(cls, given: list[int]) -> list[int]:
        if len(given) > 2:
            raise ValueError(t("one or two bounds, as in [8] or [6, 12], not {given}", given=given))
        if given != sorted(set(given)):
            raise ValueError(
                t("each bound is above the one before it, unlike {given}", given=given)
            )
        return given

    def task(self, recipe: Any) -> Any:
        from regard.tasks.summarise.summarise_task import SummariseTask

        return SummariseTask(recipe)
