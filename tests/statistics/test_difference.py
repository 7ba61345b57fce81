"""What a difference says of known cases, at the edges, and of mistakes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from simulated_scores import (
    KINDS,
    bleu_like,
    half_widths,
    matched_words,
    mean,
    normal,
    of_differences,
    p_values,
    parts,
)

from regard.measures.accuracy import Accuracy
from regard.measures.token_error_rate import TokenErrorRate
from regard.statistics import Difference, Looks, compare_scores
from regard.statistics.influence import mean_item_variance, noise_variance


def counts(*scores):
    """(seeds, items) of plain scores."""
    table = np.array(scores, dtype=float)
    return np.stack([table, np.ones_like(table)], -1)


def test_without_item_effects_it_is_the_paired_t_test():
    """Every item of a seed differs alike: only seeds count, and the t of 2 degrees of freedom."""
    found = compare_scores(counts([1] * 9, [2] * 9, [6] * 9), counts(*[[0] * 9] * 3), mean)
    error = math.sqrt(7 / 3)  # of 1, 2 and 6
    assert found.difference == 3
    assert found.spread_seeds == pytest.approx(math.sqrt(7))
    assert found.spread_items == 0
    assert found.interval == pytest.approx((3 - 4.302653 * error, 3 + 4.302653 * error))
    t = 3 / error
    assert found.p == pytest.approx(1 - t / math.sqrt(t**2 + 2))  # of 2 degrees of freedom
    assert found.better == pytest.approx(1 - found.p / 2)


def test_without_seed_effects_it_is_the_paired_t_test_over_items():
    found = compare_scores(counts(*[[1, 2, 6]] * 4), counts(*[[0, 0, 0]] * 4), mean)
    assert found.spread_seeds == 0
    assert found.spread_items == pytest.approx(math.sqrt(7 / 3))
    assert found.interval == pytest.approx(
        (3 - 4.302653 * 7**0.5 / 3**0.5, 3 + 4.302653 * 7**0.5 / 3**0.5)
    )


def test_the_spread_of_items_is_what_seeds_agree_on():
    """d = item + noise: its covariance over seeds is that of the items, by the definition."""
    table = np.random.default_rng(0).normal(size=(3, 6))
    found = compare_scores(counts(*table), counts(*(0 * table)), mean)
    covariance = np.cov(table)  # (3, 3)
    shared = np.mean([covariance[i, j] for i in range(3) for j in range(3) if i != j]) / 6
    noise = np.trace(covariance) / 3 / 6 - shared  # of one seed
    assert found.spread_items == pytest.approx(math.sqrt(max(shared, 0)))
    assert found.items_alone == pytest.approx(math.sqrt(max(covariance.mean() / 6, noise / 3)))


@pytest.mark.parametrize("error", [False, True])
def test_the_other_way_round(error):
    a, b = (one[0] for one in matched_words(np.random.default_rng(0), 1, 3, 30, 0.3))
    one = compare_scores(a, b, bleu_like, error=error)
    other = compare_scores(b, a, bleu_like, error=error)
    assert other.difference == -one.difference
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))
    assert other.p == one.p
    assert one.better + other.better == pytest.approx(1)
    assert (one.better > 0.5) == ((one.difference > 0) != error)


def test_an_interval_leaves_out_zero_when_p_is_small():
    a, b = (one[0] for one in matched_words(np.random.default_rng(4), 1, 4, 50, 0.05))
    found = compare_scores(a, b, bleu_like)
    low, high = found.interval_at(1 - found.p)
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-6 * (high - low))


def test_identical_runs():
    a = counts([1, 0, 1], [0, 1, 1])
    found = compare_scores(a, a, mean)
    assert (found.difference, found.interval, found.better, found.p) == (0, (0, 0), 0.5, 1)
    assert found.resolves == 0


def test_one_seed_speaks_for_items_alone():
    found = compare_scores(counts([1, 2, 6]), counts([0, 0, 0]), mean)
    assert found.over == ("items",)
    assert found.spread_seeds is None
    assert found.resolves is None
    assert found.seeds_for(1.0) is None
    assert found.interval == pytest.approx(
        (3 - 4.302653 * 7**0.5 / 3**0.5, 3 + 4.302653 * 7**0.5 / 3**0.5)
    )


def test_one_item_speaks_for_seeds_alone():
    found = compare_scores(counts([1], [2], [6]), counts([0], [0], [0]), mean)
    assert found.over == ("seeds",)
    assert found.interval[1] == pytest.approx(3 + 4.302653 * (7 / 3) ** 0.5)


def test_one_item_of_one_seed_says_nothing():
    found = compare_scores(counts([1]), counts([0]), mean)
    assert (found.over, found.p, found.better) == ((), 1, 0.5)
    assert found.interval == (-math.inf, math.inf)
    assert found.to_dict()["interval"] == [None, None]


def test_seeds_that_agree_by_chance_do_not_make_it_certain():
    """The same accuracy three times, of different items: no narrower than items alone are."""
    right = counts([1, 1, 0, 0, 1, 0], [1, 0, 1, 0, 0, 1], [0, 1, 0, 1, 1, 0])
    found = compare_scores(right, counts(*[[0, 0, 0, 0, 0, 1]] * 3), mean)
    assert found.spread_seeds == pytest.approx(0, abs=1e-12)
    assert found.interval[1] - found.interval[0] > 2 * 2 * found.items_alone > 0.1


def test_seeds_that_disagree_in_exact_balance_do_not_make_it_certain():
    """Each seed differs on every item, half for a and half for b, and the next the other way round."""
    right = np.zeros((2, 40))
    right[0, :20] = right[1, 20:] = 1
    found = compare_scores(counts(*right), counts(*(1 - right)), mean, widest=1.0)
    assert (found.difference, found.p, found.spread_seeds) == (0, 1, 0)
    # 80 differences of 1 or -1
    assert found.interval[1] == pytest.approx(1.96 * math.sqrt(1 / 40), rel=0.05)
    assert found.interval[0] == -found.interval[1]
    assert found.seeds_for(0.02) == pytest.approx((1.96 + 0.84) ** 2 * 2 / 40 / 0.02**2, rel=0.1)
    assert Looks.planned(2, 20).verdicts({"it": found})["it"].chance > 0


def test_noise_of_seeds_and_items_is_what_it_is_drawn_with():
    rng = np.random.default_rng(0)
    drawn = (
        rng.normal(size=(300, 3, 1))
        + rng.normal(size=(300, 1, 50))
        + 2 * rng.normal(size=(300, 3, 50))
    )
    drawn -= drawn.mean(-1, keepdims=True)
    assert noise_variance(drawn).mean() == pytest.approx(4 / 150, rel=0.02)
    assert mean_item_variance(drawn).mean() == pytest.approx(4 / 150 + 1 / 50, rel=0.05)


def test_an_interval_ends_where_no_difference_can_be():
    a, b = counts([1, 1, 0], [0, 1, 1]), counts([0, 0, 1], [1, 0, 0])
    low, high = compare_scores(a, b, mean).interval
    assert low < -1 < 1 < high
    clipped = compare_scores(a, b, mean, widest=Accuracy().widest)
    assert clipped.interval == (-1, 1)
    assert compare_scores(counts([1]), counts([0]), mean, widest=1.0).interval == (-1, 1)
    # a rate of errors may be over 1, and a measure that was said to be no more may be too
    assert TokenErrorRate().widest == math.inf
    large = counts([9, 9, 0], [0, 9, 9])
    assert compare_scores(large, b, mean, widest=1.0).interval[1] > 1


def test_plain_values():
    a, b = (one[0] for one in matched_words(np.random.default_rng(0), 1, 3, 30, 0.3))
    found = compare_scores(a, b, bleu_like)
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert said["interval"] == list(found.interval)
    assert (said["better"], said["p"], said["seeds"], said["items"]) == (
        found.better,
        found.p,
        3,
        30,
    )
    assert said["over"] == ["seeds", "items"]


def test_it_takes_the_counts_of_a_measure():
    measure = Accuracy()
    wanted = list("abcabc")
    a = np.stack([measure.counts(wanted, answers) for answers in ("abcabb", "abcaba")])
    b = np.stack([measure.counts(wanted, answers) for answers in ("aaaaaa", "abaaaa")])
    assert compare_scores(a, b, measure.value).difference == pytest.approx(5 / 6 - 2.5 / 6)


@pytest.mark.parametrize("kind", KINDS)
def test_simulations_compute_what_is_computed_for_one(kind):
    """The tests of coverage take many experiments at a time: they are the same as one by one, where items
    are not few (test_few_items.py).
    """
    draw, value = KINDS[kind]
    a, b = draw(np.random.default_rng(0), 4, 3, 90, 0.3)
    found = [compare_scores(one, other, value) for one, other in zip(a, b, strict=True)]
    np.testing.assert_allclose([one.p for one in found], p_values(*parts(a, b, value)), rtol=1e-9)
    halves = [(one.interval[1] - one.interval[0]) / 2 for one in found]
    np.testing.assert_allclose(halves, half_widths(*parts(a, b, value)), rtol=1e-6)


def test_more_seeds_resolve_less_until_the_items_limit():
    found = Difference(0.5, 3, 400, spread_seeds=0.3, spread_items=0.05, items_alone=0.06)
    assert found.with_seeds(10).resolves < found.resolves
    needed = found.seeds_for(0.3)
    assert found.with_seeds(needed).resolves <= 0.3 < found.with_seeds(needed - 1).resolves
    assert found.seeds_for(found.resolves) == 3
    assert found.seeds_for(0.1) is None  # 2.8 · 0.05 of the items alone
    assert found.seeds_for(1e6) == 2


def test_mistakes_are_told():
    good = counts([1, 0], [0, 1])
    with pytest.raises(ValueError, match="a has 2 seeds, b has 1"):
        compare_scores(good, good[:1], mean)
    with pytest.raises(ValueError, match="a has 2 items, b has 1"):
        compare_scores(good, good[:, :1], mean)
    with pytest.raises(ValueError, match=r"\(seeds, items, K\).*\(2, 2\)"):
        compare_scores(good[0], good, mean)
    with pytest.raises(ValueError, match="none is 0"):
        compare_scores(good[:0], good[:0], mean)
    with pytest.raises(ValueError, match="item 1 of seed 0"):
        compare_scores(counts([1, math.nan], [0, 1]), good, mean)
    with pytest.raises(ValueError, match="seed 1 of b scores nan"):
        compare_scores(good, good * [[[1]], [[0]]], mean)
    with pytest.raises(ValueError, match="item 0 of seed 0 counted twice"):
        compare_scores(good, 0 * good, lambda sums: 1 / (2 - sums[..., 0]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        compare_scores(good, good, mean, level=95)
    with pytest.raises(ValueError, match=r"up to 1e\+200, .* item 1 of seed 0"):
        compare_scores(counts([1, 1e200]), counts([1, 1]), mean)
    with pytest.raises(ValueError, match="one seed or more, not 0"):
        compare_scores(*[counts([1, 2], [3, 5])] * 2, mean).with_seeds(0)
    with pytest.raises(ValueError, match="more than 0"):
        compare_scores(good, good, mean).seeds_for(0)


def test_counts_that_are_tiny_are_as_uncertain_as_others():
    draw = np.random.default_rng(0)
    a, b = (np.stack([draw.normal(size=(3, 40)), np.ones((3, 40))], -1) for _ in range(2))
    found = compare_scores(a, b, lambda sums: sums[..., 0] / sums[..., 1])
    a[..., 0] *= 2.0**-660  # about 1e-200
    b[..., 0] *= 2.0**-660
    tiny = compare_scores(a, b, lambda sums: sums[..., 0] / sums[..., 1])
    assert tiny.p == pytest.approx(found.p, rel=1e-9)
    np.testing.assert_allclose(np.array(tiny.interval) * 2.0**660, found.interval, rtol=1e-9)


@pytest.mark.parametrize(
    "value", [lambda sums: sums, lambda sums: sums.sum(), lambda sums: sums[0]]
)
def test_a_value_of_the_wrong_shape_is_told(value):
    counts = np.ones((3, 5, 2))
    with pytest.raises(ValueError, match="value makes one number of the K sums"):
        compare_scores(counts, counts, value)


def test_pairs_by_item_are_worth_having():
    """What makes an item hard for both does not widen the interval."""
    rng = np.random.default_rng(0)
    hard = rng.normal(size=(1, 300)) * 5
    differences = normal(rng, 1, 3, 300, 0.3)[0] / 30
    alone = compare_scores(*of_differences(differences), mean)
    both = compare_scores(counts(*(differences + hard)), counts(*np.repeat(hard, 3, 0)), mean)
    assert both.interval == pytest.approx(alone.interval)


def test_sums_that_differ_by_rounding_alone_are_a_tie():
    ones = np.array([[[0.1, 1.0], [0.2, 1.0], [0.3, 1.0]]] * 2)
    found = compare_scores(ones, ones[:, ::-1], lambda sums: sums[..., 0] / sums[..., 1])
    assert (found.difference, found.better, found.p) == (0.0, 0.5, 1.0)
