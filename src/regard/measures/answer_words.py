"""What of two answers is compared: their words, as SQuAD has it, or their characters, as CMRC has it.

English: in small letters, without punctuation and without a, an, the (SQuAD: Rajpurkar et al. 2016,
https://arxiv.org/abs/1606.05250; its script leaves out ASCII punctuation, this all of it). In scripts without
spaces every character is a word (CMRC: Cui et al. 2019, https://arxiv.org/abs/1810.07366).
"""

from __future__ import annotations

import re
import string
import unicodedata

from regard.scripts import is_spaceless

ARTICLES = {"en": ("a", "an", "the")}


def answer_words(text: str, language: str = "en") -> list[str]:
    """The words of an answer, as they are compared.

    >>> answer_words("The Eiffel Tower, 1889.")
    ['eiffel', 'tower', '1889']
    >>> answer_words("《战国无双3》", "zh")
    ['战', '国', '无', '双', '3']
    """
    kept = "".join(
        "" if _is_sign(c) else f" {c} " if is_spaceless(c) else c
        for c in unicodedata.normalize("NFC", text).lower()
    )
    left_out = ARTICLES.get(re.split("[-_]", language.lower())[0], ())
    return [word for word in kept.split() if word not in left_out]


def _is_sign(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")
