"""What people read, in their language. The English text is the key, as in gettext:

    from regard.words import t

    t("{n} of {count} keys", n=3, count=8)
    t.plural(n, "one token", "{n} tokens")

The language is, in this order: that of `with speaking("zh")`; `REGARD_LANGUAGE` ("zh", "zh-CN",
"zh_CN.UTF-8"); what `speak` said for the whole process; English. English needs no file, and a catalogue
(zh.json) is read when the first message is said in it. A message without a translation stays English, and
nothing in a catalogue can make `t` raise. The page has the same in JavaScript (view/page/words/messages.js),
and `python -m regard.words.collect` writes en.json, the list of all messages of both, and tells what is not
translated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

__all__ = [
    "LANGUAGES",
    "Translations",
    "language",
    "language_asked_for",
    "language_named",
    "preferred",
    "say",
    "say_kept",
    "say_plural",
    "speak",
    "speaking",
    "t",
    "translations",
]

Translations = dict[str, Any]  # message -> text, or {"one": text, "other": text}
LANGUAGES = {"en": "English", "zh": "中文"}  # each by its own name
OTHER_NAMES = {"english": "en", "chinese": "zh", "中文": "zh", "汉语": "zh", "简体中文": "zh"}
PLACEHOLDER = re.compile(r"\{(\w+)\}")
ENGLISH = "en"
VARIABLE = "REGARD_LANGUAGE"

_here: ContextVar[str] = ContextVar("language of this task", default="")
_of_the_process = ""


def language() -> str:
    """Two or three letters: "zh" of REGARD_LANGUAGE=zh_CN.UTF-8; English where nothing was said."""
    return language_asked_for() or _of_the_process or ENGLISH


def language_asked_for() -> str:
    """That of `speaking` or of REGARD_LANGUAGE, which `--language` sets too; empty if they name none."""
    return _here.get() or language_named(os.environ.get(VARIABLE, ""))


@cache
def language_named(said: str) -> str:
    """ "zh" of "zh", "zh-CN", "zh_CN.UTF-8", "Chinese", "中文"; empty of "C" and of what is none."""
    plain = said.strip().lower()
    letters = re.match(r"[a-z]{2,3}(?![a-z])", plain)
    return OTHER_NAMES.get(plain) or (letters[0] if letters else "")


def preferred(accepted: str) -> str:
    """Of an Accept-Language header ("zh-CN,zh;q=0.9,en;q=0.8") the first that is spoken here, or none."""
    wishes = []
    for place, part in enumerate(accepted.split(",")[:20]):
        name, _, quality = part.partition(";q=")
        weight = float(quality) if re.fullmatch(r"\s*\d(\.\d{0,3})?\s*", quality) else 1.0
        if weight > 0 and language_named(name) in LANGUAGES:
            wishes.append((-weight, place, language_named(name)))
    return min(wishes)[2] if wishes else ""


def speak(language: str) -> None:
    """For the whole process, where neither REGARD_LANGUAGE nor `speaking` says another."""
    global _of_the_process
    _of_the_process = language_named(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Inside, messages are in this language, whatever else is said; empty: nothing changes."""
    before = _here.set(language_named(language) or _here.get())
    try:
        yield
    finally:
        _here.reset(before)


@cache
def translations(language: str) -> Translations:
    """What there is in a language; nothing for English and for languages without a file."""
    import json

    file = Path(__file__).with_name(f"{language}.json")
    if language == ENGLISH or not file.is_file():
        return {}
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


class _Texts:
    def __call__(self, message: str, /, **values: object) -> str:
        """The message in the reader's language; {name} stands for a value."""
        return _filled(_translated(message, "other") or message, values)

    def plural(self, n: int, one: str, other: str, /, **values: object) -> str:
        """`one` where n is 1, else `other`, which is the key of both; {n} stands for n."""
        form = "one" if n == 1 else "other"
        text = _translated(other, form) or (one if form == "one" else other)
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


def say_kept(text: str) -> str:
    """A text that is kept in English, in a file or as a key, in the reader's language: by the message that
    it was made of, whose {} stands for a word and a blank, or for nothing.
    """
    for pattern, message in _patterns(language()):
        if found := pattern.fullmatch(text):
            names = re.findall(r"\{(\w*)\}", message)
            values = dict(zip(names, found.groups(), strict=True))  # in any order there
            pieces = re.split(r"\{(\w*)\}", _translated(message, "other"))
            pieces[1::2] = [values.get(name, "") for name in pieces[1::2]]
            return re.sub(r"(?<=[^\x00-\xff]) (?=[^\x00-\xff])", "", "".join(pieces))
    return say(text)


@cache
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Of the messages with {} in them, the longest first."""
    kept = [each for each in translations(language) if re.search(r"\{\d*\}", each)]
    return [
        (re.compile(re.sub(r"\\\{\w+\\\}", "(.+)", re.escape(each)).replace(r"\{\}", "(.*)")), each)
        for each in sorted(kept, key=len, reverse=True)
    ]


def _translated(message: str, form: str) -> str:
    """Empty where there is no translation that is a text."""
    found = translations(language()).get(message)
    if isinstance(found, dict):
        found = found.get(form) or found.get("other")
    return found if isinstance(found, str) else ""


def _filled(text: str, values: dict[str, object]) -> str:
    return PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), text)
