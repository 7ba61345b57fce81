"""A lexicon says of sentences that were not aligned where their words come from."""

from __future__ import annotations

import json

import numpy as np

from regard.aligners import Lexicon, aligned
from regard.aligners.lexicon import NO_WORD, NOWHERE, next_place
from regard.measures import WordPair

# 10 das 11 haus 12 buch 13 ein; 1 the 2 house 3 book 4 a
PAIRS = [([10, 11], [1, 2]), ([10, 12], [1, 3]), ([13, 12], [4, 3])]


def test_places_are_the_links_of_the_aligner_where_no_word_stands_twice() -> None:
    lexicon = Lexicon.learnt(PAIRS, size=6)
    words = [WordPair([str(i) for i in s], [str(i) for i in t]) for s, t in PAIRS]
    for (source, target), links in zip(PAIRS, aligned(words), strict=True):
        found = lexicon.places(source, target)
        assert {(i, j) for j, i in enumerate(found)} == set(links)


def test_a_sentence_that_was_not_learnt_from_is_aligned() -> None:
    lexicon = Lexicon.learnt(PAIRS, size=6)
    assert lexicon.places([13, 11], [4, 2]) == [0, 1]
    assert lexicon.places([11, 13], [4, 2]) == [1, 0]


def test_the_best_share_decides_and_the_null_word_and_unknown_tokens_are_nowhere() -> None:
    sources, targets = np.array([NO_WORD, 10, 11, 11]), np.array([3, 3, 3, 4])
    lexicon = Lexicon(6, sources, targets, np.array([0.5, 0.2, 0.6, 0.1]))
    assert lexicon.first_places([10, 11, 99]).tolist() == [NOWHERE] * 3 + [1, 1, NOWHERE]
    assert lexicon.first_places([10])[3] == NOWHERE
    assert lexicon.places([10, 11], [5, 3, 5, 5]) == [0, 1, 1, 1]
    assert lexicon.places([], [3, 4]) == [0, 0]


def test_of_equal_words_the_nearest_behind_the_last_place_is_taken() -> None:
    source = [7, 8, 7, 9, 7]
    assert next_place(source, 0, NOWHERE) == 0
    assert next_place(source, 0, 1) == 2
    assert next_place(source, 0, 3) == 4
    assert next_place(source, 0, 0) == 0  # 0 and 2 are as near to 1: the first
    assert next_place(source, NOWHERE, 3) == 3


def test_it_comes_back_from_json() -> None:
    lexicon = Lexicon.learnt(PAIRS, size=6)
    again = Lexicon.from_dict(json.loads(json.dumps(lexicon.to_dict())))
    for source, _ in PAIRS:
        assert np.array_equal(again.first_places(source), lexicon.first_places(source))


def test_nothing_to_learn_from_explains_nothing() -> None:
    lexicon = Lexicon.learnt([], size=3)
    assert lexicon.first_places([5, 6]).tolist() == [NOWHERE] * 3
