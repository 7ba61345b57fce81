"""English in other letters, as a language: what stays in ours was forgotten."""

from __future__ import annotations

import json
import re

from regard.words import PLACEHOLDER
from regard.words.collect import LISTED

LATIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MADE_UP = {
    ord(letter): chr(0x10D0 + number % 26) for number, letter in enumerate(LATIN)
}  # Georgian


def in_other_letters(message: str) -> str:
    """The placeholders stay as they are."""
    parts = PLACEHOLDER.split(message)
    return "".join(
        f"{{{part}}}" if number % 2 else part.translate(MADE_UP)
        for number, part in enumerate(parts)
    )


def made_up() -> dict[str, object]:
    """A translation of every message there is."""
    listed = json.loads(LISTED.read_text(encoding="utf-8"))
    return {
        message: {"other": in_other_letters(message), "one": in_other_letters(entry["one"])}
        if "one" in entry
        else in_other_letters(message)
        for message, entry in listed.items()
    }


def english_in(text: str) -> set[str]:
    """Words of three small letters or more."""
    return set(re.findall(r"(?<![\w./-])[a-z]{3,}(?![\w./=])", text))
