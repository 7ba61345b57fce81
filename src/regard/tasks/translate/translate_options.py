"""What can be chosen about translation. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from regard.options import TaskOptions


class TranslateOptions(TaskOptions):
    """Text to text: pairs of a source and a target."""

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "loss")
    kind: Literal["translate"] = "translate"
    bleu_tokenize: Literal["13a", "intl", "zh", "char", "none"] | None = Field(
        None, description="sacreBLEU's tokeniser; by the target language if not given"
    )
    length_unit: Literal["words", "characters"] | None = Field(
        None, description="for BLEU by length; by the source language if not given"
    )
    verses: bool = Field(
        False,
        description="targets are verses: how many translations keep their form is measured too",
    )

    def task(self, recipe: Any) -> Any:
        from regard.tasks.translate.translate_task import TranslateTask

        return TranslateTask(recipe)
