"""A sheet as one SVG: its heading, then its sections from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence

from regard.view.markup import join
from regard.view.sheets.drawn_table import draw_table
from regard.view.sheets.drawn_tree import draw_tree
from regard.view.sheets.sheet_blocks import (
    Block,
    ColourMap,
    LitPictures,
    NumberTable,
    SearchTree,
    SheetWords,
    TabSheet,
)
from regard.view.stills.composition import Caption, DrawnPart, below, beside, page, titled
from regard.view.stills.drawn_cells import draw_cells, draw_scale
from regard.view.stills.drawn_picture import draw_overlay_scale, draw_panels
from regard.view.stills.paper import EM, Scale, Theme, length, theme_named, wrapped, write
from regard.words import t

HEADING, TEXT, TITLE = 14.0, 12.0, 12.0
LINE = 90  # cells of a line of words
APART = 18.0  # between sections


def draw_sheet(sheet: TabSheet, theme: str = "light") -> str:
    paper = theme_named(theme)
    said = ": ".join(filter(None, (sheet.heading, *sheet.small[-1:])))
    caption = Caption(sheet.heading, sheet.small, said, sheet.languages)
    sections = [beside(_row(row, paper)) for row in sheet.sections]
    return page([titled(caption, below(sections, APART), paper)], [caption], paper)


def _row(blocks: Sequence[Block], theme: Theme) -> list[DrawnPart]:
    """Titles that need fewer lines than others get as many, so that what is below them is level."""
    first = [_drawn(block, theme) for block in blocks]
    named = [block for block in blocks if isinstance(block, ColourMap | NumberTable)]
    if len(named) < 2:
        return first
    counts = [_title_lines(block, each.wide) for block, each in zip(blocks, first, strict=True)]
    lines = max(len(count) for count in counts)
    return [_drawn(block, theme, lines) for block in blocks]


def _title_lines(block: Block, wide: float) -> list[str]:
    if not isinstance(block, ColourMap | NumberTable) or not block.title:
        return []
    return wrapped(block.title, max(int(wide / (TITLE * EM)), 40))


def _drawn(block: Block, theme: Theme, lines: int = 0) -> DrawnPart:
    """lines: that the title takes at least."""
    if isinstance(block, SheetWords):
        return _words(block, theme)
    if isinstance(block, SearchTree):
        return DrawnPart(*draw_tree(block, theme))
    if isinstance(block, ColourMap):
        scale = Scale(block.full or 1.0, block.signed, theme)
        cells = DrawnPart(*draw_cells(block.matrix, scale))
        legend = DrawnPart(*draw_scale(block.matrix, scale, block.name))
        return _named(block, [cells, legend], theme, lines)
    if isinstance(block, NumberTable):
        parts = [DrawnPart(*draw_table(block, theme))]
        if block.signed_full:
            parts.append(
                DrawnPart(*draw_scale(None, Scale(block.signed_full, True, theme), t("strips")))
            )
        if block.shades:
            parts.append(DrawnPart(*draw_scale(None, Scale(1.0, False, theme), block.shades)))
        return _named(block, parts, theme, lines)
    assert isinstance(block, LitPictures)
    scale = Scale(1.0, False, theme)
    panels = DrawnPart(*draw_panels(block.matrix, block.picture, block.glimpses, scale))
    return below([panels, DrawnPart(*draw_overlay_scale(theme))])


def _named(
    block: ColourMap | NumberTable, parts: Sequence[DrawnPart], theme: Theme, lines: int
) -> DrawnPart:
    """Parts under a title that may be long."""
    texts = _title_lines(block, max(part.wide for part in parts))
    texts += [""] * (lines - len(texts))
    return below([_lines(texts, TITLE, theme.ink), *parts], 12.0) if texts else below(parts, 12.0)


def _words(block: SheetWords, theme: Theme) -> DrawnPart:
    if block.heading:
        return _lines([block.text], HEADING, theme.ink, bold=True)
    return _lines(wrapped(block.text, LINE, 4), TEXT, theme.muted)


def _lines(texts: Sequence[str], size: float, fill: str, *, bold: bool = False) -> DrawnPart:
    weight = 600 if bold else None
    drawn = [
        write(text, 0, size * (1 + 1.4 * n), size=size, fill=fill, weight=weight)
        for n, text in enumerate(texts)
        if text
    ]
    wide = max((length(text, size) for text in texts), default=0.0)
    return DrawnPart(join(drawn), wide, size * (1.4 * len(texts) - 0.1))
