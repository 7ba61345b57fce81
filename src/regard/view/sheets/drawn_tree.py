"""The tree of a beam search in a still picture: steps from left to right, the best hypothesis on top."""

from __future__ import annotations

from regard.view.markup import Markup, element, join
from regard.view.sheets.sheet_blocks import Branch, SearchTree
from regard.view.stills.paper import Scale, Theme, hexadecimal, label, length, write
from regard.words import t

ROW, BOX, STEP, PAD, LETTERS, SMALL = 32.0, 24.0, 26.0, 8.0, 13.0, 11.0


def draw_tree(tree: SearchTree, theme: Theme) -> tuple[Markup, float, float]:
    branches = tree.branches
    widths = [length(label(each.text), LETTERS) + 2 * PAD for each in branches]
    steps = [0.0] * (max((each.depth for each in branches), default=-1) + 1)
    for each, wide in zip(branches, widths, strict=True):
        steps[each.depth] = max(steps[each.depth], wide)
    lefts = [sum(steps[:n]) + STEP * n for n in range(len(steps))]
    rows = max((each.row for each in branches), default=-1) + 1
    places = [(lefts[each.depth], each.row * ROW) for each in branches]
    edges = [
        _edge(each, places[each.parent], widths[each.parent], place, theme)
        for each, place in zip(branches, places, strict=True)
        if each.parent >= 0
    ]
    boxes = [
        part
        for each, place, wide in zip(branches, places, widths, strict=True)
        for part in _box(each, place, wide, theme, tree.language)
    ]
    ends = max((length(each.end, SMALL) for each in branches), default=0.0)
    fates = {each.fate for each in branches}
    marks = {
        "ended": t("framed: an end, with its place and score"),
        "dropped": t("dashed: dropped"),
    }
    told = [words for fate, words in marks.items() if fate in fates]
    legend = " · ".join([t("thick line: likely token"), *told])
    high = rows * ROW
    words = write(legend, 0, high + 14, size=SMALL, fill=theme.muted)
    whole = (lefts[-1] + steps[-1] if steps else 0.0) + ends + 10
    return join([*edges, *boxes, words]), max(whole, length(legend, SMALL)), high + 18


def _edge(
    each: Branch,
    start: tuple[float, float],
    wide: float,
    end: tuple[float, float],
    theme: Theme,
) -> Markup:
    (x, y), (x2, y2) = (start[0] + wide, start[1] + BOX / 2), (end[0], end[1] + BOX / 2)
    bend = x2 - STEP
    curve = f"C{bend + 14:.1f} {y:.1f} {x2 - 14:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    path = f"M{x:.1f} {y:.1f}L{bend:.1f} {y:.1f}{curve}"
    return element(
        "path",
        d=path,
        fill="none",
        stroke=_colour(theme) if each.on_path else theme.muted,
        stroke_width=round(1 + 4 * each.chance, 2),
        stroke_opacity=round(0.35 + 0.65 * each.chance, 2),
    )


def _box(
    each: Branch, place: tuple[float, float], wide: float, theme: Theme, language: str
) -> list[Markup]:
    x, y = place
    dropped = each.fate == "dropped"
    box = element(
        "rect",
        x=round(x, 2),
        y=round(y, 2),
        width=round(wide, 2),
        height=BOX,
        rx=6,
        fill=theme.ground,
        stroke=_colour(theme) if each.on_path else theme.muted if dropped else theme.rule,
        stroke_width=1.6 if each.fate == "ended" else 1,
        stroke_dasharray="3 3" if dropped else None,
    )
    fill = theme.muted if dropped else theme.ink
    middle = x + wide / 2
    word = write(
        label(each.text),
        middle,
        y + 16.5,
        size=LETTERS,
        fill=fill,
        anchor="middle",
        language=language,
    )
    if not each.end:
        return [box, word]
    return [box, word, write(each.end, x + wide + 8, y + 16.5, size=SMALL, fill=theme.muted)]


def _colour(theme: Theme) -> str:
    return hexadecimal(Scale(1.0, True, theme).colour(0.8))
