"""What a model predicts at each position, layer by layer, as a sheet. The page has the same."""

from __future__ import annotations

import re

from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.view.sheets.sheet_blocks import (
    NumberTable,
    SheetWords,
    TableCell,
    TabSheet,
    number_text,
)
from regard.view.terminal_cells import visible
from regard.words import t

MOST_COLUMNS = 64  # positions; the last ones are drawn of more


def lens_sheet(
    record: AttentionRecord, query: int | None = None, line: int | None = None
) -> TabSheet:
    """query, line: the place whose likeliest answers are listed, the last of the last if not given."""
    lens = record.lens
    if lens is None:
        raise NotARecord(t("this record has no predictions"))
    side = record.sides[lens.side]
    first = max(0, len(side) - MOST_COLUMNS)
    places = range(first, len(side))
    last = len(lens.layers) - 1
    line = last if line is None or not 0 <= line <= last else line
    query = len(side) - 1 if query is None or not 0 <= query < len(side) else query
    query = max(first, query)
    rows = [
        [
            TableCell(_layer(name)),
            *(
                TableCell(
                    lens.tokens[number][place][0], shade=float(lens.probabilities[number, place, 0])
                )
                for place in places
            ),
        ]
        for number, name in enumerate(lens.layers)
    ]
    columns = ["", *(visible(side.tokens[place]) for place in places)]
    best = [
        [TableCell(token), TableCell(number_text(chance, 3), bar=float(chance))]
        for token, chance in zip(
            lens.tokens[line][query], lens.probabilities[line, query], strict=True
        )
    ]
    chosen = t(
        "{layer}, at {token}", layer=_layer(lens.layers[line]), token=visible(side.tokens[query])
    )
    said = []
    if first:
        told = t("The last {n} of {count} positions.", n=MOST_COLUMNS, count=len(side))
        said.append([SheetWords(told)])
    return TabSheet(
        record.name or record.model,
        (record.output, record.model, t("Predictions, layer by layer")),
        [
            *said,
            [NumberTable(columns, rows, shades=t("probability"))],
            [SheetWords(chosen, heading=True)],
            [NumberTable([t("token"), t("probability")], best)],
        ],
        ("", side.language),
    )


def _layer(name: str) -> str:
    if number := re.fullmatch(r"layer (\d+)", name):
        return t("layer {n}", n=number[1])
    return {"output": t("output"), "embedding": t("embedding")}.get(name, name)
