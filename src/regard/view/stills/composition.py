"""How drawings become one picture: under each other, beside each other, under a caption, on a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regard.view.markup import Markup, element, join
from regard.view.stills.paper import BOLD, EM, Theme, length, wrapped, write
from regard.view.terminal_cells import visible
from regard.words import t

MARGIN, GAP = 20, 36
NARROWEST = 300  # of a picture: its title needs room
WHOLE = 8  # lines of what says how a picture came about: it is not cut off
TITLE, SMALL = 15, 11


@dataclass(frozen=True)
class DrawnPart:
    """Its upper left corner is 0, 0."""

    markup: Markup
    wide: float
    high: float


class Caption(NamedTuple):
    """What stands over the weights: a heading, and lines below it, in the languages of both."""

    heading: str
    small: Sequence[str]
    said: str  # the whole in a few words
    languages: tuple[str, str] = ("", "")


def below(drawings: Sequence[DrawnPart], gap: float = 16.0) -> DrawnPart:
    placed, y = [], 0.0
    for each in drawings:
        placed.append(element("g", each.markup, transform=f"translate(0 {y:.1f})"))
        y += each.high + gap
    return DrawnPart(join(placed), max((each.wide for each in drawings), default=0.0), y - gap)


def beside(drawings: Sequence[DrawnPart], gap: float = GAP) -> DrawnPart:
    if len(drawings) == 1:
        return drawings[0]
    placed, x = [], 0.0
    for each in drawings:
        placed.append(element("g", each.markup, transform=f"translate({x:.1f} 0)"))
        x += each.wide + gap
    return DrawnPart(join(placed), x - gap, max((each.high for each in drawings), default=0.0))


def titled(caption: Caption, drawing: DrawnPart, theme: Theme) -> DrawnPart:
    """The caption, and the drawing below it."""
    wide = max(drawing.wide, NARROWEST)
    lines: list[Markup] = []
    y = 0.0
    for number, text in enumerate((caption.heading, *caption.small)):
        if not text or (number and text == caption.heading):
            continue
        size = TITLE if number == 0 else SMALL + (2 if number == 1 else 0)
        language = caption.languages[min(number, 1)]
        bold = 600 if number == 0 else None
        cells = int(wide / (size * EM * (BOLD if bold else 1)))
        for line in wrapped(text, cells, lines=WHOLE if number else 2):
            y += size * 1.45
            fill = theme.ink if number < 2 else theme.muted
            shown = line.removesuffix(" ·")  # what comes after the dot is in the next line
            lines.append(write(shown, 0, y, size=size, fill=fill, language=language, weight=bold))
            wide = max(wide, length(line, size))
    top = y + 20
    under = element("g", drawing.markup, transform=f"translate(0 {top:.1f})")
    return DrawnPart(join([*lines, under]), wide, top + drawing.high)


def page(drawings: Sequence[DrawnPart], captions: Sequence[Caption], paper: Theme) -> str:
    wide = sum(each.wide for each in drawings) + GAP * (len(drawings) - 1) + 2 * MARGIN
    high = max(each.high for each in drawings) + 2 * MARGIN
    placed, x = [], float(MARGIN)
    for each in drawings:
        placed.append(element("g", each.markup, transform=f"translate({x:.1f} {MARGIN})"))
        x += each.wide + GAP
    across, down = math.ceil(round(wide, 3)), math.ceil(round(high, 3))
    said = "; ".join(caption.said for caption in captions)
    return element(
        "svg",
        element("title", t("attention. {what}", what=visible(said))),
        element("rect", width=across, height=down, fill=paper.ground),
        *placed,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {across} {down}",
        width=across,
        height=down,
        role="img",
    )
