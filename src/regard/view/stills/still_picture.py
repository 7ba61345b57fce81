"""A record as one still picture, for a paper or a page: SVG, drawn here, without a browser.

    Path("attention.svg").write_text(draw([record], Pick(layer=2)))

Several records stand side by side on one colour scale. Above the weights stands which model they
are of, and how layers, heads and words were put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from regard.records.record import AttentionRecord
from regard.view.captions import side_title
from regard.view.picked_matrix import Matrix, Pick, by_hop, over_cells, picked
from regard.view.shaded.level_lines import level_lines, shown_levels
from regard.view.sides.side_by_side import side_by_side
from regard.view.stills.composition import Caption, DrawnPart, below, page, titled
from regard.view.stills.drawn_cells import draw_cells, draw_scale
from regard.view.stills.drawn_heads import DrawnHead, coloured, draw_heads
from regard.view.stills.drawn_levels import draw_levels
from regard.view.stills.drawn_lines import draw_lines
from regard.view.stills.drawn_picture import draw_panels
from regard.view.stills.drawn_sights import Part, draw_sight
from regard.view.stills.drawn_text import draw_marks, draw_text
from regard.view.stills.paper import Scale, Theme, theme_named
from regard.view.stills.running_words import MANY, SEVERAL, runs_on
from regard.view.stills.several_heads import chosen_heads, heads_title
from regard.view.stills.sight_words import sight_name
from regard.words import t

STYLES = ("cells", "lines", "text")


def draw(
    records: Sequence[AttentionRecord],
    pick: Pick | None = None,
    *,
    style: str | None = None,
    theme: str = "light",
    scored: Sequence[AttentionRecord] = (),
) -> str:
    """style: cells, a heat map; lines, from each query to its keys, thick where the weight is great; text,
    the keys as words that run on, shaded, once for each query. None: text where few rows have many keys.
    Beside two records stands their difference. scored: of either, as it writes what the other wrote.
    """
    if style not in (None, *STYLES):
        raise ValueError(
            t("no style {style}: {styles}", style=repr(style), styles=" or ".join(STYLES))
        )
    if not records:
        raise ValueError(t("there is no record to draw"))
    paper = theme_named(theme)
    chosen = pick or Pick()
    found = [_matrix(each, chosen) for each in records]
    several = [
        chosen_heads(each, chosen) if matrix else {}
        for each, matrix in zip(records, found, strict=True)
    ]
    every = [matrix for heads in several for matrix in heads.values()]
    scale = common_scale(every or [matrix for matrix in found if matrix], paper)
    blocks, captions = [], []
    for record, matrix, heads in zip(records, found, several, strict=True):
        if shows_sight(record, chosen):
            assert record.sight is not None
            block, caption = DrawnPart(*draw_sight(record.sight, paper)), _of_sight(record)
        elif matrix is None:
            lines = level_lines(record, tokens=chosen.tokens)
            block, caption = DrawnPart(*draw_levels(lines, paper)), _of_levels(record)
        else:
            if heads:
                matrix = replace(matrix, aggregation=heads_title(record, chosen))
            drawn_as = style or ("text" if runs_on(matrix) and not heads else "cells")
            block = _weights(record, matrix, scale, drawn_as, coloured(heads, scale))
            caption = _of_matrix(record, matrix, drawn_as)
        blocks.append(titled(caption, block, paper))
        captions.append(caption)
    if (
        all(found)
        and not every
        and style != "text"
        and (compared := side_by_side(records, scored, chosen))
    ):
        difference = compared.common.difference
        apart = common_scale([difference], paper)._replace(signed=True)
        cells = below(
            [DrawnPart(*draw_cells(difference, apart)), DrawnPart(*draw_scale(difference, apart))]
        )
        caption = Caption(compared.title, compared.lines, compared.title)
        blocks.append(titled(caption, cells, paper))
        captions.append(caption)
    return page(blocks, captions, paper)


def still_of(record: AttentionRecord, pick: Pick, part: Part, theme: str) -> str:
    """A drawing of something in a record, under the record's caption: one picture of a film."""
    paper = theme_named(theme)
    caption = (
        _of_sight(record)
        if shows_sight(record, pick)
        else _of_matrix(record, picked(record, pick), "cells")
    )
    return page([titled(caption, DrawnPart(*part), paper)], [caption], paper)


