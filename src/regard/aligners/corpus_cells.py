"""A corpus of sentence pairs as flat arrays: every target word beside every word of its source.

C cells, T target words (tokens), K kinds of word pair. What an aligner sums over is one axis, so that an
iteration over a corpus is a handful of array operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.measures import WordPair

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
NULL = 0  # the source word of what translates no word


@dataclass(frozen=True)
class CorpusCells:
    """The cells of a corpus; those of a target word stand together, the null word's last."""

    starts: Whole  # (T,) the first cell of each target word
    widths: Whole  # (T,) its cells: words of its source, and the null word
    kinds: Whole  # (C,) the kind of word pair of each cell
    kind_sources: (
        Whole  # (K,) the source word of each kind, numbered from 1 in the order they are met
    )
    kind_targets: Whole  # (K,) the target word of each kind, numbered from 0 alike
    rows: Whole  # (T,) j: the place of each target word in its sentence
    sentences: Whole  # (T,) and its sentence
    target_lengths: Whole  # (sentences,)

    @classmethod
    def of(cls, pairs: Sequence[WordPair]) -> CorpusCells:
        sources, source_lengths = _numbers([pair.source for pair in pairs], first=NULL + 1)
        targets, target_lengths = _numbers([pair.target for pair in pairs], first=0)
        sentences = np.repeat(np.arange(len(pairs)), target_lengths)
        begins = np.cumsum(source_lengths) - source_lengths  # (sentences,) in `sources`
        widths = source_lengths[sentences] + 1
        starts = np.cumsum(widths) - widths
        columns = _counted(widths)  # (C,) i: the place of each cell's source word
        at = np.repeat(begins[sentences], widths) + columns
        is_null = columns == np.repeat(widths - 1, widths)
        source = np.where(is_null, NULL, np.append(sources, NULL)[np.where(is_null, -1, at)])
        size = int(targets.max(initial=0)) + 1
        codes = source * size + np.repeat(targets, widths)
        known, kinds = np.unique(codes, return_inverse=True)
        return cls(
            starts,
            widths,
            kinds.reshape(-1),
            known // size,
            known % size,
            _counted(target_lengths),
            sentences,
            target_lengths,
        )

    @property
    def columns(self) -> Whole:
        """(C,) i: the place of each cell's source word; behind the last: the null word."""
        return _counted(self.widths)

    def shares(self, weights: Real) -> Real:
        """(C,) weights, divided by their sum over the cells of the same target word."""
        if not len(weights):
            return weights
        sums = np.maximum(np.add.reduceat(weights, self.starts), np.finfo(np.float64).tiny)
        return weights / np.repeat(sums, self.widths)

    def best(self, weights: Real) -> Whole:
        """(T,) the place of the greatest weight of each target word, the first of equal ones."""
        if not len(weights):
            return np.zeros(0, np.int64)
        greatest = np.repeat(np.maximum.reduceat(weights, self.starts), self.widths)
        places = np.where(weights == greatest, self.columns, len(weights))
        found: Whole = np.minimum.reduceat(places, self.starts)
        return found


def _numbers(sentences: Sequence[Sequence[str]], first: int) -> tuple[Whole, Whole]:
    """All words in a row, numbered from `first` in the order they are met; and the lengths."""
    known: dict[str, int] = {}
    flat = [known.setdefault(word, len(known) + first) for words in sentences for word in words]
    return np.array(flat, np.int64), np.array([len(words) for words in sentences], np.int64)


def _counted(lengths: Whole) -> Whole:
    """0 1 2 0 1 … of lengths 3, 2, …"""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - lengths, lengths)
