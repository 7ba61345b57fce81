"""A document in the terminal: each sentence with its weight, its words painted by √p(s) · p(w).

0.35 a moving , beautifully acted film .
0.21 the plot is a mess .
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from regard.view import colours
from regard.view.shaded.level_lines import LevelLine, heaviest_lines
from regard.view.shaded.shaded_words import bits_for, shaded_words
from regard.view.terminal import number
from regard.view.terminal_cells import shorten, visible
from regard.words import t

MOST = 40  # sentences: the heaviest
MARGIN = 7  # cells for the weight of a sentence and the blanks around it


def shaded_sentences(lines: Sequence[LevelLine], *, colour: bool | None = None) -> str:
    """Without colour, ░▒▓█ beside a sentence, and under it its heaviest words by name."""
    bits = bits_for(colour)
    most = max((line.weight for line in lines), default=0.0) or 1.0
    brightest = max((shade for line in lines for shade in line.shades), default=0.0) or 1.0
    kept, left_out = heaviest_lines(lines, MOST)
    drawn = [_painted(line, most, brightest, bits) if bits else _named(line, most) for line in kept]
    key = t("before a sentence its weight in the answer, p(s); a word is shaded by √p(s) · p(w)")
    if not bits:
        key = t("before a sentence its weight in the answer; under it its heaviest words")
    return "\n".join([*drawn, *([left_out] if left_out else []), key])


def _painted(line: LevelLine, most: float, brightest: float, bits: colours.Bits) -> str:
    ground = colours.shade(colours.VIRIDIS, line.weight / most, bits)
    margin = colours.paint(f"{number(line.weight):>5} ", ground, bits)
    words = shaded_words(line.words, line.shades, colour=True, full=brightest, indent=MARGIN)
    return f"{margin} {words}"


def _named(line: LevelLine, most: float) -> str:
    shade = "░▒▓█"[min(int(4 * line.weight / most), 3)]
    space = shutil.get_terminal_size().columns - MARGIN - 1
    said = f"{shade * 2} {number(line.weight):>4} {shorten(visible(line.text), space)}"
    if not line.words:
        return said
    return f"{said}\n{' ' * (MARGIN + 1)}{shaded_words(line.words, line.weights, colour=False)}"
