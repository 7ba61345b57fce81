"""Which tokens make up one word, and the weights between words.

Weights of words: summed over the keys of a word, averaged over its queries, so that rows still sum
to what they did.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regard.scripts import is_spaceless

JOINERS = "'’-\u200c\u200d"  # inside a word: don't, l’homme, می‌روم


def word_numbers(
    text: str, offsets: Sequence[tuple[int, int]], special: Sequence[bool]
) -> list[int]:
    """The number of each token's word, rising from 0.

    A token goes on with the word before it where letters or digits touch letters or digits, or
    where both are parts of one character. A special token, a sign and a token of a script
    without spaces (学生) is a word of its own. A space is none: it is a part of the word after it, or, at
    the end, of the word before it.
    """
    spaces = [
        not special[place] and _is_space(text[slice(*offset)])
        for place, offset in enumerate(offsets)
    ]
    numbers: list[int] = []
    for place, here in enumerate(offsets):
        joined = place > 0 and not special[place] and not special[place - 1]
        if joined and spaces[place]:
            joined = spaces[place - 1] or not _word_follows(place, spaces, special)
        elif joined and not spaces[place - 1]:
            before = offsets[place - 1]
            joined = here[0] < before[1] or (
                here[0] == before[1]
                and _touch(text[before[1] - 1 : before[1]], text[here[0] : here[0] + 1])
            )
        numbers.append((numbers[-1] if numbers else -1) + (not joined))
    return numbers


def word_spans(
    text: str,
    pieces: Sequence[str],
    offsets: Sequence[tuple[int, int]],
    begins: Collection[int] = (),
) -> list[tuple[str, int, int]]:
    """Each word as it stands in the text, and its tokens, from start up to end.

    begins: tokens that a word begins with, whatever stands before them.
    """
    numbers = word_numbers(text, offsets, [False] * len(offsets))
    starts = [
        n for n in range(len(numbers)) if n in begins or n == 0 or numbers[n] > numbers[n - 1]
    ]
    found = []
    for start, end in pairwise([*starts, len(numbers)]):
        whole = end > start + 1 and text[offsets[start][0] : offsets[end - 1][1]].strip()
        found.append((whole or "".join(pieces[start:end]), start, end))
    return found


def _word_follows(place: int, spaces: Sequence[bool], special: Sequence[bool]) -> bool:
    """Whether the first token after this one that is no space is a word."""
    following = (after for after in range(place + 1, len(spaces)) if not spaces[after])
    first = next(following, None)
    return first is not None and not special[first]


def merge_words(
    weights: NDArray[np.float32], queries: Sequence[int], keys: Sequence[int]
) -> NDArray[np.float32]:
    """(..., Q, K) over tokens -> (..., words of queries, words of keys)"""
    rows = np.eye(max(queries, default=-1) + 1, dtype=np.float32)[list(queries)]  # (Q, words)
    columns = np.eye(max(keys, default=-1) + 1, dtype=np.float32)[list(keys)]
    means = rows / np.maximum(rows.sum(0), 1)
    return np.swapaxes(means, 0, 1) @ weights @ columns


def _is_space(piece: str) -> bool:
    """Blanks, or nothing at all, which stands for one; the end of a line is more than that."""
    return not piece.strip() and "\n" not in piece and "\r" not in piece


def _touch(last: str, first: str) -> bool:
    """Whether two neighbouring characters are letters or digits of a script with spaces."""
    both = last + first
    return len(both) == 2 and all(map(_in_word, both)) and not any(map(is_spaceless, both))


def _in_word(character: str) -> bool:
    return character in JOINERS or unicodedata.category(character)[0] in "LMN"
