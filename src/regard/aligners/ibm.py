"""IBM models 1 and 2 — Brown et al. 1993, https://aclanthology.org/J93-2003

    model 1    p(t_j, i | s) ∝ p(t_j | s_i)                       model 2    ∝ p(i | j, I, J) p(t_j | s_i)

Every target word t_j comes of one source word s_i, or of the null word. Which, nobody says: EM counts every
choice by how likely it is now, and makes the counts the probabilities. It begins with even probabilities and
draws nothing, so the same corpus gives the same links. Model 2 goes on from model 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from regard.aligners.corpus_cells import CorpusCells, Real, Whole
from regard.measures import Links, WordPair

Method = Literal["ibm1", "ibm2"]
METHODS: tuple[Method, ...] = ("ibm1", "ibm2")
ITERATIONS = 5  # of each model


def aligned(
    pairs: Sequence[WordPair], method: Method = "ibm1", *, iterations: int = ITERATIONS
) -> list[Links]:
    """The likeliest links of every pair: at most one source word for a target word.

    It learns from these pairs alone. A cell, a target word beside a source word, takes about 60 bytes.
    """
    cells = CorpusCells.of(pairs)
    words = word_probabilities(cells, iterations)
    chosen = words[cells.kinds]
    if method == "ibm2":
        chosen = _with_places(cells, words, iterations)
    best = cells.best(chosen)
    linked = best < cells.widths - 1  # not to the null word
    links = np.stack([best[linked], cells.rows[linked]], 1).tolist()
    counts = np.bincount(cells.sentences[linked], minlength=len(cells.target_lengths))
    ends = np.cumsum(counts).tolist()
    begins = [0, *ends[:-1]]
    return [
        frozenset((i, j) for i, j in links[begin:end])
        for begin, end in zip(begins, ends, strict=False)
    ]


def word_probabilities(cells: CorpusCells, iterations: int) -> Real:
    """(K,) p(t | s) of every kind of word pair, by model 1."""
    words = np.ones(len(cells.kind_sources))
    for _ in range(iterations):
        words = _normalised(cells, cells.shares(words[cells.kinds]))
    return words


def _with_places(cells: CorpusCells, words: Real, iterations: int) -> Real:
    """(C,) p(i | j, I, J) p(t_j | s_i), by model 2."""
    places, place_rows = _places(cells)
    # even to begin with: the words alone decide, as in the last iteration of model 1
    likely = np.ones(len(place_rows))
    for _ in range(iterations):
        shares = cells.shares(likely[places] * words[cells.kinds])
        words = _normalised(cells, shares)
        counts = np.bincount(places, shares, len(place_rows))
        likely = counts / np.bincount(place_rows, counts)[place_rows]
    return likely[places] * words[cells.kinds]


def _normalised(cells: CorpusCells, shares: Real) -> Real:
    counts = np.bincount(cells.kinds, shares, len(cells.kind_sources))
    sums = np.bincount(cells.kind_sources, counts)
    normalised: Real = counts / np.maximum(sums, np.finfo(np.float64).tiny)[cells.kind_sources]
    return normalised


def _places(cells: CorpusCells) -> tuple[Whole, Whole]:
    """(C,) the number of each cell's (i, j, I, J); and of every such number that of its (j, I, J)."""
    lengths = cells.target_lengths[cells.sentences]  # (T,) J
    most = int(lengths.max(initial=0)) + 1
    keys = (cells.widths * most + lengths) * most + cells.rows
    kinds, rows = np.unique(keys, return_inverse=True)  # of (j, I, J)
    widths = kinds // (most * most)
    begins = np.cumsum(widths) - widths
    places = np.repeat(begins[rows.reshape(-1)], cells.widths) + cells.columns
    return places, np.repeat(np.arange(len(kinds)), widths)
