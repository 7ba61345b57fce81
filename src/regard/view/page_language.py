"""The languages that the page speaks: what it is given beside its records."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from regard import words

SAID_ON_THE_PAGE = ("view/page/", "view/captions.json")


def page_language() -> dict[str, Any]:
    """{"lang": "zh", "languages": {"zh": {"Export": "导出", …}}}

    lang: what was asked for; without it the page speaks as its reader's browser does, if it can.
    """
    asked = words.language_asked_for()
    languages = dict.fromkeys((*words.LANGUAGES, *filter(None, (asked,))))
    spoken = {each: _words(each) for each in languages if words.translations(each)}
    known = asked in spoken or asked == words.ENGLISH
    return {**({"lang": asked} if known else {}), "languages": spoken}


def _words(language: str) -> words.Translations:
    translated = words.translations(language)
    return {message: translated[message] for message in _messages() if message in translated}


@cache
def _messages() -> tuple[str, ...]:
    listed = json.loads((files("regard.words") / "en.json").read_text(encoding="utf-8"))
    return tuple(
        message
        for message, entry in listed.items()
        if any(where.startswith(SAID_ON_THE_PAGE) for where in entry["where"])
    )
