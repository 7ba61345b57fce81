"""IBM models 1 and 2 are what a plain EM over dictionaries says, and need neither order nor luck."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest

from regard.aligners import METHODS, aligned
from regard.aligners.corpus_cells import CorpusCells
from regard.aligners.ibm import _with_places, word_probabilities
from regard.measures import WordPair

HOUSE = [
    WordPair(["das", "haus"], ["the", "house"]),
    WordPair(["das", "buch"], ["the", "book"]),
    WordPair(["ein", "buch"], ["a", "book"]),
]


def drawn_corpus(seed, sentences=12):
    rng = random.Random(seed)

    def words(letters):
        return [rng.choice(letters) for _ in range(rng.randint(0, 6))]

    return [WordPair(words("abcde"), words("vwxyz")) for _ in range(sentences)]


def plain_em(pairs, iterations, with_places):
    """The definition: dictionaries, and a loop over everything. Null is None, behind the source."""
    t = defaultdict(lambda: 1.0)
    a = defaultdict(lambda: 1.0)

    def iterate(places):
        counts, sums = defaultdict(float), defaultdict(float)
        place_counts, place_sums = defaultdict(float), defaultdict(float)
        for source, target in pairs:
            source = [*source, None]
            for j, word in enumerate(target):
                at = (j, len(source), len(target))
                weights = [
                    t[s, word] * (a[(i, *at)] if places else 1.0) for i, s in enumerate(source)
                ]
                for i, s in enumerate(source):
                    share = weights[i] / sum(weights)
                    counts[s, word] += share
                    sums[s] += share
                    place_counts[(i, *at)] += share
                    place_sums[at] += share
        t.update({key: count / sums[key[0]] for key, count in counts.items()})
        if places:
            a.update({key: count / place_sums[key[1:]] for key, count in place_counts.items()})

    for _ in range(iterations):
        iterate(False)
    for _ in range(iterations if with_places else 0):
        iterate(True)
    return [
        t[s, word] * (a[i, j, len(source) + 1, len(target)] if with_places else 1.0)
        for source, target in pairs
        for j, word in enumerate(target)
        for i, s in enumerate([*source, None])
    ]


@pytest.mark.parametrize("seed", range(8))
def test_both_models_are_a_plain_em(seed):
    pairs = drawn_corpus(seed)
    cells = CorpusCells.of(pairs)
    words = word_probabilities(cells, 4)
    np.testing.assert_allclose(words[cells.kinds], plain_em(pairs, 4, False), rtol=1e-10)
    both = _with_places(cells, words, 4)
    np.testing.assert_allclose(both, plain_em(pairs, 4, True), rtol=1e-10)


def test_probabilities_of_a_source_word_sum_to_one():
    cells = CorpusCells.of(drawn_corpus(3))
    words = word_probabilities(cells, 3)
    sums = np.bincount(cells.kind_sources, words)
    np.testing.assert_allclose(sums[np.bincount(cells.kind_sources) > 0], 1.0)


def test_em_never_makes_the_corpus_less_likely():
    cells = CorpusCells.of(drawn_corpus(5))
    likelihoods = []
    for iterations in range(1, 7):
        words = word_probabilities(cells, iterations)[cells.kinds]
        each = np.add.reduceat(words, cells.starts) / cells.widths
        likelihoods.append(np.log(each).sum())
    assert np.all(np.diff(likelihoods) >= -1e-9)


def test_the_example_that_everybody_knows():
    links = aligned(HOUSE, "ibm1", iterations=20)
    assert links == [{(0, 0), (1, 1)}] * 3


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_pairs_changes_nothing(method):
    pairs = drawn_corpus(1) + HOUSE
    assert aligned(pairs[::-1], method)[::-1] == aligned(pairs, method)


@pytest.mark.parametrize("method", METHODS)
def test_empty_sentences_have_no_links(method):
    pairs = [WordPair([], ["a"]), WordPair(["a"], []), WordPair([], []), WordPair(["a"], ["b"])]
    links = aligned(pairs, method)
    assert links[:3] == [frozenset()] * 3
    assert aligned([], method) == []
    assert aligned([WordPair([], [])], method) == [frozenset()]


def test_model_2_learns_an_order_that_words_alone_do_not_tell():
    """a a a -> x x x: model 1 links all to the first; places that other pairs taught decide."""
    reverse = [WordPair(list("abc"), list("CBA")), WordPair(list("bca"), list("ACB"))]
    repeated = WordPair(list("aaa"), list("AAA"))
    pairs = [*reverse * 5, WordPair(list("cab"), list("BAC")), repeated]
    assert aligned(pairs, "ibm1")[-1] == {(0, 0), (0, 1), (0, 2)}
    assert aligned(pairs, "ibm2", iterations=10)[-1] == {(2, 0), (1, 1), (0, 2)}
