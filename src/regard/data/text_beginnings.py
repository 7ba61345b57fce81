"""Where a text can be cut without a change to the tokens before it: of a long one, few are read."""

from __future__ import annotations

import re
from collections.abc import Iterator

LETTERS = 8  # of a token, more or less: how much of a text is tried first
MORE = 4  # times as much next, if that was too little

# No piece of a tokenizer reaches over a blank. What can hold on to one after it, a joiner or a sign that some
# scripts write before a character, is neither of these: letters, digits, common signs.
_SIGNS = r"""!"'),.:;?\]、。，！？；："""
_BEFORE_BLANK = re.compile(rf"[^\W\u0d4e\U00011000-\U0001ffff](?=\s)|[{_SIGNS}](?=\s)")
# Nor over a sign and the letter after it; words between blanks do.
_AFTER_SIGN = re.compile(rf"{_BEFORE_BLANK.pattern}|[,.:;!?、。，！？；：](?=[A-Za-z一-鿿])")


def beginnings(text: str, tokens: int, *, split: bool) -> Iterator[str]:
    """Longer and longer beginnings, at last the text: each has the first tokens of the next ones.

    tokens: how many are wanted. split: tokens are all that stands between blanks.
    """
    pattern = _BEFORE_BLANK if split else _AFTER_SIGN
    end = LETTERS * (tokens + LETTERS)
    while end < len(text):
        found = [match.end() for match in pattern.finditer(text, end // MORE, end)]
        if found:
            yield text[: found[-1]]
        end *= MORE
    yield text
