"""What can be chosen about classification. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from regard.options import Length, ModelOptions, TaskOptions
from regard.words import t

LABEL_METRICS = ("accuracy", "macro_f1", "loss")
NUMBER_METRICS = ("mean_absolute_error", "mean_squared_error", "pearson", "loss")


class ClassifyOptions(TaskOptions):
    """Text to label: pairs of a text and its label. Texts over data.max_length are cut.

    A document or a sequence of vectors can be judged too, and the answer can be a number.
    """

    metrics: ClassVar[tuple[str, ...]] = tuple(dict.fromkeys((*LABEL_METRICS, *NUMBER_METRICS)))
    errors: ClassVar[tuple[str, ...]] = ("mean_absolute_error", "mean_squared_error")
    kind: Literal["classify"] = "classify"
    input: Literal["text", "document", "numbers"] = Field(
        "text",
        description="what is judged: a text, a text cut into its sentences, or a sequence of vectors",
    )
    output: Literal["label", "number"] = Field("label", description="what is answered")
    sentences: Length = Field(100, description="document: sentences that are read, the first ones")
    words: Length = Field(100, description="document: words of a sentence that are read")

    @property
    def own_metrics(self) -> tuple[str, ...]:
        return LABEL_METRICS if self.output == "label" else NUMBER_METRICS

    def check_model(self, model: ModelOptions) -> None:
        ends = {
            "input": getattr(model, "reads", ("text",)),
            "output": getattr(model, "answers", ("label",)),
        }
        for name, known in ends.items():
            if (wanted := getattr(self, name)) not in known:
                raise ValueError(
                    t(
                        "task.{name} is {wanted}, but model.kind={kind} is for {known}",
                        name=name,
                        wanted=wanted,
                        kind=model.kind,
                        known=" or ".join(known),
                    )
                )

    def task(self, recipe: Any) -> Any:
        if self.output == "number":
            from regard.tasks.classify.number_task import NumberTask

            return NumberTask(recipe)
        from regard.tasks.classify.classify_task import ClassifyTask

        return ClassifyTask(recipe)
