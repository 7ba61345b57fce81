"""What can be chosen about a cloze. Nothing here needs torch."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Length, TaskOptions, Whole


class ClozeOptions(TaskOptions):
    """Text to the name that stood in it, a number of words back: texts alone, as of a language model."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "loss")
    models: ClassVar[str] = "language"
    kind: Literal["cloze"] = "cloze"
    distances: Annotated[list[Length], Field(min_length=1)] = Field(
        [5, 10, 20, 40, 80, 160],
        description="how many words back the name stands; several take turns",
    )
    names: Annotated[Whole, Field(ge=2, le=50)] = Field(
        20, description="names to tell apart, put into the text anew for every line"
    )

    def task(self, recipe: Any) -> Any:
        from regard.tasks.cloze.cloze_task import ClozeTask

        return ClozeTask(recipe)
