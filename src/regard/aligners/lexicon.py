"""What IBM model 1 has learnt of words, kept: which source word a word of any sentence comes of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.aligners.corpus_cells import CorpusCells, Real, Whole
from regard.aligners.ibm import ITERATIONS, word_probabilities
from regard.measures import WordPair

Ids = Sequence[int] | NDArray[Any]
LEAST = 1e-3  # a rarer word pair is forgotten, unless nothing explains its target word better
NOWHERE = -1  # the place of a token that comes of no word
NO_WORD = -1  # the null word among the source tokens


class Lexicon:
    """p(t | s) of pairs of tokens, by IBM model 1; `places` says where the tokens of a target come from.

    size: how many target tokens there are. sources, targets, shares (K,): s, t and p(t | s) of each pair.
    """

    def __init__(self, size: int, sources: Whole, targets: Whole, shares: Real) -> None:
        self.size = size
        order = np.lexsort((targets, sources))
        self.sources, self.targets, self.shares = sources[order], targets[order], shares[order]
        tokens, begins = np.unique(self.sources, return_index=True)
        edges = [*begins.tolist(), len(self.sources)]
        rows = zip(tokens.tolist(), edges[:-1], edges[1:], strict=True)
        self._rows = {token: slice(begin, end) for token, begin, end in rows}

    @classmethod
    def learnt(
        cls, pairs: Sequence[tuple[Ids, Ids]], size: int, *, iterations: int = ITERATIONS
    ) -> Lexicon:
        """Of pairs of sentences in tokens. Nothing is drawn: the same pairs give the same lexicon."""
        words = [WordPair([str(i) for i in s], [str(i) for i in t]) for s, t in pairs]
        cells = CorpusCells.of(words)
        shares = np.round(word_probabilities(cells, iterations), 6)
        targets = cells.kind_targets
        best = np.zeros(int(targets.max(initial=-1)) + 1)
        np.maximum.at(best, targets, shares)
        kept = (shares >= LEAST) | (shares == best[targets])
        known_sources = np.array([NO_WORD, *_in_order(pair.source for pair in words)])
        known_targets = np.array(_in_order(pair.target for pair in words), np.int64)
        return cls(
            size,
            known_sources[cells.kind_sources[kept]],
            known_targets[targets[kept]],
            shares[kept],
        )

    def first_places(self, source: Ids) -> Whole:
        """(size,) where the source token that explains each target token best stands first; NOWHERE: none
        does better than the null word.
        """
        best, places = np.zeros(self.size), np.full(self.size, NOWHERE, np.int64)
        for place, token in enumerate([NO_WORD, *map(int, source)], NOWHERE):
            row = self._rows.get(token, slice(0))
            targets, shares = self.targets[row], self.shares[row]
            better = shares > best[targets]
            best[targets[better]], places[targets[better]] = shares[better], place
        return places

    def places(self, source: Ids, target: Ids) -> list[int]:
        """Where each target token comes from; see `next_place`."""
        first, found, last = self.first_places(source), list[int](), NOWHERE
        for token in target:
            last = next_place(source, int(first[int(token)]), last)
            found.append(last)
        return found

    def to_dict(self) -> dict[str, Any]:
        return {
            "size": self.size,
            "sources": self.sources.tolist(),
            "targets": self.targets.tolist(),
            "shares": self.shares.tolist(),
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Lexicon:
        sources, targets = (np.array(found[name], np.int64) for name in ("sources", "targets"))
        return cls(found["size"], sources, targets, np.array(found["shares"], np.float64))


def next_place(source: Ids, first: int, last: int) -> int:
    """The place of a target token whose source token stands first at `first`, after one that came of `last`.

    Where that source token stands several times, it is the one nearest to the place behind `last`. A token
    that comes of no word has the place of the one before it, as nothing is known of what is not yet said.
    """
    if first == NOWHERE:
        return max(last, 0)
    same = [i for i, token in enumerate(source) if token == source[first]]
    return min(same, key=lambda i: abs(i - last - 1))


def _in_order(sentences: Iterable[Sequence[str]]) -> list[int]:
    """The different words, in the order that they are met."""
    return [int(word) for word in dict.fromkeys(word for words in sentences for word in words)]
