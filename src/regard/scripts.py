"""Scripts that write no spaces between words, as scripts.json has them: for Python and for the page.

Ranges hold whole blocks of code points; `upright` is said of those whose characters stand upright in a
column. The wide signs (。「」，！) go with Chinese and Japanese, and are of no script.
"""

from __future__ import annotations

import json
import unicodedata
from importlib.resources import files

SIGNS = "wide signs"
_READ = json.loads((files("regard") / "scripts.json").read_text(encoding="utf-8"))


def _ranges(name: str) -> list[tuple[int, int]]:
    pairs = (written.split("-") for written in _READ[name]["ranges"])
    return [(int(first, 16), int(last, 16)) for first, last in pairs]


SCRIPTS = tuple(name for name in _READ if name != SIGNS)
UPRIGHT = tuple(name for name in SCRIPTS if _READ[name].get("upright"))
LANGUAGES = frozenset(language for name in SCRIPTS for language in _READ[name]["languages"])
WIDE_SIGNS = tuple(_ranges(SIGNS))
_SPACELESS = tuple(sorted(pair for name in SCRIPTS for pair in _ranges(name)))


def is_spaceless(character: str) -> bool:
    """Whether a letter is of a script that writes no spaces between words: 学, カ, ก; not 한 or 。"""
    point = ord(character)
    return any(first <= point <= last for first, last in _SPACELESS)


def stands_close(character: str) -> bool:
    """Whether no space stands beside it, between sentences either: 学, カ, 。; not 한 or ก."""
    wide = unicodedata.east_asian_width(character) in "WF"
    return wide and not "\uac00" <= character <= "\ud7a3"
