"""A translation drawn in the terminal: what each of its words looked at."""

from __future__ import annotations

import re
import shutil
from itertools import groupby
from typing import TYPE_CHECKING

from regard.words import t

if TYPE_CHECKING:
    from regard.tasks.prediction import Prediction

WORD = re.compile(r"\w+(?:['’-]\w+)*")
SIGNS = re.compile(r"^\W+|\W+$")  # around words
STRONG = 0.25  # of a word's attention links it to a token


def alignment(prediction: Prediction) -> str:
    """The heat map of a translation: its tokens below each other, the source's side by side."""
    if prediction.attention is None or not len(prediction.attention):
        return ""

    from regard.view import heat_map

    rows, columns = prediction.attention.shape
    end = t(
        "(end)"
    )  # of the sentence: a position that can be attended, and a token that is written
    target = [*prediction.tokens.pieces, end][:rows]
    source = [*prediction.source_tokens.pieces, end][:columns]
    return heat_map(prediction.attention, target, source)


def strong_links(prediction: Prediction) -> str:
    """One line, `went ↔ 去   the students ↔ 学生`: words, and the tokens that they looked at most."""
    if prediction.attention is None:
        return ""

    from regard.measures import align
    from regard.view.terminal_cells import shorten

    source, target = prediction.source_tokens.offsets, prediction.tokens.offsets
    tokens = [place for place in source if WORD.search(prediction.source, *place)]
    words = [word.span() for word in WORD.finditer(prediction.text)]
    links = align(prediction.attention, source, target, tokens, words, threshold=STRONG)
    seen = [tuple(sorted(s for s, w in links if w == word)) for word in range(len(words))]
    shown = []
    for read, group in groupby(range(len(words)), key=seen.__getitem__):
        places = [words[word] for word in group]
        written = prediction.text[places[0][0] : places[-1][1]]
        if read:
            shown.append(f"{written} ↔ {_excerpt(prediction.source, [tokens[s] for s in read])}")
    return shorten("   ".join(shown), shutil.get_terminal_size().columns)


def _excerpt(text: str, places: list[tuple[int, int]]) -> str:
    """The words at these places, with … for what was left out between them."""
    excerpt, end = "", places[0][0]
    for place in places:
        gap = text[end : place[0]]
        excerpt += ("…" if gap.strip() else gap) + text[slice(*place)]
        end = place[1]
    return SIGNS.sub("", excerpt)
