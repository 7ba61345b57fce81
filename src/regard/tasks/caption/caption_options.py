"""What can be chosen about captions. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from regard.options import ModelOptions, TaskOptions, Width
from regard.words import t


class CaptionOptions(TaskOptions):
    """A picture to a text. A corpus has the columns image, prompt (if told), caption, boxes (if told).

    A label, a vector or another text can be told of too: its column is then called so.
    """

    metrics: ClassVar[tuple[str, ...]] = ("exact_match", "bleu", "loss")
    kind: Literal["caption"] = "caption"
    input: Literal["image", "numbers", "vector", "label", "text"] = Field(
        "image",
        description="what is told of: a picture; a sequence of vectors, [[0.1, 2.0], …], of the parts of a "
        "picture or the frames of a film; one vector; a label; a text, as a title",
    )
    channels: Literal[1, 3] = Field(1, description="image: grey or colours")
    size: tuple[Width, Width] | None = Field(
        None, description="image: height and width to stretch all to; their own if not given"
    )
    prompt: bool = Field(
        False,
        description="something is asked about a picture: words that are read before its caption",
    )
    boxes: bool = Field(
        False,
        description="where what the words name is known: [[start, end, left, top, width, height], …], "
        "characters of the caption and shares of the picture, for the pointing score",
    )
    bleu_tokenize: Literal["13a", "intl", "zh", "char", "none"] | None = Field(
        None, description="sacreBLEU's tokeniser; by the language of the captions if not given"
    )
    verses: bool = Field(
        False, description="captions are verses: how many answers keep their form is measured too"
    )

    @model_validator(mode="after")
    def _boxes_of_pictures(self) -> CaptionOptions:
        if self.boxes and self.input != "image":
            raise ValueError(t("boxes are places in a picture: they need input=image"))
        return self

    @property
    def source(self) -> str:
        """The name of the field that is told of; vectors of parts stand for the picture."""
        return "image" if self.input == "numbers" else self.input

    def check_model(self, model: ModelOptions) -> None:
        known = getattr(model, "reads", ("image", "numbers"))
        if self.input not in known:
            raise ValueError(
                t(
                    "task.input is {input}, but model.kind={kind} is for {known}",
                    input=self.input,
                    kind=model.kind,
                    known=" or ".join(known),
                )
            )
        if self.prompt and not getattr(model, "prompted", False):
            raise ValueError(
                t("task.prompt is true, but model.kind={kind} reads no prompt", kind=model.kind)
            )

    def task(self, recipe: Any) -> Any:
        from regard.tasks.caption.caption_task import CaptionTask
        from regard.tasks.caption.pointed_caption_task import PointedCaptionTask

        attends = getattr(recipe.model, "attention", None) is not None
        return PointedCaptionTask(recipe) if self.boxes and attends else CaptionTask(recipe)
