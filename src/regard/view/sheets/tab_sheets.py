"""Every tab of the page as a sheet, by its name in the page's address: steps, beam, compare, …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.view.captions import side_title
from regard.view.picked_matrix import Matrix, Pick, over_cells, picked
from regard.view.sheets.drawn_sheet import draw_sheet
from regard.view.sheets.lens_sheet import lens_sheet
from regard.view.sheets.measures_sheet import measures_sheet
from regard.view.sheets.sheet_blocks import (
    Block,
    ColourMap,
    LitPictures,
    NumberTable,
    SheetWords,
    TableCell,
    TabSheet,
    largest,
    number_text,
)
from regard.view.sheets.steps_sheet import steps_sheet
from regard.view.sheets.tree_sheet import tree_sheet
from regard.view.sides.common_words import aggregation_of, in_common_words
from regard.view.sides.side_by_side import is_given, names_apart
from regard.words import t

TABS = ("steps", "beam", "compare", "explain", "picture", "table", "lens")


class NoSuchTab(NotARecord):
    """A tab that the page does not have, or has nothing in."""

    hint = "--tab steps shows the numbers of one query; without --tab the map is drawn"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint or self.hint


@dataclass(frozen=True)
class Focus:
    """What is chosen inside a tab."""

    query: int | None = (
        None  # steps, lens: a token, from 0; None, the first of steps, the last of a lens
    )
    step: int = 4  # steps: up to which
    node: int | None = None  # beam: None, the end of the best
    dropped: bool = False  # beam: what others beat is shown
    count: int = 3  # table: the strongest keys of each query
    line: int | None = None  # lens: a line, from 0; None, the last


def draw_tab(
    records: Sequence[AttentionRecord],
    pick: Pick,
    tab: str,
    focus: Focus | None = None,
    *,
    theme: str = "light",
    scored: Sequence[AttentionRecord] = (),
) -> str:
    """The SVG of a tab of the first record; `compare` is of the first two.

    scored: of either, as it writes what the other wrote.
    """
    return draw_sheet(tab_sheet(records, pick, tab, focus or Focus(), scored), theme)


def tab_sheet(
    records: Sequence[AttentionRecord],
    pick: Pick,
    tab: str,
    focus: Focus,
    scored: Sequence[AttentionRecord] = (),
) -> TabSheet:
    first = records[0]
    if tab == "steps":
        return steps_sheet(first, pick, focus.query or 0, focus.step)
    if tab == "beam":
        return tree_sheet(first, focus.node, focus.dropped)
    if tab == "explain":
        return measures_sheet(first, pick)
    if tab == "picture":
        return _picture(first, pick)
    if tab == "lens":
        return lens_sheet(first, focus.query, focus.line)
    if tab == "table":
        return _links(first, pick, focus.count)
    if tab == "compare":
        return _two(records, pick, scored)
    raise NoSuchTab(t("no tab {tab}: there are {tabs}", tab=repr(tab), tabs=", ".join(TABS)))


def _links(record: AttentionRecord, pick: Pick, count: int) -> TabSheet:
    """The strongest keys of each query."""
    matrix = picked(record, pick)
    most = largest(matrix.weights) or 1.0
    lines = [
        [
            TableCell(query, language=matrix.rows.language),
            TableCell(matrix.keys[key], language=matrix.columns.language),
            TableCell(number_text(weights[key], 3), bar=float(weights[key]) / most),
        ]
        for query, weights in zip(matrix.queries, matrix.weights, strict=True)
        for key in np.argsort(-weights, kind="stable")[:count]
        if weights[key] != 0
    ]
    titles = [
        side_title(matrix.rows.title) or t("query"),
        side_title(matrix.columns.title) or t("key"),
        t("weight"),
    ]
    said = SheetWords(t("The {n} strongest keys of each query.", n=count))
    return _of(record, matrix, [[said], [NumberTable(titles, lines)]])


def _picture(record: AttentionRecord, pick: Pick) -> TabSheet:
    with_picture = [each for each in record.maps if record.sides[each.keys].picture is not None]
    named = [each for each in with_picture if pick.map in (None, each.name)] or with_picture
    if not named:
        raise NoSuchTab(
            t("the keys of this record are no cells of a picture"),
            t("--tab table shows the strongest keys of each query"),
        )
    found = named[0]
    matrix = picked(record, replace(pick, map=found.name, tokens=True))
    picture = matrix.columns.picture
    assert picture is not None
    boxes = record.glimpses if found is record.maps[0] else ()
    return _of(record, matrix, [[LitPictures(over_cells(matrix), picture, boxes)]])


def _two(
    records: Sequence[AttentionRecord], pick: Pick, scored: Sequence[AttentionRecord]
) -> TabSheet:
    """Two records on one colour scale, and what lies between them; of one, a head beside the mean."""
    left, right, given = _compared(records, pick, scored)
    names = (
        tuple(f"{name}: " for name in names_apart(*records[:2])) if len(records) > 1 else ("", "")
    )
    common = in_common_words(left, right)
    alone = common is None or any(common.alone)
    one, other = (left, right) if common is None or alone else (common.left, common.right)
    full = largest(one.weights, other.weights)
    maps = [
        ColourMap(matrix, full, title=name + aggregation_of(matrix, side))
        for name, matrix, side in zip(names, (one, other), (left, right), strict=True)
    ]
    if common is None:
        why = t("No difference map: {why}.", why=why_no_difference(left, right))
        return _of_two(records, (left, right), names, given, [maps, [SheetWords(why)]])
    apart = common.difference
    title = t("difference: right − left")
    title += f" · {t('of the words that both have')}" if alone else ""
    maps.append(ColourMap(apart, largest(apart.weights), True, title, t("difference")))
    sections: list[list[Block]] = [[*maps], [SheetWords(_distance(common.left, common.right))]]
    return _of_two(records, (left, right), names, given, sections)


def _compared(
    records: Sequence[AttentionRecord], pick: Pick, scored: Sequence[AttentionRecord]
) -> tuple[Matrix, Matrix, str]:
    """Left, right, and what both write: a right that wrote something else is given the left's output."""
    left = picked(records[0], pick)
    if len(records) > 1:
        given = [each for each in scored if is_given(each, records[1], records[0].output)]
        right = picked(given[0] if given else records[1], pick)
        return left, right, records[0].output if given else ""
    layers, heads = left.map.weights.shape[:2]
    if layers * heads == 1:
        raise NoSuchTab(
            t("There is one record with one map: nothing to compare it with."),
            t("give two texts, or -m twice"),
        )
    # of the same map something else: one head beside the mean, the mean beside one head
    usual = [each + 1 if isinstance(each, int) else each for each in left.map.shown]
    layer, head = pick.layer or usual[0], pick.head or usual[1]
    if layers > 1:
        layer = layers if layer == "mean" else "mean"
    else:
        head = 1 if head == "mean" else "mean"
    return left, picked(records[0], replace(pick, layer=layer, head=head)), ""


