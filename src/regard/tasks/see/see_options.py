"""What can be chosen about naming pictures. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from regard.options import CountOrZero, Few, TaskOptions, Width
from regard.words import t


class SeeOptions(TaskOptions):
    """Picture to label: pairs of a picture, from 0 (the ground) to 1, and its label.

    A view makes each picture harder, in another way every epoch; dev and test pictures always in the same.
    """

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "loss")
    kind: Literal["see"] = "see"
    channels: Literal[1, 3] = Field(1, description="1: grey; 3: colours")
    size: tuple[Width, Width] | None = Field(
        None,
        description="height and width that all pictures are stretched to; none: they are of one size",
    )
    view: Literal[
        "plain", "translated", "cluttered", "rotated", "rotated-scaled", "projected", "bent", "sum"
    ] = Field(
        "plain",
        description="translated: anywhere on a larger ground; cluttered: among pieces of others; rotated: by "
        "up to 90 degrees; rotated-scaled: by up to 45, 0.7 to 1.2 times as large, anywhere; projected: seen "
        "at an angle; bent: as a thin plate; sum: two digits, each rotated-scaled, and the sum of both",
    )
    ground: Width | None = Field(
        None,
        description="pixels of a side of the ground; none: 60 (translated, cluttered), 42 (rotated-scaled, "
        "sum) or the picture's own",
    )
    grows: CountOrZero = Field(
        0,
        description="batches of a training over which pictures come to be moved and warped as far as the "
        "view says; 0: from the first on",
    )
    pieces: CountOrZero = Field(4, description="cluttered: pieces of other pictures")
    piece: Few = Field(8, description="cluttered: pixels of a side of a piece")

    @model_validator(mode="after")
    def _something_grows(self) -> SeeOptions:
        if self.grows and self.view == "plain":
            raise ValueError(
                t(
                    "task.grows is about what a view does, and task.view is plain: write task.grows=0"
                )
            )
        return self

    def task(self, recipe: Any) -> Any:
        from regard.tasks.see.see_task import SeeTask

        return SeeTask(recipe)
