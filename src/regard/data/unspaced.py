"""Texts of scripts that write no spaces between words, of which a tokenizer of words makes clauses."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from regard.scripts import is_spaceless, stands_close

LOOKED_AT = 1_000  # texts
SHARE = 0.2  # of the letters, at least, are of such a script
UPRIGHT, OTHERS = 3, 8  # letters in a row, in the mean: more than in a word of Chinese, and of Thai


def is_unspaced(texts: Iterable[str]) -> bool:
    """Whether their letters stand in longer rows than words have: `我喜欢这本书`, not `我 喜欢 这 本 书`."""
    letters = 0
    found = {True: [0, 0], False: [0, 0]}  # by whether they are upright: letters, rows of them
    for text in islice(texts, LOOKED_AT):
        for run in _rows(text):
            letters += len(run)
            of_such = [character for character in run if is_spaceless(character)]
            if of_such:
                counts = found[stands_close(of_such[0])]
                counts[0], counts[1] = counts[0] + len(of_such), counts[1] + 1
    long = [
        count > most * runs
        for (count, runs), most in ((found[True], UPRIGHT), (found[False], OTHERS))
        if count > SHARE * letters
    ]
    return any(long)


def _rows(text: str) -> Iterator[list[str]]:
    """Letters that stand together, with the marks on them."""
    for letters, row in groupby(text, key=lambda c: unicodedata.category(c)[0] in "LM"):
        if letters:
            yield list(row)
