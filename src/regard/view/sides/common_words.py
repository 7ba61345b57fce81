"""Two matrices in words that both have: one text may be cut into tokens in two ways, and two sentences
share some words. The page does the same, in page/panels/compare/common_words.js.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from regard.records.side import Side
from regard.view.captions import caption
from regard.view.picked_matrix import Matrix

Groups = list[list[int]]
Pair = tuple[list[int], list[int]]  # rows of one matrix, and those of the other that say the same
Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Common:
    """Both in the words that both have; how many rows and columns only one has."""

    left: Matrix
    right: Matrix
    alone: tuple[int, int, int, int]  # rows and columns of the left, of the right

    @property
    def difference(self) -> Matrix:
        """right − left"""
        return replace(self.right, weights=self.right.weights - self.left.weights)

    @property
    def variations(self) -> tuple[float, ...]:
        """½ Σ |right − left| of each row: 0 the same, 1 nothing in common."""
        return tuple((np.abs(self.difference.weights).sum(1) / 2).tolist())


def in_common_words(left: Matrix, right: Matrix) -> Common | None:
    """None where an axis has no word in common."""
    rows = pairs_of(left.queries, left.rows, right.queries, right.rows)
    columns = pairs_of(left.keys, left.columns, right.keys, right.columns)
    if not rows or not columns:
        return None
    (a, b), (c, d) = _unzipped(rows), _unzipped(columns)
    alone = (
        len(left.queries) - sum(map(len, a)),
        len(left.keys) - sum(map(len, c)),
        len(right.queries) - sum(map(len, b)),
        len(right.keys) - sum(map(len, d)),
    )
    return Common(_merged(left, a, c), _merged(right, b, d), alone)


def aggregation_of(shown: Matrix, matrix: Matrix) -> str:
    """How what is shown of a matrix was put together: its tokens may be words in common words alone."""
    words = caption("words")
    said = matrix.aggregation.split(" · ")
    joined = shown.weights.shape != matrix.weights.shape and words not in said
    return " · ".join([*said, words] if joined else said)


def pairs_of(one: Sequence[str], side: Side, other: Sequence[str], beside: Side) -> list[Pair]:
    """Which of the labels of one axis stand for which of the other, in their order."""
    if list(one) == list(other):
        return [([n], [n]) for n in range(len(one))]
    if _packed(side.text) != _packed(beside.text):
        return _by_labels(one, other)
    return _by_spans(_spans(len(one), side), _spans(len(other), beside), one, other)


def members(count: int, side: Side) -> Groups:
    """The tokens of each row: tokens as they are, or those of a word, whichever there are so many of."""
    if count == len(side):
        return [[place] for place in range(count)]
    return [[p for p, word in enumerate(side.words) if word == n] for n in range(count)]


def _packed(text: str) -> str:
    return "".join(text.split())


def _spans(count: int, side: Side) -> Spans:
    """Where each row stands in the text, white space not counted."""
    before = np.concatenate([[0], np.cumsum([not c.isspace() for c in side.text], dtype=int)])
    last = len(before) - 1
    return [
        (
            int(before[min(side.offsets[p][0] for p in group)]) if group else 0,
            int(before[min(max(side.offsets[p][1] for p in group), last)]) if group else 0,
        )
        for group in members(count, side)
    ]


def _by_spans(a: Spans, b: Spans, one: Sequence[str], other: Sequence[str]) -> list[Pair]:
    """The finest groups whose ends both have; what has no place in the text is paired by its name."""
    pairs: list[Pair] = []
    i = j = 0
    while i < len(a) or j < len(b):
        nowhere = i < len(a) and a[i][0] >= a[i][1], j < len(b) and b[j][0] >= b[j][1]
        if all(nowhere) and one[i] == other[j]:
            pairs.append(([i], [j]))
            i, j = i + 1, j + 1
        elif nowhere[0]:
            i += 1
        elif nowhere[1]:
            j += 1
        elif i == len(a) or j == len(b):
            break
        else:
            pair: Pair = ([i], [j])
            end = max(a[i][1], b[j][1])
            i, j = i + 1, j + 1
            while (more := _goes_on(a, i, end)) or _goes_on(b, j, end):
                end = max(end, a[i][1] if more else b[j][1])
                pair[0 if more else 1].append(i if more else j)
                i, j = (i + 1, j) if more else (i, j + 1)
            pairs.append(pair)
    return pairs


def _goes_on(spans: Spans, at: int, end: int) -> bool:
    """Whether what comes next begins before the end of a group."""
    return at < len(spans) and spans[at][0] < spans[at][1] and spans[at][0] < end


def _by_labels(one: Sequence[str], other: Sequence[str]) -> list[Pair]:
    """The longest sequence of words that both have."""
    longest = np.zeros((len(one) + 1, len(other) + 1), int)
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            same = one[i] == other[j]
            longest[i, j] = (
                longest[i + 1, j + 1] + 1 if same else max(longest[i + 1, j], longest[i, j + 1])
            )
    pairs: list[Pair] = []
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            pairs.append(([i], [j]))
            i, j = i + 1, j + 1
        elif longest[i + 1, j] >= longest[i, j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _merged(matrix: Matrix, rows: Groups, columns: Groups) -> Matrix:
    """Sums over columns, means over the tokens of rows, as words are put together."""
    sizes = np.array([len(group) for group in members(len(matrix.queries), matrix.rows)])
    summed = np.stack([matrix.weights[:, group].sum(1) for group in columns], 1)
    weights = np.stack([(summed[g] * sizes[g, None]).sum(0) / sizes[g].sum() for g in rows])
    open_pairs = np.stack([matrix.allowed[:, group].any(1) for group in columns], 1)
    return replace(
        matrix,
        weights=weights.astype(np.float32),
        allowed=np.stack([open_pairs[group].any(0) for group in rows]),
        queries=_labels(rows, matrix.queries, matrix.rows),
        keys=_labels(columns, matrix.keys, matrix.columns),
    )


def _labels(groups: Groups, names: Sequence[str], side: Side) -> tuple[str, ...]:
    tokens = members(len(names), side)
    return tuple(
        names[group[0]] if len(group) == 1 else _slice(side, tokens, group) for group in groups
    )


def _slice(side: Side, tokens: Groups, group: list[int]) -> str:
    places = [place for at in group for place in tokens[at]]
    start, end = side.offsets[places[0]][0], max(side.offsets[place][1] for place in places)
    return side.text[start:end].strip() or "".join(side.tokens[place] for place in places)


def _unzipped(pairs: Sequence[Pair]) -> tuple[Groups, Groups]:
    return [one for one, _ in pairs], [other for _, other in pairs]
