"""What can be chosen about telling the next place. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from regard.options import CountOrZero, InnerShare, TaskOptions
from regard.words import t


class VisitTaskOptions(TaskOptions):
    """Visits of a user, and a time, to the place that is visited then. A row of a corpus is a check-in: user,
    place, latitude, longitude and time. Of a trail the last data.max_length visits are read.
    """

    metrics: ClassVar[tuple[str, ...]] = (
        "recall_at_10",
        "recall_at_5",
        "recall_at_1",
        "map",
        "loss",
    )
    kind: Literal["visit"] = "visit"
    unit: Literal["seconds", "minutes", "hours", "days"] = Field(
        "seconds", description="of times that are numbers; dates, 2012-04-03T18:00, have none"
    )
    places: str | None = Field(
        None,
        description="a corpus of place, latitude and longitude; check-ins are then user, place and time",
    )
    train_share: InnerShare = Field(
        0.7, description="@train: this share of the visits of every user, the first"
    )
    dev_share: InnerShare = Field(0.1, description="@dev: the share behind it; @test is the rest")
    loss: Literal["bpr", "softmax"] = Field(
        "bpr",
        description="bpr: -log σ(score of the place - score of another); softmax: -log p of it among others",
    )
    negatives: CountOrZero = Field(
        1, description="others that are drawn against each place; 0: all there are"
    )

    @model_validator(mode="after")
    def _leave_a_test(self) -> Self:
        if self.train_share + self.dev_share >= 1.0:
            raise ValueError(
                t(
                    "train_share {train_share} and dev_share {dev_share} leave nothing to test on",
                    train_share=f"{self.train_share:g}",
                    dev_share=f"{self.dev_share:g}",
                )
            )
        return self

    def task(self, recipe: Any) -> Any:
        from regard.tasks.visit.visit_task import VisitTask

        return VisitTask(recipe)
