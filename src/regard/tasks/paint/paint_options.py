"""What can be chosen about pictures that are drawn. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from regard.options import CountOrZero, Few, TaskOptions, Width


class PaintOptions(TaskOptions):
    """Pictures alone: how probable they are, and new ones. All are of one size."""

    metrics: ClassVar[tuple[str, ...]] = ("loss", "reconstruction")
    errors: ClassVar[tuple[str, ...]] = ("reconstruction", "divergence")
    kind: Literal["paint"] = "paint"
    channels: Literal[1, 3] = Field(1, description="1: grey; 3: colours")
    size: tuple[Width, Width] | None = Field(
        None,
        description="height and width that all pictures are stretched to; none: they are of one size",
    )
    binary: Literal["sampled", "threshold", "none"] = Field(
        "sampled",
        description="pixels become 0 or 1: drawn once for each picture by its grey, cut at half, or not at "
        "all, and grey is the chance of 1",
    )
    binary_seed: CountOrZero = Field(0, description="sampled: which of the drawings")
    samples: Few = Field(
        8, description="draws that a score is averaged over; a validation in training takes one"
    )

    def task(self, recipe: Any) -> Any:
        from regard.tasks.paint.paint_task import PaintTask

        return PaintTask(recipe)
