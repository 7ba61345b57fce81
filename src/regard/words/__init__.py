"""What people read, in their language. The English text is the key, as in gettext:

    from regard.words import t

    t("{n} of {count} keys", n=3, count=8)
    t.plural(n, "one token", "{n} tokens")

The language is that of REGARD_LANG ("zh", "zh-CN", "zh_CN.UTF-8"); English needs no file. A message
without a translation stays English. The page has the same in JavaScript (view/page/words/messages.js),
and `python -m regard.words.collect` writes en.json, the list of all messages of both.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Translations", "language", "say", "say_plural", "t", "translations"]

Translations = dict[str, Any]  # message -> text, or {"one": text, "other": text}
PLACEHOLDER = re.compile(r"\{(\w+)\}")
ENGLISH = "en"


def language() -> str:
    """Two or three letters: "zh" of REGARD_LANG=zh_CN.UTF-8; English where it says nothing."""
    said = re.match(r"[a-z]{2,3}(?![a-z])", os.environ.get("REGARD_LANG", "").lower())
    return said[0] if said else ENGLISH


@cache
def translations(language: str) -> Translations:
    """What there is in a language; nothing for English and for languages without a file."""
    file = files(__name__) / f"{language}.json"
    if language == ENGLISH or not file.is_file():
        return {}
    read: Translations = json.loads(file.read_text(encoding="utf-8"))
    return read


class _Texts:
    def __call__(self, message: str, /, **values: object) -> str:
        """The message in the reader's language; {name} stands for a value."""
        return _filled(_translated(message, "other"), values)

    def plural(self, n: int, one: str, other: str, /, **values: object) -> str:
        """`one` where n is 1, else `other`, which is the key of both; {n} stands for n."""
        form = "one" if n == 1 else "other"
        text = _translated(other, form)
        if text == other and form == "one":
            text = one
        return _filled(text, {"n": n, **values})


t = _Texts()


def say(message: str, /, **values: object) -> str:
    """t() of a message that stands elsewhere, where `collect` finds it: in a file of data, in the
    help of a command, in what a task calls its examples.
    """
    return t(message, **values)


def say_plural(n: int, one: str, other: str, /, **values: object) -> str:
    """t.plural() of such a message."""
    return t.plural(n, one, other, **values)


def _translated(message: str, form: str) -> str:
    found = translations(language()).get(message) or message
    return found if isinstance(found, str) else found.get(form) or found.get("other") or message


def _filled(text: str, values: dict[str, object]) -> str:
    return PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), text)
