"""Token and sequence error rates against their definitions."""

from __future__ import annotations

import math
import random
from functools import cache

import numpy as np
import pytest

from regard.measures.accuracy import SentenceAccuracy
from regard.measures.sequence_error_rate import SequenceErrorRate
from regard.measures.token_error_rate import (
    CharacterErrorRate,
    TokenErrorRate,
    WordErrorRate,
    edit_distance,
)


def fewest_edits(left: str, right: str) -> int:
    @cache
    def edits(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        changed = edits(i - 1, j - 1) + (left[i - 1] != right[j - 1])
        return min(changed, edits(i - 1, j) + 1, edits(i, j - 1) + 1)

    return edits(len(left), len(right))


def drawn(draw: random.Random) -> str:
    return "".join(draw.choices("abc", k=draw.randrange(8)))


def test_the_distance_is_the_fewest_edits():
    draw = random.Random(0)
    for _ in range(300):
        left, right = drawn(draw), drawn(draw)
        assert edit_distance(left, right) == fewest_edits(left, right)
        assert edit_distance(left, right) == edit_distance(right, left)
    assert edit_distance("kitten", "sitting") == 3


def test_word_error_rate_is_edits_over_wanted_words():
    wanted = ["the cat sat on the mat", "hello"]
    answers = ["the cat sit on mat", "hello there"]
    assert WordErrorRate().of(wanted, answers) == pytest.approx((2 + 1) / 7)
    assert WordErrorRate().of(["a  b"], ["a b"]) == 0.0


def test_character_error_rate_counts_no_blanks():
    assert CharacterErrorRate().of(["我是学生。"], ["我 是老师。"]) == pytest.approx(2 / 5)


def test_tokens_may_be_anything():
    assert TokenErrorRate().of([[1, 2, 3]], [[1, 3]]) == pytest.approx(1 / 3)


def test_where_nothing_is_wanted():
    assert WordErrorRate().of([""], [""]) == 0.0
    assert WordErrorRate().of([""], ["a"]) == math.inf
    assert WordErrorRate().of(["", "a b"], ["a", "a b"]) == pytest.approx(1 / 2)
    with pytest.raises(ValueError, match="nothing to measure"):
        WordErrorRate().of([], [])


@pytest.mark.parametrize("measure", [TokenErrorRate(), SequenceErrorRate()])
def test_what_was_counted_of_items_adds_up(measure):
    draw = random.Random(1)
    wanted, answers = ([drawn(draw) for _ in range(20)] for _ in range(2))
    counts = measure.counts(wanted, answers)
    chosen = np.array([[3, 3, 7], [0, 1, 2]])
    values = measure.value(counts[chosen].sum(1))
    for rows, value in zip(chosen, values, strict=True):
        assert value == pytest.approx(
            measure.of([wanted[i] for i in rows], [answers[i] for i in rows])
        )
    assert measure.error
    assert measure.share


def test_a_sequence_is_wrong_if_any_of_it_is():
    wanted, answers = [["a", "b"], ["c"], []], [["a", "b"], ["d"], []]
    assert SequenceErrorRate().of(wanted, answers) == pytest.approx(1 / 3)
    assert SequenceErrorRate().of(wanted, answers) == pytest.approx(
        1 - SentenceAccuracy().of(wanted, answers)
    )
    assert SequenceErrorRate().of(["a  b", "a b"], ["a b", "ab"]) == 0.5


@pytest.mark.parametrize("measure", [WordErrorRate(), CharacterErrorRate(), TokenErrorRate()])
def test_no_answer_is_one_of_no_words(measure):
    assert measure.of(["a b", "c d"], [None, "c d"]) == 0.5
    with pytest.raises(ValueError, match="wanted, not None"):
        measure.of([None], ["a"])