def shows_sight(record: AttentionRecord, pick: Pick) -> bool:
    """Whether the picture is drawn, and not a map that was asked for."""
    return record.sight is not None and pick.map is None


def _matrix(record: AttentionRecord, pick: Pick) -> Matrix | None:
    if shows_sight(record, pick) or shown_levels(record, pick):
        return None
    rows = by_hop(record, pick)
    too_many = len(rows.queries) > SEVERAL and len(rows.keys) > MANY
    return picked(record, pick) if too_many else rows  # more hops than can be read: their mean


def common_scale(matrices: Sequence[Matrix], theme: Theme) -> Scale:
    """The strongest colour is the largest weight of all of them."""
    finite = [matrix.weights[np.isfinite(matrix.weights)] for matrix in matrices]
    every = np.concatenate([np.empty(0), *(part.ravel() for part in finite)])
    full = float(np.abs(every).max()) if every.size else 0.0
    return Scale(full or 1.0, bool(every.size and every.min() < 0), theme)


def _weights(
    record: AttentionRecord,
    matrix: Matrix,
    scale: Scale,
    style: str,
    heads: Sequence[DrawnHead] = (),
) -> DrawnPart:
    if matrix.columns.picture is not None:
        boxes = record.glimpses if matrix.map is record.maps[0] else ()
        return DrawnPart(*draw_panels(over_cells(matrix), matrix.columns.picture, boxes, scale))
    legend = DrawnPart(*(draw_heads(heads, scale) if heads else draw_scale(matrix, scale)))
    if style == "lines":
        lines = DrawnPart(*draw_lines(matrix, scale, heads))
        return below([lines, legend]) if heads else lines
    if style == "cells" or heads:
        return below([DrawnPart(*draw_cells(matrix, scale, heads)), legend])
    answers = record.answer_places.get(matrix.map.keys, ())
    marks = DrawnPart(*draw_marks(matrix, scale, answers))
    text = DrawnPart(*draw_text(matrix, scale, answers))
    return below([text, marks, legend] if marks.high else [text, legend])


def _of_matrix(record: AttentionRecord, matrix: Matrix, style: str) -> Caption:
    """The name of the record, its output, model, mechanism and aggregation."""
    small = [record.output, record.model, matrix.map.mechanism, matrix.aggregation]
    if matrix.columns.picture is not None:  # how it came about is in the page and in the numbers
        small[1:] = [" · ".join(filter(None, (record.model, matrix.aggregation)))]
    said = ": ".join(filter(None, (record.name or record.model, matrix.aggregation)))
    languages = matrix.columns.language, matrix.rows.language
    heading = record.name or record.model or matrix.map.name
    if style == "text" and record.output and record.title == matrix.columns.text:
        heading = record.output  # the text itself is what is drawn
    return Caption(heading, (*small, _axes(matrix, style)), said, languages)


def _of_sight(record: AttentionRecord) -> Caption:
    assert record.sight is not None
    what = sight_name(record.sight)
    said = ": ".join(filter(None, (record.title or record.model, record.output, what)))
    heading = record.title or record.model or what
    return Caption(heading, (record.output, record.model, what), said)


def _of_levels(record: AttentionRecord) -> Caption:
    """What came out: the document itself is what is drawn."""
    assert record.levels is not None
    what = t("words and sentences")
    small = ("", record.model, record.levels.mechanism, what)
    said = ": ".join(filter(None, (record.model, record.output, what)))
    return Caption(record.output or record.model or what, small, said)


def _axes(matrix: Matrix, style: str) -> str:
    if matrix.columns.picture is not None:
        return t("dim: not attended to; a line is around the strongest cells")
    queries = side_title(matrix.rows.title) or t("queries")
    keys = side_title(matrix.columns.title) or t("keys")
    if style == "cells":
        return t("rows: {queries} · columns: {keys}", queries=queries, keys=keys)
    if style == "text":
        words = t("words: {keys}, shaded by their weights", keys=keys)
        several = len(matrix.queries) > 1
        return (
            f"{words} · {t('a text for each row: {queries}', queries=queries)}"
            if several
            else words
        )
    return t("left: {queries} · right: {keys}", queries=queries, keys=keys)
