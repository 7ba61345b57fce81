"""One query step by step: scores, region, normalisation, weighted sum, with the numbers."""

from __future__ import annotations

import re

import numpy as np

from regard.records.attention_map import Array, AttentionMap
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.view.picked_matrix import NoSuchPart, Pick, picked
from regard.view.sheets.sheet_blocks import (
    Block,
    Numbers,
    NumberTable,
    SheetWords,
    TableCell,
    TabSheet,
    largest,
    number_text,
)
from regard.view.terminal_cells import visible
from regard.words import t

MOST_KEYS = 48  # rows of the table
MOST_COLOURS = 64  # of a strip
NEAR = 1e-3  # of a score: what rounding does
Column = tuple[str, list[TableCell], TableCell]  # its title, the cell of each key, that of the sum


def steps_sheet(record: AttentionRecord, pick: Pick, query: int = 0, step: int = 4) -> TabSheet:
    """query: a token of the queries, from 0; step: up to which the columns go, 1 to 4."""
    found = picked(record, pick).map
    layer, head = _one_head(found, pick)
    query = min(query, found.weights.shape[2] - 1)
    rows, keys = record.sides[found.queries], record.sides[found.keys]
    weights = found.weights[layer, head, query]
    shown = np.sort(np.argsort(-weights, kind="stable")[:MOST_KEYS])
    allowed = np.ones(len(weights), bool)
    if found.allowed is not None:
        allowed = np.broadcast_to(found.allowed, found.weights.shape)[layer, head, query]
    columns = _columns(found, (layer, head, query), weights, allowed, shown, step)
    names = [TableCell(visible(keys.tokens[key]), language=keys.language) for key in shown]
    columns.insert(0, (t("key"), names, TableCell(t("sum"))))
    lines = list(zip(*(cells for _, cells, _ in columns), strict=True))
    foot = [total for *_, total in columns] if step >= 3 else ()
    values = found.values is not None and step >= 4
    full = largest(found.values[layer, head]) if values and found.values is not None else 0.0
    table = NumberTable([title for title, *_ in columns], lines, foot, signed_full=full)
    said = [SheetWords(t("query: {word}", word=visible(rows.tokens[query])), heading=True)]
    if len(weights) > MOST_KEYS:
        rest = number_text(float(weights.sum() - weights[shown].sum()), 3)
        told = t(
            "The {n} heaviest keys; the other {others} have {weight} together.",
            n=MOST_KEYS,
            others=len(weights) - MOST_KEYS,
            weight=rest,
        )
        said.append(SheetWords(told))
    if values and found.values is not None and (each := _per_colour(found.values.shape[-1])) > 1:
        said.append(SheetWords(t("strips: each colour is the mean of {n} numbers", n=each)))
    if found.scores is None or found.values is None:
        said.append(SheetWords(t("What the record was made without is missing, not zero.")))
    one = picked(record, Pick(found.name, layer + 1, head + 1, tokens=True))
    small = (record.output, record.model, found.mechanism, one.aggregation)
    sections: list[list[Block]] = [[line] for line in said]
    sections.append([table])
    if step in (1, 4) and (made := _neurons(found, (layer, head, query), shown, rows, keys)):
        sections += made
    return TabSheet(record.name or record.model, small, sections, (keys.language, rows.language))


def _neurons(
    found: AttentionMap, place: tuple[int, int, int], shown: np.ndarray, rows: Side, keys: Side
) -> list[list[Block]]:
    """Where each score comes from, number by number; nothing where queries and keys were not kept."""
    if found.query_vectors is None or found.key_vectors is None:
        return []
    layer, head, query = place
    asking = found.query_vectors[layer, head, query].astype(np.float64)
    vectors = found.key_vectors[layer, head][shown].astype(np.float64)
    vector = None if found.score_vector is None else found.score_vector[layer, head]
    products = asking * vectors if vector is None else np.tanh(asking + vectors) * vector
    sums = products.sum(-1)
    bias = None
    if found.scores is not None:
        scores = found.scores[layer, head, query]
        lacks = scores[shown] - sums
        if (np.abs(lacks) > NEAR * max(1.0, largest(scores))).any():
            bias = lacks
    most = [largest(part) for part in (vectors, products)]
    columns = [t("key"), t("k"), t("q ⊙ k") if vector is None else t("v ⊙ tanh(q + k)"), t("sum")]
    lines = [
        [
            TableCell(visible(keys.tokens[key]), language=keys.language),
            TableCell(strip=_strip(vectors[n], most[0])),
            TableCell(strip=_strip(products[n], most[1])),
            TableCell(number_text(sums[n], 3)),
        ]
        for n, key in enumerate(shown)
    ]
    if bias is not None:
        columns.append(t("bias"))
        lines = [
            [*line, TableCell(number_text(lack, 3))] for line, lack in zip(lines, bias, strict=True)
        ]
    own = [("q", visible(rows.tokens[query]), rows.language, asking)]
    own += [] if vector is None else [("v", "", "", vector.astype(np.float64))]
    vectors_of = [
        [
            TableCell(name),
            TableCell(word, language=language),
            TableCell(strip=_strip(numbers, largest(numbers))),
        ]
        for name, word, language, numbers in own
    ]
    heading = SheetWords(t("Query and keys, number by number"), heading=True)
    scale = SheetWords(t("The strongest colour of a column is its largest number."))
    return [
        [heading],
        [scale],
        [NumberTable(["", t("query"), ""], vectors_of)],
        [NumberTable(columns, lines)],
    ]


