"""A handful of items that agree makes nothing certain: what is said of them is what coins would say."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest
from simulated_scores import bleu_like, matched_words, mean, right_or_wrong

from regard.statistics import compare_scores
from regard.statistics.item_swaps import MOST_SWAPPED, differing_items, swap_moves, swap_p

TIMES = 1000


def agreeing(differ, items, seeds=3, against=0):
    """a is right and b is wrong on some items, the other way round on others, the same on the rest."""
    a, b = np.zeros((2, seeds, items))
    a[:, :differ], b[:, differ : differ + against] = 1, 1
    return tuple(np.stack([one, np.ones_like(one)], -1) for one in (a, b))


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_all_choices_of_signs_are_counted(count):
    draw = np.random.default_rng(count)
    for moves in (draw.normal(size=count), draw.integers(-2, 3, size=count).astype(float)):
        sums = [abs(np.dot(signs, moves)) for signs in product((1, -1), repeat=count)]
        assert swap_p(moves) == np.mean(np.array(sums) >= abs(moves.sum()) - 1e-9)


@pytest.mark.parametrize(("differ", "against"), [(6, 0), (9, 1), (14, 3), (MOST_SWAPPED, 0)])
def test_right_or_wrong_it_is_the_exact_test_of_mcnemar(differ, against):
    both = differ + against
    tail = sum(comb(both, n) for n in range(against + 1)) / 2**both
    moves = np.array([1.0] * differ + [-1.0] * against)
    assert swap_p(moves[:MOST_SWAPPED]) == pytest.approx(2 * tail)


@pytest.mark.parametrize("seeds", [1, 3, 10])
@pytest.mark.parametrize("items", [6, 20, 1000])
def test_six_items_that_agree_say_as_much_as_six_coins(items, seeds):
    found = compare_scores(*agreeing(6, items, seeds), mean)
    assert found.differing == 6
    assert found.p == pytest.approx(2 / 64, rel=1e-6)
    assert found.interval[0] > 0


@pytest.mark.parametrize("differ", [2, 3, 4, 5])
def test_five_show_nothing_however_many_seeds_agree(differ):
    for items in (differ, 20, 1000):
        found = compare_scores(*agreeing(differ, items, seeds=10), mean)
        assert found.p >= 2.0 ** (1 - differ) * (1 - 1e-6)
        assert found.interval[0] < 0 < found.difference


def test_one_item_that_three_seeds_agree_on_shows_nothing():
    found = compare_scores(*agreeing(1, 1), mean)
    assert found.p == pytest.approx(0.25)
    assert found.interval[0] < 0


@pytest.mark.parametrize("items", [6, 8, 10, 15, 24])
def test_where_all_agree_the_interval_is_about_the_exact_one(items):
    """All of n items are a's: by Clopper and Pearson 1934 its share is 0.025^(1/n) or more. Not surer."""
    low, _ = compare_scores(*agreeing(items, items), mean).interval
    exact = 2 * 0.025 ** (1 / items) - 1
    assert exact - 0.1 < low < exact + 0.015


def test_of_a_mean_a_move_is_the_difference_of_the_item():
    draw = np.random.default_rng(0)
    a, b = (np.stack([draw.normal(size=(3, 8)), np.ones((3, 8))], -1) for _ in range(2))
    b[:, 2] = a[:, 2]
    items = differing_items(a, b)
    assert items.tolist() == [0, 1, 3, 4, 5, 6, 7]
    moves = swap_moves(a, b, items, mean)
    np.testing.assert_allclose(moves, (a - b)[:, items, 0].mean(0) / 8)
    assert moves.sum() == pytest.approx(compare_scores(a, b, mean).difference)


def test_of_a_corpus_they_add_up_nearly():
    a, b = (one[0] for one in matched_words(np.random.default_rng(0), 1, 2, 20, 0.1))
    found = compare_scores(a, b, bleu_like)
    moves = swap_moves(a, b, differing_items(a, b), bleu_like)
    assert moves.sum() == pytest.approx(found.difference, rel=0.1)


def test_items_that_are_many_are_left_to_the_law():
    a, b = agreeing(40, 400, against=20)
    found = compare_scores(a, b, mean)
    without = replace(found, items_exact=0.0)
    assert found.items_exact > 0
    assert (found.p, found.interval) == (without.p, without.interval)


@pytest.mark.parametrize("seeds", [24, 25, 60])
def test_many_seeds_make_no_more_of_three_items(seeds):
    found = compare_scores(*agreeing(3, 3, seeds), mean)
    assert found.p == pytest.approx(0.25, rel=1e-6)


def test_of_one_item_the_seeds_are_counted_however_many_they_are():
    p = [compare_scores(*agreeing(1, 1, seeds), mean).p for seeds in (24, 25, 40)]
    np.testing.assert_allclose(p, [2.0**-23, 2.0**-24, 2.0**-39], rtol=1e-5)


def test_where_all_agree_more_items_say_more_but_never_everything():
    counts = (23, 24, 25, 26, 60, 999, 1000, 1001, 1002, 20_000)
    found = [compare_scores(*agreeing(count, count, seeds=2), mean) for count in counts]
    lows = [one.interval[0] for one in found]
    assert lows == sorted(lows)
    assert lows[-1] < 1
    assert np.diff(lows[1:3]) < 0.02  # no cliff, there
    assert np.diff(lows[6:8]) < 1e-4  # or there
    for one, count in zip(found[:5], counts, strict=False):
        assert one.p == pytest.approx(2.0 ** (1 - count), rel=1e-5)


@pytest.mark.parametrize("flip", [0.0, 0.2])
@pytest.mark.parametrize(
    ("items", "share"), [(6, 1.0), (10, 0.6), (20, 0.3), (20, 1.0), (200, 0.03)]
)
def test_equal_variants_are_told_apart_as_rarely_as_is_said(items, share, flip):
    draw = np.random.default_rng(items)
    p = []
    for _ in range(TIMES):
        counts = right_or_wrong(draw, 3, items, share / 2, share / 2, flip)
        p.append(compare_scores(*counts, mean).p)
    for level in (0.05, 0.0075, 0.001):
        chance = 3 * np.sqrt(level * (1 - level) / TIMES)
        assert np.mean(np.array(p) < level) <= level + chance


@pytest.mark.parametrize(
    ("items", "better", "worse"), [(5, 0.9, 0.05), (10, 0.6, 0), (20, 0.3, 0.1)]
)
def test_the_interval_of_few_items_holds_the_truth(items, better, worse):
    """A t alone held it in 39, 94 and 94 % of these."""
    draw = np.random.default_rng(1)
    inside = 0
    for _ in range(TIMES):
        low, high = compare_scores(*right_or_wrong(draw, 3, items, better, worse), mean).interval
        inside += low - 1e-12 <= better - worse <= high + 1e-12
    assert inside / TIMES >= 0.95
