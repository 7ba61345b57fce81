"""A text in the terminal, its words painted by their weights.

print(shaded_words(["a", "lovely", "story"], [0.1, 0.7, 0.2]))
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from regard.view import colours
from regard.view.terminal import number
from regard.view.terminal_cells import visible, width

NAMED = 5  # words that are named where there is no colour


def shaded_words(
    words: Sequence[object],
    weights: Sequence[float],
    *,
    colour: bool | None = None,
    full: float | None = None,
    indent: int = 0,
) -> str:
    """The words, the heaviest as bright as can be; the heaviest by name where there is no colour.

    colour: None asks the terminal (and NO_COLOR, FORCE_COLOR). full: the weight of the brightest, if it is
    not the heaviest of these. indent: blanks before each line but the first.
    """
    bits = bits_for(colour)
    shown = [visible(word) for word in words]
    if bits == 0:
        order = sorted(range(len(shown)), key=lambda i: -weights[i])[:NAMED]
        return "  ".join(f"{shown[i]} {number(weights[i])}" for i in order)
    heaviest = full or max(weights, default=0.0) or 1.0
    space, lines, room = shutil.get_terminal_size().columns - indent, [""], 0
    for word, weight in zip(shown, weights, strict=True):
        painted = colours.paint(word, colours.shade(colours.VIRIDIS, weight / heaviest, bits), bits)
        room -= width(word) + 1
        if room < 0:  # a new line
            lines.append("")
            room = space - width(word)
        lines[-1] += f" {painted}" if lines[-1] else painted
    return f"\n{' ' * indent}".join(lines[1:])


def bits_for(colour: bool | None) -> colours.Bits:
    """What to write to standard output; True: colours, whatever it is."""
    bits = 0 if colour is False else colours.colour_bits(sys.stdout)
    return 8 if colour and bits == 0 else bits