def _one_head(found: AttentionMap, pick: Pick) -> tuple[int, int]:
    """A mean was put together afterwards and has no scores: one head of one layer has steps."""
    places = []
    wishes = ((pick.layer, found.shown[0]), (pick.head, found.shown[1]))
    for count, (wish, usual) in zip(found.weights.shape[:2], wishes, strict=True):
        if count == 1:
            places.append(0)
        elif wish is None and isinstance(usual, int):
            places.append(usual)
        elif wish is not None and str(wish).isdecimal():
            places.append(int(wish) - 1)
        else:
            raise NoSuchPart(
                t("only one head of one layer has steps: choose one with --layer N and --head N")
            )
    return places[0], places[1]


def _columns(
    found: AttentionMap,
    place: tuple[int, int, int],
    weights: Array,
    allowed: np.ndarray,
    shown: np.ndarray,
    step: int,
) -> list[Column]:
    """Those that the record has numbers for, of steps that are reached."""
    layer, head, query = place
    most = largest(weights) or 1.0
    columns: list[tuple[int, Column]] = []

    def add(at: int, title: str, cells: list[TableCell], total: TableCell | None = None) -> None:
        columns.append((at, (title, cells, total or TableCell())))

    if found.scores is not None:
        scores = found.scores[layer, head, query]
        highest = largest(scores) or 1.0
        add(
            1,
            t("score"),
            [TableCell(number_text(scores[k]), bar=_share(scores[k], highest)) for k in shown],
        )
    add(2, t("in the region"), [TableCell("✓" if allowed[k] else t("outside")) for k in shown])
    temperature = _temperature(found.normalizer)
    if found.scores is not None and temperature is not None:
        exps = _exponentials(found.scores[layer, head, query], allowed, temperature)
        title = t("exp(score − max)") if temperature == 1 else t("exp((score − max) / τ)")
        total = TableCell(number_text(float(exps.sum()), 3))
        add(3, title, [TableCell(number_text(exps[k], 3)) for k in shown], total)
    if found.factor is not None:
        factor = np.broadcast_to(found.factor, found.weights.shape)[layer, head, query]
        add(3, t("factor"), [TableCell(number_text(factor[k], 3)) for k in shown])
    cells = [TableCell(number_text(weights[k], 3), bar=_share(weights[k], most)) for k in shown]
    whole = float(weights.astype(np.float64).sum())
    add(3, t("weight"), cells, TableCell(number_text(whole, 3)))
    if found.values is not None:
        values = found.values[layer, head].astype(np.float64)
        full = largest(values) or 1.0
        weighted = values * weights[:, None]
        total = weighted.sum(0)
        add(4, t("value"), [TableCell(strip=_strip(values[k], full)) for k in shown])
        add(
            4,
            t("weight × value"),
            [TableCell(strip=_strip(weighted[k], full * most)) for k in shown],
            TableCell(strip=_strip(total, largest(total))),
        )
    return [column for at, column in columns if at <= step]


def _share(number: float, most: float) -> float:
    return float(number) / most if np.isfinite(number) else 0.0


def _temperature(normalizer: str) -> float | None:
    """Of a softmax; None of anything else. A Gumbel softmax draws no noise here."""
    name = re.match(r"[a-z-]*", normalizer.lower())
    quiet = "straight_through=true" not in normalizer.lower()
    if name is None or not (name[0] == "softmax" or (name[0] == "gumbel" and quiet)):
        return None
    given = re.search(r"temperature\s*=\s*([\d.eE+-]+)", normalizer)
    return float(given[1]) if given else 1.0


def _exponentials(scores: Array, allowed: np.ndarray, temperature: float) -> Numbers:
    """e = exp((s − max s) / τ) where allowed, else 0"""
    exact = scores.astype(np.float64)
    highest = exact[allowed].max() if allowed.any() else 0.0
    return np.where(allowed, np.exp((np.where(allowed, exact, highest) - highest) / temperature), 0)


def _per_colour(size: int) -> int:
    return max(-(-size // MOST_COLOURS), 1)


def _strip(numbers: Numbers, full: float) -> list[float]:
    each = _per_colour(len(numbers))
    means = [float(numbers[n : n + each].mean()) for n in range(0, len(numbers), each)]
    return [mean / (full or 1.0) for mean in means]
