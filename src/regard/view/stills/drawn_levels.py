"""A document at two levels: sentences with a coloured margin, their words coloured by √p(s) · p(w)."""

from __future__ import annotations

from collections.abc import Sequence

from regard.view.markup import Markup, element, join
from regard.view.shaded.level_lines import NO_COLOUR, LevelLine, heaviest_lines
from regard.view.stills.named_boxes import spelled
from regard.view.stills.paper import (
    Scale,
    Theme,
    hexadecimal,
    ink_on,
    length,
    number,
    runs_right_to_left,
    write,
)
from regard.view.terminal_cells import visible
from regard.words import t

MOST = 60  # sentences: the heaviest
ROOM, LINE, LETTERS, SMALL = 640.0, 24.0, 13.5, 11.0
MARGIN, TEXT = 8.0, 50.0  # how wide the coloured margin is; where the words begin
BLANK, AROUND, HIGH, GAP = 3.0, 3.0, 20.0, 5.0


def draw_levels(lines: Sequence[LevelLine], theme: Theme) -> tuple[Markup, float, float]:
    most = max((line.weight for line in lines), default=0.0) or 1.0
    brightest = max((shade for line in lines for shade in line.shades), default=0.0) or 1.0
    kept, left_out = heaviest_lines(lines, MOST)
    drawn, top, wide = [], 0.0, TEXT
    for line in kept:
        words, rows, right = _words(line, Scale(brightest, False, theme), top)
        high = rows * LINE
        margin = hexadecimal(Scale(most, False, theme).colour(line.weight))
        drawn += [
            _box(0, top, MARGIN, high - LINE + HIGH, margin),
            write(
                number(line.weight), TEXT - 8, top + 14, size=SMALL, fill=theme.muted, anchor="end"
            ),
            *words,
        ]
        top, wide = top + high + GAP, max(wide, right)
    key = t("margin: p(s), in the answer · words: √p(s) · p(w)")
    for text in filter(None, (left_out, key)):
        drawn.append(write(text, 0, top + 13, size=SMALL, fill=theme.muted))
        top, wide = top + 16, max(wide, length(text, SMALL))
    return join(drawn), wide, top + 4


def _words(line: LevelLine, scale: Scale, top: float) -> tuple[list[Markup], int, float]:
    """The words in as many rows as they need, how many these are, and how far they reach."""
    found: list[Markup] = []
    x, row, right = 0.0, 0, TEXT
    from_right = runs_right_to_left(line.text)
    for word, shade in zip(line.words, line.shades, strict=True):
        text = spelled(visible(word))
        wide = length(text, LETTERS) + 2 * AROUND
        if x > 0 and x + wide > ROOM:
            x, row = 0.0, row + 1
        left, y = TEXT + (ROOM - x - wide if from_right else x), top + row * LINE
        ink = scale.theme.ink
        if shade >= NO_COLOUR * scale.full:
            colour = scale.colour(shade)
            ink = ink_on(colour)
            found.append(_box(left, y, wide, HIGH, hexadecimal(colour)))
        middle = left + wide / 2
        found.append(write(text, middle, y + 14.5, size=LETTERS, fill=ink, anchor="middle"))
        x, right = x + wide + BLANK, max(right, left + wide)
    return found, row + 1, right


def _box(x: float, y: float, wide: float, high: float, fill: str) -> Markup:
    return element(
        "rect",
        x=round(x, 2),
        y=round(y, 2),
        width=round(wide, 2),
        height=round(high, 2),
        rx=3,
        fill=fill,
    )
