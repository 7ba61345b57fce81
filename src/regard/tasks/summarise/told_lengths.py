"""How long a summary is to be, told in words at the beginning of its source: short: It rained all day …

In training it is told of the summary that is there; afterwards by whoever asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

NAMES = {0: (), 1: ("short:", "long:"), 2: ("short:", "medium:", "long:")}  # by how many bounds


def told_length(source: str, summary_words: int, bounds: Sequence[int]) -> str:
    """The source behind the name of that length, if there are bounds.

    >>> told_length("It rained all day, and nobody went out.", 3, [4, 8])
    'short: It rained all day, and nobody went out.'
    """
    if not bounds:
        return source
    return f"{NAMES[len(bounds)][bisect_left(bounds, summary_words)]} {source}"
