"""What can be chosen about word vectors. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, NotNegative, TaskOptions


class EmbedOptions(TaskOptions):
    """Texts to a vector for each of their words, cut by tokenizer.source."""

    metrics: ClassVar[tuple[str, ...]] = ("loss", "accuracy")
    kind: Literal["embed"] = "embed"
    negatives: Few = Field(5, description="words that are drawn against each that is told")
    subsample: NotNegative = Field(
        1e-3, description="words above this share of the text are left out at random; 0: none are"
    )
    shrink: bool = Field(
        False, description="draw the width of every window, up to model.window, as word2vec does"
    )
    similarity: list[str] = Field(
        [], description="probes: files of `word TAB word TAB how alike`; Spearman's correlation"
    )
    analogies: list[str] = Field([], description="probes: files of `a b c d`: d from b - a + c")
    tags: list[str] = Field(
        [],
        description="a probe: tagged words to learn a linear tagger of vectors from, and some to judge it by",
        max_length=2,
    )

    def task(self, recipe: Any) -> Any:
        from regard.tasks.embed.embed_task import EmbedTask

        return EmbedTask(recipe)
