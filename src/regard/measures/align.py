"""From the attention between pieces of words to links between words.

    links = align(prediction.attention, source.offsets, target.offsets,
                  spans(source_text), spans(target_text))
    to_pharaoh(links)    # 0-0 1-2

A token is given by its offsets into the raw text, a word by its span there, so the words may be
anything: what stands between blanks, characters, or the tokens themselves (pass the offsets twice).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.measures.alignment import Links
from regard.measures.bleu_by_length import Unit
from regard.words import t

if TYPE_CHECKING:
    from torch import Tensor

Span = tuple[int, int]  # from this character up to, not including, that one
Weights = NDArray[np.float64]


def spans(text: str, unit: Unit = "words") -> list[Span]:
    """Where the words of a text are: between blanks, or each character that is not a blank."""
    if unit not in ("words", "characters"):
        raise ValueError(t("no unit {unit}: choose 'words' or 'characters'", unit=repr(unit)))
    return [match.span() for match in re.finditer(r"\S+" if unit == "words" else r"\S", text)]


def align(
    attention: Tensor | Sequence[Sequence[float]],
    source_tokens: Sequence[Span],
    target_tokens: Sequence[Span],
    source_words: Sequence[Span],
    target_words: Sequence[Span],
    *,
    threshold: float | None = None,
) -> Links:
    """(source, target) links: each target word with the source word it attends to most.

    threshold: instead, with every source word whose weight is at least this; perhaps with none.
    """
    weights = word_weights(attention, source_tokens, target_tokens, source_words, target_words)
    if threshold is not None:
        return frozenset((int(j), int(i)) for i, j in np.argwhere(weights >= threshold))
    return frozenset((int(row.argmax()), i) for i, row in enumerate(weights) if row.any())


def word_weights(
    attention: Tensor | Sequence[Sequence[float]],
    source_tokens: Sequence[Span],
    target_tokens: Sequence[Span],
    source_words: Sequence[Span],
    target_words: Sequence[Span],
) -> Weights:
    """W = mean over the pieces of a target word, sum over the pieces of a source word, of A

    attention (T, S) or (T + 1, S + 1): a row and a column more than there are tokens are those of
    EOS. They are dropped and nothing is scaled up, so what EOS swallowed is missing from the row.
    A piece that covers several words is shared among them by the characters it has in each.
    """
    tokens = np.asarray(attention, dtype=np.float64)
    rows, columns = len(target_tokens), len(source_tokens)
    if tokens.ndim != 2 or not _fits(tokens.shape[0], rows) or not _fits(tokens.shape[1], columns):
        raise ValueError(
            t(
                "the attention is {map}, but there are {rows} target and {columns} source "
                "tokens (one row and one column more would be those of EOS)",
                map=" × ".join(map(str, tokens.shape)),
                rows=rows,
                columns=columns,
            )
        )
    if not np.isfinite(tokens).all():
        raise ValueError(t("the attention holds NaN or infinity: no word can be aligned by it"))
    source, target = shares(source_tokens, source_words), shares(target_tokens, target_words)
    pieces = np.maximum(target.sum(0), np.finfo(float).tiny)  # of each target word
    return (target / pieces).T @ tokens[:rows, :columns] @ source


def shares(tokens: Sequence[Span], words: Sequence[Span]) -> Weights:
    """(tokens, words): how much of each token lies in each word; a row sums to 1, or to 0 if in none."""
    ends = np.array(words, dtype=np.int64).reshape(-1, 2)
    pieces = np.array(tokens, dtype=np.int64).reshape(-1, 2)
    low = np.maximum(pieces[:, None, 0], ends[None, :, 0])
    high = np.minimum(pieces[:, None, 1], ends[None, :, 1])
    overlap = np.maximum(high - low, 0).astype(np.float64)
    return overlap / np.maximum(overlap.sum(1, keepdims=True), 1.0)


def _fits(size: int, tokens: int) -> bool:
    return size in (tokens, tokens + 1)
