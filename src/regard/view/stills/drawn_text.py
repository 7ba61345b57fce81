"""Weights as a text: its words one after the other, each on the colour of its weight.

A text for every row. Words that are the answer have a frame, those that the region does not allow are
struck through.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from regard.view.captions import caption
from regard.view.markup import Markup, element, join
from regard.view.picked_matrix import Matrix
from regard.view.shaded.level_lines import NO_COLOUR
from regard.view.stills.named_boxes import spelled
from regard.view.stills.paper import (
    Scale,
    hexadecimal,
    ink_on,
    label,
    length,
    number,
    runs_right_to_left,
    set_length,
    write,
)
from regard.view.stills.running_words import (
    BREAK,
    RunningWord,
    Stretches,
    is_cut_off,
    running_words,
)
from regard.view.terminal_cells import shorten, visible
from regard.words import t

ROOM, LINE, LETTERS, SMALL = 700.0, 25.0, 14.0, 11.0
AROUND, BLANK, HIGH = 2.0, 3.0, 21.0
NAME, GAP = 22.0, 18.0  # how high the name of a row is; between two texts
NAMED = 5  # words whose weight is told
MOST_CELLS = 60  # of a word
FRAME = "#d9480f"

Drawn = tuple[Markup, float, float]


class PlacedWord(NamedTuple):
    """Where a word stands: its left edge, the line, and how wide it is."""

    word: RunningWord
    text: str
    x: float
    line: int
    wide: float


def draw_text(matrix: Matrix, scale: Scale, answers: Stretches = ()) -> Drawn:
    words = running_words(matrix, answers)
    placed = _placed(words, from_right=runs_right_to_left(matrix.columns.text))
    lines = 1 + max((each.line for each in placed), default=0)
    drawn: list[Markup] = []
    top = 0.0
    for row in range(len(matrix.queries)):
        drawn += _name(matrix, row, top, scale)
        drawn += _row(matrix, row, placed, top + NAME, scale)
        top += NAME + lines * LINE + GAP
    if is_cut_off(matrix):
        said = t("… the text goes on, unread")
        drawn.append(write(said, 0, top, size=SMALL, fill=scale.theme.muted))
        top += GAP
    wide = max((each.x + each.wide for each in placed), default=0.0)
    return join(drawn), wide, top - GAP + LINE - HIGH


def draw_marks(matrix: Matrix, scale: Scale, answers: Stretches) -> Drawn:
    """What a frame and a line through a word mean."""
    style: Any = {"size": SMALL, "fill": scale.theme.muted}
    drawn, x = [], 0.0
    if any(word.answered for word in running_words(matrix, answers)):
        said = t("the answer")
        drawn += [_frame(x + 1, 0, 18, 11)]
        drawn += [write(said, x + 26, 10, **style)]
        x += 26 + length(said, SMALL) + 16
    if not matrix.allowed.all():
        said = caption("not allowed")
        drawn.append(element("g", write(said, x, 10, **style), text_decoration="line-through"))
        x += length(said, SMALL)
    return join(drawn), x, 14.0 if drawn else 0.0


def _placed(words: Sequence[RunningWord], *, from_right: bool) -> list[PlacedWord]:
    """Words in lines that are full, from left to right or from right to left."""
    found, x, line = [], 0.0, 0
    for word in words:
        text = shorten(spelled(visible(word.text)), MOST_CELLS)
        wide = set_length(text, LETTERS) + 2 * AROUND
        x += BLANK if word.before and x > 0 else 0.0
        if x > 0 and (word.before == BREAK or x + wide > ROOM):
            x, line = 0.0, line + 1
        found.append(PlacedWord(word, text, x, line, wide))
        x += wide
    if not from_right:
        return found
    right = max((each.x + each.wide for each in found), default=0.0)
    return [each._replace(x=right - each.x - each.wide) for each in found]


def _name(matrix: Matrix, row: int, top: float, scale: Scale) -> list[Markup]:
    """What the row is called, and the heaviest words of it."""
    weights = [(abs(float(w)), place) for place, w in enumerate(matrix.weights[row])]
    heaviest = sorted((pair for pair in weights if pair[0] > 0), key=lambda pair: -pair[0])
    told = " · ".join(
        f"{label(matrix.keys[place])} {_digits(float(matrix.weights[row, place]))}"
        for _, place in heaviest[:NAMED]
    )
    name = label(matrix.queries[row]) if len(matrix.queries) > 1 else ""
    aside = set_length(name, LETTERS) * 1.1 + 12 if name else 0.0
    theme, baseline = scale.theme, top + 13
    language = matrix.rows.language
    return [
        write(name, 0, baseline, size=LETTERS, fill=theme.ink, weight=600, language=language),
        write(
            told, aside, baseline, size=SMALL, fill=theme.muted, language=matrix.columns.language
        ),
    ]


def _row(
    matrix: Matrix, row: int, placed: Sequence[PlacedWord], top: float, scale: Scale
) -> list[Markup]:
    """Colours, then frames, then words, so that none hides another."""
    grounds, texts = [], []
    for column, each in enumerate(placed):
        weight, y = float(matrix.weights[row, column]), top + each.line * LINE
        open_pair = bool(matrix.allowed[row, column])
        ink = scale.theme.ink if open_pair else scale.theme.muted
        if open_pair and math.isfinite(weight) and abs(weight) >= NO_COLOUR * scale.full:
            colour = scale.colour(weight)
            ink = ink_on(colour)
            grounds.append(_box(each.x, y, each.wide, HIGH, fill=hexadecimal(colour)))
        text = each.text if math.isfinite(weight) else f"{each.text} {number(weight)}"
        style: Any = {"size": LETTERS, "fill": ink, "language": matrix.columns.language}
        written = write(text, each.x + each.wide / 2, y + 15.5, anchor="middle", **style)
        struck = element("g", written, text_decoration="line-through")
        texts.append(written if open_pair else struck)
    return [*grounds, *_frames(placed, top), *texts]


def _frames(placed: Sequence[PlacedWord], top: float) -> list[Markup]:
    """One around the words of the answer that follow each other in a line."""
    found = []
    for (answered, line), run in groupby(placed, key=lambda each: (each.word.answered, each.line)):
        if answered:
            words = list(run)
            left = min(each.x for each in words)
            wide = max(each.x + each.wide for each in words) - left
            found.append(_frame(left, top + line * LINE - 0.5, wide, HIGH + 1))
    return found


def _frame(x: float, y: float, wide: float, high: float) -> Markup:
    return _box(x, y, wide, high, fill="none", stroke=FRAME, stroke_width=2)


def _digits(weight: float) -> str:
    """Two that say something, also of a small weight."""
    return f"{weight:.2g}" if 0 < abs(weight) < 0.1 else number(weight)


def _box(x: float, y: float, wide: float, high: float, **style: Any) -> Markup:
    return element(
        "rect",
        x=round(x, 2),
        y=round(y, 2),
        width=round(wide, 2),
        height=round(high, 2),
        rx=3,
        **style,
    )
