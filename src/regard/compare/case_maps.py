"""What each of two variants attended to on one item, drawn side by side."""

from __future__ import annotations

from collections.abc import Sequence

from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.view.heat_table import DENSE, heat_table
from regard.view.markup import Markup, element, join
from regard.view.picked_matrix import Matrix, Pick, picked
from regard.view.samples import marked_text, scrolled
from regard.words import t

NEAREST = ("cross", "focus", "pair", "pair windows", "pooling")  # to the answer, the first first
NAMED = 0.05  # a weight of what is no word that is worth being named


def shown_maps(records: Sequence[AttentionRecord | None]) -> list[str]:
    """The attentions that the variants do not have in common, or those that are nearest to the answer.

    Of poolings all are shown where each is of another text.
    """
    maps = [{each.name: each for each in record.maps} for record in records if record]
    if not maps:
        return []
    shared = [name for name in maps[0] if all(name in each for each in maps)]
    differing = [name for name in shared if len({each[name].mechanism for each in maps}) > 1]
    usual = [
        name for kind in NEAREST for name in shared if name == kind or name.startswith(f"{kind} ")
    ]
    chosen = next(iter([*differing, *usual, *shared]), "")
    if chosen.startswith("pooling "):  # one for each text
        return [name for name in shared if name.startswith("pooling ")]
    return [chosen] if chosen else []


def attention_drawing(
    record: AttentionRecord | None, variant: str, maps: Sequence[str]
) -> Markup | str:
    """The maps of these names, or the first where a record has none of them."""
    if record is None or not record.maps:
        return ""
    there = [each.name for each in record.maps]
    names = [name for name in maps if name in there] or there[:1]
    caption = t("Attention of {name}", name=variant)
    return join(_drawing(picked(record, Pick(map=name)), caption) for name in names)


def _drawing(matrix: Matrix, caption: str) -> Markup:
    """A table; of one row, or of very many columns, the text with its words marked."""
    table = heat_table(
        matrix.weights.tolist(),
        list(matrix.queries),
        list(matrix.keys),
        caption=caption,
        query_language=matrix.rows.language,
        key_language=matrix.columns.language,
    )
    said = element("p", matrix.aggregation, class_="signature")
    in_words = matrix.columns.picture is None and len(matrix.keys) == len(_places(matrix.columns))
    if not in_words or (len(matrix.queries) > 1 and len(matrix.keys) <= DENSE):
        return join([scrolled(table, caption), said])
    whole: Markup | str = ""
    if len(matrix.queries) > 1:
        summary = element("summary", t("each row of {count}", count=len(matrix.queries)))
        whole = element("details", summary, scrolled(table, caption))
    return join([_marked(matrix), said, whole])


def _marked(matrix: Matrix) -> Markup:
    """The text of the columns, each word marked by the mean of its weights over the rows."""
    weights, side = matrix.weights.mean(0).tolist(), matrix.columns
    places = _places(side)
    every = zip(places, weights, strict=True)
    marks = [(start, end, weight) for (start, end), weight in every if end > start]
    beside = [
        f"{key} {100 * weight:.0f} %"
        for key, (start, end), weight in zip(matrix.keys, places, weights, strict=True)
        if start == end and weight >= NAMED
    ]
    heaviest = max((weight for *_, weight in marks), default=0.0)
    legend = [t("full colour: {share} %", share=f"{100 * heaviest:.0f}"), *beside]
    return join(
        [
            element(
                "p",
                *marked_text(side.text, marks),
                class_="marked",
                dir="auto",
                lang=side.language or None,
            ),
            element("p", " · ".join(legend), class_="signature"),
        ]
    )


def _places(side: Side) -> list[tuple[int, int]]:
    """Where each word stands in the text."""
    found: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(side.words, side.offsets, strict=True):
        first = found.get(word, (start, end))[0]
        found[word] = first, end
    return list(found.values())
