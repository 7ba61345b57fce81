"""How good translations are, measured by the languages of a recipe."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

from regard import scripts
from regard.measures import BleuScore, LengthCurve, MeasuredScore, bleu, by_length, chrf
from regard.recipe.recipe import Recipe
from regard.tasks.evaluation import measures_in_words
from regard.tasks.likelihood_task import LikelihoodEvaluation
from regard.tasks.translate.translate_options import TranslateOptions
from regard.view.charts.length_chart import length_table

SHORT = {  # of the codes with three letters
    "zho": "zh",
    "chi": "zh",
    "cmn": "zh",
    "jpn": "ja",
    "tha": "th",
    "lao": "lo",
    "khm": "km",
    "mya": "my",
}


@dataclass(frozen=True)
class TranslationEvaluation(LikelihoodEvaluation):
    """The scores of a run on one corpus."""

    @property
    def references(self) -> list[str]:
        return [example["target"] for example in self.examples]

    @cached_property
    def bleu(self) -> BleuScore:
        return bleu(self.answers, self.references, tokenize=bleu_tokenizer(self.task.recipe))

    @cached_property
    def chrf(self) -> MeasuredScore:
        return chrf(self.answers, self.references)

    @cached_property
    def by_length(self) -> LengthCurve:
        sources, recipe = [example["source"] for example in self.examples], self.task.recipe
        unit, tokenize = length_unit(recipe), bleu_tokenizer(recipe)
        return by_length(sources, self.answers, self.references, unit=unit, tokenize=tokenize)

    @property
    def words(self) -> str:
        others = {name: one for name, one in self.measures.items() if name not in ("bleu", "chrf")}
        return measures_in_words(others, self.task.shares)

    @property
    def text(self) -> str:
        return f"{self.bleu.text}\n{self.chrf.text}\n{super().text}"

    @property
    def table(self) -> str:
        return length_table({"": self.by_length})

    def to_dict(self) -> dict[str, Any]:
        more = {name: asdict(getattr(self, name)) for name in ("bleu", "chrf", "by_length")}
        return {**super().to_dict(), **more, "sentences": len(self.examples)}


def bleu_tokenizer(recipe: Recipe) -> str:
    """sacreBLEU's tokeniser for the target: zh for Chinese, 13a where words are spaced, else char."""
    language = _language(recipe.data.target)
    chosen = "zh" if language == "zh" else "char" if language in scripts.LANGUAGES else "13a"
    return _task(recipe).bleu_tokenize or chosen


def length_unit(recipe: Recipe) -> Literal["words", "characters"]:
    """How the length of a source is counted."""
    chosen: Literal["words", "characters"] = "words"
    if _language(recipe.data.source) in scripts.LANGUAGES:
        chosen = "characters"
    return _task(recipe).length_unit or chosen


def _task(recipe: Recipe) -> TranslateOptions:
    return recipe.task if isinstance(recipe.task, TranslateOptions) else TranslateOptions()


def _language(code: str) -> str:
    """zh of zh-Hant_TW, and of zho"""
    first = code.replace("_", "-").split("-")[0].lower()
    return SHORT.get(first, first)
