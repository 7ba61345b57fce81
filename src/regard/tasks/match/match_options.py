"""What can be chosen about judging two texts. Nothing here needs torch."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from regard.options import TaskOptions

METRICS = {
    "label": ("accuracy", "macro_f1", "loss"),
    "number": ("pearson", "spearman", "loss"),
    "rank": ("map", "mrr", "loss"),
}


class MatchOptions(TaskOptions):
    """Two texts to a label (entailment), a number (relatedness), or a rank: a question, a candidate, and
    whether it is right. Texts over data.max_length are cut.
    """

    metrics: ClassVar[tuple[str, ...]] = tuple(
        dict.fromkeys(name for names in METRICS.values() for name in names)
    )
    kind: Literal["match"] = "match"
    answer: Literal["label", "number", "rank"] = Field(
        "label", description="what is wanted of a pair; rank: candidates of a first text are sorted"
    )
    right: str = Field("1", description="rank: the label of a right candidate")

    @property
    def own_metrics(self) -> tuple[str, ...]:
        return METRICS[self.answer]

    def task(self, recipe: Any) -> Any:
        from regard.tasks.match import pair_answers

        kinds: dict[str, type[Any]] = {
            "label": pair_answers.LabelPairs,
            "number": pair_answers.NumberPairs,
            "rank": pair_answers.RankPairs,
        }
        return kinds[self.answer](recipe)
