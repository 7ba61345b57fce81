"""Attention between pieces becomes links between words."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.measures import Alignment, aer, align, spans, word_weights
from regard.measures.align import shares

SOURCE, TARGET = "我是学生", "I am a student"
SOURCE_TOKENS = [(0, 1), (1, 2), (2, 4)]
TARGET_TOKENS = [(0, 1), (1, 4), (4, 6), (6, 10), (10, 14)]  # I, " am", " a", " stu", dent
ATTENTION = [  # 我 是 学生 EOS
    [0.6, 0.1, 0.1, 0.2],  # I
    [0.1, 0.6, 0.1, 0.2],  # am
    [0.1, 0.1, 0.2, 0.6],  # a
    [0.3, 0.0, 0.2, 0.5],  # stu
    [0.0, 0.1, 0.8, 0.1],  # dent
    [0.0, 0.0, 0.1, 0.9],  # EOS
]


def test_words_are_between_blanks_or_characters():
    assert spans(" I  am") == [(1, 2), (4, 6)]
    assert spans("我 是", "characters") == [(0, 1), (2, 3)]
    assert spans("") == []
    with pytest.raises(ValueError, match="choose 'words' or 'characters'"):
        spans("a", "pieces")


def test_student_by_hand():
    weights = word_weights(ATTENTION, SOURCE_TOKENS, TARGET_TOKENS, SOURCE_TOKENS, spans(TARGET))
    wanted = [[0.6, 0.1, 0.1], [0.1, 0.6, 0.1], [0.1, 0.1, 0.2], [0.15, 0.05, 0.5]]
    np.testing.assert_allclose(weights, wanted)


def test_eos_takes_no_link():
    """The column of EOS has the most of `a`, and its row is no word."""
    links = align(ATTENTION, SOURCE_TOKENS, TARGET_TOKENS, SOURCE_TOKENS, spans(TARGET))
    assert links == {(0, 0), (1, 1), (2, 2), (2, 3)}


def test_without_eos_the_links_are_the_same():
    trimmed = [row[:3] for row in ATTENTION[:5]]
    words = SOURCE_TOKENS, TARGET_TOKENS, SOURCE_TOKENS, spans(TARGET)
    assert align(trimmed, *words) == align(torch.tensor(ATTENTION), *words)


def test_a_threshold_may_give_a_word_no_link_or_several():
    words = [(0, 1), (2, 3)]
    attention = [[0.5, 0.5], [0.4, 0.3]]
    assert align(attention, words, words, words, words, threshold=0.45) == {(0, 0), (1, 0)}


def test_source_pieces_are_summed():
    """Two pieces of one word win together over a third."""
    attention = [[0.3, 0.3, 0.4]]
    pieces, words = [(0, 2), (2, 4), (5, 7)], [(0, 4), (5, 7)]
    assert align(attention, pieces, [(0, 1)], words, [(0, 1)]) == {(0, 0)}


def test_a_piece_over_several_words_is_shared_by_characters():
    np.testing.assert_allclose(shares([(0, 3)], [(0, 1), (1, 3)]), [[1 / 3, 2 / 3]])


def test_bytes_of_one_character_are_pieces_of_it():
    np.testing.assert_allclose(shares([(0, 1)] * 3, [(0, 1), (1, 2)]), [[1, 0]] * 3)


def test_a_piece_of_blanks_belongs_to_no_word():
    assert shares([(1, 2)], spans("a b")).tolist() == [[0, 0]]


def test_a_word_without_pieces_or_weight_has_no_link():
    words = spans("a b")
    assert align([[1.0, 0.0]], words, [(0, 1)], words, words) == {(0, 0)}
    assert align([[0.0, 0.0], [0.0, 1.0]], words, words, words, words) == {(1, 1)}
    assert align(np.zeros((0, 2)), words, [], words, []) == frozenset()


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 4), min_size=1, max_size=6))
def test_rows_still_sum_to_one(seed, lengths):
    """Sum over keys and mean over queries keep a distribution a distribution."""
    draw = np.random.default_rng(seed)
    ends = np.cumsum(lengths)
    words = [(int(end - n), int(end)) for end, n in zip(ends, lengths, strict=True)]
    pieces = [(i, i + 1) for i in range(int(ends[-1]))]
    attention = draw.dirichlet(np.ones(len(pieces)), size=len(pieces))
    weights = word_weights(attention, pieces, pieces, words, words)
    np.testing.assert_allclose(weights.sum(1), 1)


def test_copying_is_aligned_without_error():
    words = spans("one two three")
    links = align(np.eye(4), words, words, words, words)
    assert aer([links], [Alignment(frozenset({(0, 0), (1, 1), (2, 2)}))]).aer == 0


def test_mistakes():
    with pytest.raises(ValueError, match="attention is 1 × 4, but there are 1 target and 2 source"):
        align([[0.1] * 4], [(0, 1), (1, 2)], [(0, 1)], [(0, 2)], [(0, 1)])
    with pytest.raises(ValueError, match="NaN"):
        align([[float("nan")]], [(0, 1)], [(0, 1)], [(0, 1)], [(0, 1)])
