"""What is measured how, by the languages of a recipe."""

from __future__ import annotations

from typing import Literal

from regard import scripts
from regard.recipe.recipe import Recipe
from regard.tasks.translate.translate_options import TranslateOptions

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
