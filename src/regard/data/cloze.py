"""Texts in which a name must be told again: how far back does a model remember?

    the old man ⑦ had fished alone for eighty days        (distance 7: which one was it?)

Every line of a corpus begins a text, which goes on into the lines after it. A name stands in it, and words
of the corpus follow it until it must be told again, exactly `distance` words later. Which name it is, and
where it stands, is drawn anew for every line, always alike for the same corpus: nothing but memory tells it.
"""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from regard.data.examples import Example
from regard.scripts import is_spaceless

# ① … ⑳, ㉑ … ㉟, ㊱ … ㊿: signs that hardly any text has
NAMES = tuple(map(chr, chain(range(0x2460, 0x2474), range(0x3251, 0x3260), range(0x32B1, 0x32C0))))
LEAD = 8  # words before the name, fewer than these

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def clozes(
    lines: Iterable[Example], distances: Sequence[int], names: Sequence[str]
) -> Iterator[Example]:
    """Examples with `text`, words up to where the name is told again, `name` and `distance`.

    The distances take turns. Lines at the end that too few words follow begin no text.
    """
    longest = LEAD + max(distances)
    ahead: deque[tuple[Example, list[str]]] = deque()
    there = number = 0
    for line in lines:
        words = [word for word in words_of(line["text"]) if word not in names]
        ahead.append((line, words))
        there += len(words)
        while there >= longest:
            first, own = ahead[0]
            if own:
                following = islice(chain.from_iterable(words for _, words in ahead), longest)
                yield _cloze(first, list(following), distances[number % len(distances)], names)
                number += 1
            ahead.popleft()
            there -= len(own)


def words_of(text: str) -> list[str]:
    """Words and signs; of scripts without spaces, characters."""
    words = _WORD.findall(text)
    return [part for word in words for part in (word if any(map(is_spaceless, word)) else [word])]


def _cloze(line: Example, words: list[str], distance: int, names: Sequence[str]) -> Example:
    draw = random.Random(f"{line.corpus} {line.line}")
    lead, name = draw.randrange(LEAD), draw.choice(names)
    text = [*words[:lead], name, *words[lead : lead + distance - 1]]
    return Example(line.line, {"text": text, "name": name, "distance": distance}, line.corpus)
