"""The `task` section of a recipe: what the model is trained for. One class for each kind."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from regard.options import InnerShare, Section, Whole


class Task(Section):
    metrics: ClassVar[tuple[str, ...]]  # for training.metric, the usual one first
    one_text: ClassVar[bool] = False  # source and target are cut by one tokeniser


class Translate(Task):
    """Text to text: pairs of a source and a target."""

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "loss")
    kind: Literal["translate"] = "translate"
    bleu_tokenize: Literal["13a", "intl", "zh", "char", "none"] | None = Field(
        None, description="sacreBLEU's tokeniser; by the target language if not given"
    )
    length_unit: Literal["words", "characters"] | None = Field(
        None, description="for BLEU by length; by the source language if not given"
    )


class Classify(Task):
    """Text to label: pairs of a text and its label. Texts over data.max_length are cut."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1", "loss")
    kind: Literal["classify"] = "classify"


class Language(Task):
    """Text to its next token: texts alone, cut by tokenizer.source."""

    metrics: ClassVar[tuple[str, ...]] = ("loss",)
    one_text: ClassVar[bool] = True
    kind: Literal["language"] = "language"
    context: Annotated[Whole, Field(gt=1, le=1_000_000)] | None = Field(
        None,
        description="all lines are one text, cut into blocks of so many tokens; if not given, "
        "every line is a text by itself",
    )


class Masked(Task):
    """Text to what is hidden of it: texts alone, cut by tokenizer.source, and cut off at data.max_length."""

    metrics: ClassVar[tuple[str, ...]] = ("loss", "accuracy")
    one_text: ClassVar[bool] = True
    kind: Literal["masked"] = "masked"
    rate: InnerShare = Field(0.15, description="share of the tokens that are to be told")


AnyTask = Annotated[Translate | Classify | Language | Masked, Field(discriminator="kind")]