def _of_two(
    records: Sequence[AttentionRecord],
    matrices: tuple[Matrix, Matrix],
    names: Sequence[str],
    given: str,
    sections: Sequence[Sequence[Block]],
) -> TabSheet:
    """What came out on either side and how each attends; given: the output that both write."""
    sheet = _of(records[0], matrices[0], sections)
    if len(records) == 1:
        return sheet
    one, other = records[:2]

    def named(left: str, right: str) -> list[str]:
        if left == right:
            return [left]
        return [
            name + text if text else "" for name, text in zip(names, (left, right), strict=True)
        ]

    small = (
        *named(one.output, other.output),
        one.model if one.model == other.model else "",
        *named(*(matrix.map.mechanism for matrix in matrices)),
        t("both as they write “{output}”", output=given) if given else "",
    )
    return replace(sheet, small=[text for text in small if text])


def why_no_difference(one: Matrix, other: Matrix) -> str:
    """Empty where they have one."""
    axes = [(one.queries, other.queries, t("queries")), (one.keys, other.keys, t("keys"))]
    for a, b, name in axes:
        if len(a) != len(b):
            return t(
                "the {axis} are {left} on the left and {right} on the right",
                axis=name,
                left=len(a),
                right=len(b),
            )
        for left, right in zip(a, b, strict=True):
            if left != right:
                return t(
                    "the {axis} differ: “{left}” on the left, “{right}” on the right",
                    axis=name,
                    left=left,
                    right=right,
                )
    return ""


def _distance(left: Matrix, right: Matrix) -> str:
    rows = np.abs(left.weights.astype(np.float64) - right.weights).sum(-1) / 2
    if rows.mean() == 0:
        return t("They are the same: each row has a total variation of 0.")
    worst = int(rows.argmax())
    return t(
        "Mean total variation of a row: {mean} (0: the same, 1: nothing in common). "
        "They differ most at “{word}”: {most}.",
        mean=number_text(float(rows.mean()), 3),
        word=left.queries[worst],
        most=number_text(float(rows[worst]), 3),
    )


def _of(record: AttentionRecord, matrix: Matrix, sections: Sequence[Sequence[object]]) -> TabSheet:
    small = (record.output, record.model, matrix.map.mechanism, matrix.aggregation)
    languages = matrix.columns.language, matrix.rows.language
    return TabSheet(record.name or record.model or matrix.map.name, small, sections, languages)  # type: ignore[arg-type]
