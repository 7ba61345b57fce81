"""A table in a still picture: texts, numbers with bars, strips of colours."""

from __future__ import annotations

from collections.abc import Sequence

from regard.view.markup import Markup, element, join
from regard.view.sheets.sheet_blocks import NumberTable, TableCell
from regard.view.stills.paper import (
    Scale,
    Theme,
    hexadecimal,
    ink_on,
    label,
    length,
    rectangle,
    title_label,
    write,
)

ROW, LETTERS, HEAD, GAP = 21.0, 12.0, 11.0, 18.0
BAR, STRIP, BAR_HIGH, STRIP_HIGH, INSET = 64.0, 128.0, 9.0, 12.0, 6.0


def draw_table(table: NumberTable, theme: Theme) -> tuple[Markup, float, float]:
    lines = [*table.rows, *([table.foot] if table.foot else [])]
    heads = [title_label(title) for title in table.columns]
    widths = [
        max([length(heads[n], HEAD), *(_width(line[n]) for line in lines)])
        for n in range(len(heads))
    ]
    lefts = [sum(widths[:n]) + GAP * n for n in range(len(heads))]
    whole = lefts[-1] + widths[-1]
    drawn = [
        write(text, x, HEAD, size=HEAD, fill=theme.muted)
        for text, x in zip(heads, lefts, strict=True)
    ]
    drawn.append(_rule(HEAD + 6, whole, theme))
    top = HEAD + 8
    for n, line in enumerate(lines):
        if table.foot and n == len(table.rows):
            drawn.append(_rule(top + 1, whole, theme))
        drawn += [
            part
            for cell, x, width in zip(line, lefts, widths, strict=True)
            for part in _cell(cell, x, top, width, theme)
        ]
        top += ROW
    return join(drawn), whole, top


def _width(cell: TableCell) -> float:
    if cell.strip is not None:
        return STRIP
    if cell.shade is not None:
        return length(label(cell.text), LETTERS) + 2 * INSET
    return (0.0 if cell.bar is None else BAR + 8) + length(
        label(cell.text) if cell.text else "", LETTERS
    )


def _rule(y: float, wide: float, theme: Theme) -> Markup:
    return element("rect", x=0, y=round(y, 2), width=round(wide, 2), height=1, fill=theme.rule)


def _cell(cell: TableCell, x: float, top: float, width: float, theme: Theme) -> list[Markup]:
    drawn: list[Markup] = []
    if cell.shade is not None:
        ground = Scale(1.0, False, theme).colour(cell.shade)
        behind = rectangle(x, top + 1, width, ROW - 2, rx=2, fill=hexadecimal(ground))
        style = {"size": LETTERS, "fill": ink_on(ground), "language": cell.language}
        return [behind, write(label(cell.text), x + INSET, top + 15, **style)]  # type: ignore[arg-type]
    if cell.strip is not None:
        return _strip(cell.strip, x, top + (ROW - STRIP_HIGH) / 2, theme)
    if cell.bar is not None:
        drawn += _bar(cell.bar, x, top + (ROW - BAR_HIGH) / 2, theme)
        x += BAR + 8
    if cell.text:
        style = {"size": LETTERS, "fill": theme.ink, "language": cell.language}
        drawn.append(write(label(cell.text), x, top + 15, **style))  # type: ignore[arg-type]
    return drawn


def _bar(share: float, x: float, y: float, theme: Theme) -> list[Markup]:
    """From the left; where a table has shares below 0, they are orange."""
    track = {"x": round(x, 2), "y": round(y, 2), "height": BAR_HIGH, "rx": 2}
    colour = Scale(1.0, True, theme).colour(0.7 if share >= 0 else -0.7)
    wide = round(BAR * min(abs(share), 1.0), 2)
    return [
        element("rect", **track, width=BAR, fill=theme.rule, fill_opacity=0.5),
        element("rect", **track, width=wide, fill=hexadecimal(colour)),
    ]


def _strip(shares: Sequence[float], x: float, y: float, theme: Theme) -> list[Markup]:
    scale = Scale(1.0, True, theme)
    wide = STRIP / max(len(shares), 1)
    return [
        element(
            "rect",
            x=round(x + wide * n, 2),
            y=round(y, 2),
            width=round(wide + 0.2, 2),
            height=STRIP_HIGH,
            fill=hexadecimal(scale.colour(share)),
        )
        for n, share in enumerate(shares)
    ]
