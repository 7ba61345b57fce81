"""What the weights say of themselves, and the measures beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regard.records.attention_map import Array
from regard.records.explanation import Explanation
from regard.records.record import AttentionRecord
from regard.records.side import END, START, Side
from regard.records.token_words import merge_words
from regard.view.captions import caption, measure_name
from regard.view.picked_matrix import Matrix, Pick, picked
from regard.view.sheets.sheet_blocks import (
    Block,
    ColourMap,
    NumberTable,
    SheetWords,
    TableCell,
    TabSheet,
    largest,
    number_text,
)
from regard.words import t

MOST_ROLLED = 256  # tokens: n³ multiplications for each layer


def measures_sheet(record: AttentionRecord, pick: Pick) -> TabSheet:
    matrix = picked(record, pick)
    position = t(
        "Attention shows where the layer read, not why the model answered. The measures below say how "
        "far to trust it for this model and this sentence."
    )
    sections: list[list[Block]] = [
        [SheetWords(position)],
        [SheetWords(t("What the weights say of themselves"), heading=True)],
        [ColourMap(matrix, largest(matrix.weights)), _queries(matrix), _coverage(matrix)],
    ]
    given = [each for each in record.explanations if each.map == matrix.map.name]
    if rolled := _rollout(record, matrix):
        given.append(rolled)
    if given:
        sections.append([SheetWords(t("Measured against the model"), heading=True)])
    for each in sorted(given, key=lambda one: one.matrix is None):
        sections += _measure(each, matrix)
    small = (record.output, record.model, matrix.map.mechanism, matrix.aggregation)
    languages = matrix.columns.language, matrix.rows.language
    return TabSheet(record.name or record.model, small, sections, languages)


def _queries(matrix: Matrix) -> NumberTable:
    """For each query: how wide it read, and what went to marks or nowhere."""
    exact = np.nan_to_num(matrix.weights.astype(np.float64))
    entropy = -np.sum(np.where(exact > 0, exact * np.log(np.where(exact > 0, exact, 1)), 0), -1)
    width = np.exp(entropy)
    special = exact @ _special(matrix)
    missing = 1 - exact.sum(-1)
    is_maximum = "max" in (matrix.aggregation or "").split()
    columns = [t("query"), t("entropy"), t("reads")]
    has_special = bool((special > 0).any())
    has_missing = bool((np.abs(missing) > 0.01).any()) and not is_maximum
    columns += [t("on {marks}", marks=_marks(matrix.columns))] * has_special + [
        t("on nothing")
    ] * has_missing
    most = largest(width) or 1.0
    lines = []
    for n, query in enumerate(matrix.queries):
        line = [
            TableCell(query, language=matrix.rows.language),
            TableCell(number_text(entropy[n])),
            TableCell(number_text(width[n], 1), bar=float(width[n]) / most),
        ]
        line += [TableCell(number_text(special[n]))] * has_special
        line += [TableCell(number_text(missing[n]))] * has_missing
        lines.append(line)
    title = t("Entropy in nats, and how many keys were read effectively")
    return NumberTable(columns, lines, title=title)


def _marks(side: Side) -> str:
    """Those that stand for no text, each once; our own are named together, whichever there are."""
    found = dict.fromkeys(
        token for token, mark in zip(side.tokens, side.special, strict=True) if mark
    )
    own = (START, END)
    return t(", ").join(own if found.keys() <= set(own) else found)


def _special(matrix: Matrix) -> np.ndarray:
    """1 for a column whose tokens all stand for no text."""
    side = matrix.columns
    if len(matrix.keys) == len(side):
        return np.array(side.special, np.float64)
    marks = np.ones(len(matrix.keys))
    for word, special in zip(side.words, side.special, strict=True):
        marks[word] *= special
    return marks


def _coverage(matrix: Matrix) -> NumberTable:
    """Σ over queries for each key: what was read often, and what hardly."""
    mass = np.nan_to_num(matrix.weights.astype(np.float64)).sum(0)
    most = largest(mass) or 1.0
    lines = [
        [
            TableCell(key, language=matrix.columns.language),
            TableCell(number_text(x), bar=float(x) / most),
        ]
        for key, x in zip(matrix.keys, mass, strict=True)
    ]
    title = t("Mass on each key, over all queries (coverage)")
    return NumberTable([t("key"), t("mass")], lines, title=title)


def _measure(each: Explanation, matrix: Matrix) -> list[list[Block]]:
    """Its matrix, a number for each query where it has some, and what it says."""
    row: list[Block] = []
    if each.matrix is not None:
        merged, note = _merged(each, matrix)
        title = each.title + (f" · {note}" if note else "")
        shown = replace(matrix, weights=merged)
        row.append(ColourMap(shown, largest(merged), each.signed, title, t("measure")))
    if each.rows:
        row.append(_numbers(each, matrix))
    heading: list[list[Block]] = [[SheetWords(each.title)]] if each.matrix is None else []
    reading: list[list[Block]] = [[SheetWords(each.reading)]] if each.reading else []
    return [*heading, *([row] if row else []), *reading]


def _merged(each: Explanation, matrix: Matrix) -> tuple[Array, str]:
    """On the words of the map. What a probability loses by two tokens does not add up: the larger stands."""
    values = np.asarray(each.matrix, np.float32)
    if values.shape == matrix.weights.shape:
        return values, ""
    rows, columns = matrix.rows.words, matrix.columns.words
    if not each.signed:
        return merge_words(values, rows, columns), caption("words")
    strongest = np.zeros((values.shape[0], len(matrix.keys)), np.float32)
    for key, word in enumerate(columns):
        new = values[:, key]
        strongest[:, word] = np.where(
            np.abs(new) > np.abs(strongest[:, word]), new, strongest[:, word]
        )
    means = [strongest[np.array(rows) == word].mean(0) for word in range(len(matrix.queries))]
    return np.array(means, np.float32), t("words: largest over keys, mean over queries")


def _numbers(each: Explanation, matrix: Matrix) -> NumberTable:
    """The numbers of each query, and their mean over all tokens, below."""
    tokens = len(matrix.queries) == len(matrix.rows)
    words = np.arange(len(matrix.rows)) if tokens else np.array(matrix.rows.words)
    lines = [[TableCell(query, language=matrix.rows.language)] for query in matrix.queries]
    foot = [TableCell(t("mean"))]
    for numbers in each.rows.values():
        given = np.array(numbers, np.float64)
        means = [_mean(given[words == word]) for word in range(len(matrix.queries))]
        most = largest(means) or 1.0
        for line, x in zip(lines, means, strict=True):
            line.append(TableCell(number_text(x), bar=x / most if np.isfinite(x) else 0.0))
        foot.append(TableCell(number_text(_mean(given))))
    return NumberTable([t("query"), *map(measure_name, each.rows)], lines, foot)


def _mean(numbers: np.ndarray) -> float:
    there = numbers[np.isfinite(numbers)]
    return float(there.mean()) if there.size else float("nan")


def _rollout(record: AttentionRecord, matrix: Matrix) -> Explanation | None:
    """Of a stack of self-attention whose record brings none: R = Â^L … Â^1, Â = rownorm(½ (mean + I))."""
    found = matrix.map
    layers, _, count, _ = found.weights.shape
    brought = any(e.name == "rollout" and e.map == found.name for e in record.explanations)
    if found.queries != found.keys or layers < 2 or count > MOST_ROLLED or brought:
        return None
    rolled = np.eye(count)
    for weights in found.weights.astype(np.float64):
        step = weights.mean(0) + np.eye(count)
        rolled = step / step.sum(-1, keepdims=True) @ rolled
    reading = t(
        "Through all {n} layers, with the residual path as half of each: the product of ½ (mean over "
        "heads + I). It knows nothing of values and of what lies between the layers.",
        n=layers,
    )
    title = t("attention rollout, computed on this page")
    return Explanation("rollout", title, reading, found.name, rolled.astype(np.float32))
