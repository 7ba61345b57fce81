"""What can be chosen about reading. Nothing here needs torch."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, TaskOptions, Whole


class ReadOptions(TaskOptions):
    """A story and a question to an answer: one of the candidates, or a span of the story. Stories are cut at
    data.max_length.
    """

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "f1", "exact_match", "loss")
    kind: Literal["read"] = "read"
    answers: Literal["choice", "span"] = Field(
        "choice", description="one of the candidates that an example names, or words of its story"
    )
    markers: Annotated[Whole, Field(ge=0, le=10_000)] = Field(
        0,
        description="choice: so many markers stand for the candidates, wherever they occur, permuted anew "
        "for every example in training; 0: the words as they are",
    )
    longest: Few = Field(30, description="span: tokens of an answer at most")

    @property
    def own_metrics(self) -> tuple[str, ...]:
        choice = self.answers == "choice"
        return ("accuracy", "loss") if choice else ("f1", "exact_match", "loss")

    def task(self, recipe: Any) -> Any:
        from regard.tasks.read.read_task import ChoiceTask, SpanTask

        return ChoiceTask(recipe) if self.answers == "choice" else SpanTask(recipe)
