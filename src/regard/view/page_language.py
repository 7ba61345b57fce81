"""The language that the page speaks: what it is given beside its records where that is not English."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from regard import words

SAID_ON_THE_PAGE = ("view/page/", "view/captions.json")


def page_language() -> dict[str, Any]:
    """{"lang": "zh", "words": {"Export": "导出", …}}; nothing for English."""
    language = words.language()
    translated = words.translations(language)
    if not translated:
        return {}
    return {
        "lang": language,
        "words": {message: translated[message] for message in _messages() if message in translated},
    }


@cache
def _messages() -> tuple[str, ...]:
    listed = json.loads((files("regard.words") / "en.json").read_text(encoding="utf-8"))
    return tuple(
        message
        for message, entry in listed.items()
        if any(where.startswith(SAID_ON_THE_PAGE) for where in entry["where"])
    )
