"""The `task` section of a recipe: what the model is trained for. One class for each kind.

What a task does is imported, torch and all, when `task` is called.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.options import InnerShare, TaskOptions, Whole


class Translate(TaskOptions):
    """Text to text: pairs of a source and a target."""

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "loss")
    kind: Literal["translate"] = "translate"
    bleu_tokenize: Literal["13a", "intl", "zh", "char", "none"] | None = Field(
        None, description="sacreBLEU's tokeniser; by the target language if not given"
    )
    length_unit: Literal["words", "characters"] | None = Field(
        None, description="for BLEU by length; by the source language if not given"
    )

    def task(self, recipe: Any) -> Any:
        from regard.tasks.translating import TranslateRun

        return TranslateRun(recipe)


class Classify(TaskOptions):
    """Text to label: pairs of a text and its label. Texts over data.max_length are cut."""

    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1", "loss")
    kind: Literal["classify"] = "classify"

    def task(self, recipe: Any) -> Any:
        from regard.tasks.classifying import ClassifyRun

        return ClassifyRun(recipe)


class Language(TaskOptions):
    """Text to its next token: texts alone, cut by tokenizer.source."""

    metrics: ClassVar[tuple[str, ...]] = ("loss",)
    one_text: ClassVar[bool] = True
    kind: Literal["language"] = "language"
    context: Annotated[Whole, Field(gt=1, le=1_000_000)] | None = Field(
        None,
        description="all lines are one text, cut into blocks of so many tokens; if not given, "
        "every line is a text by itself",
    )

    def task(self, recipe: Any) -> Any:
        from regard.tasks.modelling import LanguageRun

        return LanguageRun(recipe)


class Masked(TaskOptions):
    """Text to what is hidden of it: texts alone, cut by tokenizer.source, and cut off at data.max_length."""

    metrics: ClassVar[tuple[str, ...]] = ("loss", "accuracy")
    one_text: ClassVar[bool] = True
    kind: Literal["masked"] = "masked"
    rate: InnerShare = Field(0.15, description="share of the tokens that are to be predicted")

    def task(self, recipe: Any) -> Any:
        from regard.tasks.masking import MaskedRun

        return MaskedRun(recipe)
