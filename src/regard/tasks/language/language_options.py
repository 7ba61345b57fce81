"""What can be chosen about a language model. Nothing here needs torch."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.options import TaskOptions, Whole


class LanguageOptions(TaskOptions):
    """Text to its next token: texts alone, cut by tokenizer.source."""

    metrics: ClassVar[tuple[str, ...]] = ("loss",)
    kind: Literal["language"] = "language"
    context: Annotated[Whole, Field(gt=1, le=1_000_000)] | None = Field(
        None,
        description="all lines are one text, cut into blocks of so many tokens; if not given, "
        "every line is a text by itself",
    )

    def task(self, recipe: Any) -> Any:
        from regard.tasks.language.language_task import LanguageTask

        return LanguageTask(recipe)
