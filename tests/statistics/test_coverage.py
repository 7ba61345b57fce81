"""The interval holds what it says, for few seeds and any share of theirs in the variance.

benchmarks/statistics_coverage.py measures the same at length, and how wide the intervals are.
"""

from __future__ import annotations

import numpy as np
import pytest
from simulated_scores import (
    KINDS,
    half_widths,
    mean,
    normal,
    of_differences,
    p_values,
    parts,
    spread_for,
)

from regard.statistics import Difference

SEEDS = (3, 5, 10)
RATIOS = (0, 0.3, 1, 3)
LEAST = 0.93


def covered(by_seed, influences, truth=0.0):
    return np.mean(p_values(by_seed, influences, truth) > 0.05)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("seeds", SEEDS)
def test_of_means(seeds, ratio):
    rng = np.random.default_rng(0)
    for noise in (0, 0.5):
        scores = normal(rng, 700, seeds, 30, ratio, noise)
        assert covered(*parts(*of_differences(scores), mean)) >= LEAST


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("seeds", SEEDS)
def test_where_the_ratio_is_of_one_seed(seeds, ratio):
    """One seed's variance over that of the mean of the items: the share of many seeds is less."""
    scores = normal(np.random.default_rng(1), 700, seeds, 30, ratio / seeds)
    assert covered(*parts(*of_differences(scores), mean)) >= LEAST


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("kind", KINDS)
def test_of_a_corpus_and_of_right_or_wrong(kind, ratio):
    rng = np.random.default_rng(2)
    draw, value = KINDS[kind]
    spread = spread_for(kind, ratio, 3, 80, rng)
    assert covered(*parts(*draw(rng, 500, 3, 80, spread), value)) >= LEAST


def test_two_seeds():
    rng = np.random.default_rng(3)
    for ratio in (0, 1, 30):
        scores = normal(rng, 700, 2, 30, ratio)
        assert covered(*parts(*of_differences(scores), mean)) >= LEAST


@pytest.mark.parametrize(("seeds", "ratio", "most"), [(3, 3, 2.2), (5, 1, 1.5), (10, 0.3, 1.25)])
def test_it_is_not_wider_than_it_must_be(seeds, ratio, most):
    """Beside 1.96 standard errors, for who knows the variance; a t of 2 degrees is 1.95 times that."""
    scores = normal(np.random.default_rng(4), 300, seeds, 30, ratio)
    half = half_widths(*parts(*of_differences(scores), mean))
    known = 1.96 * np.sqrt(1 + ratio)
    assert 1 < half.mean() / known < most


@pytest.mark.parametrize("seeds", [3, 10])
def test_who_is_said_to_be_better_is(seeds):
    """Of all that is said with probability q, at least a share of q is right, and not much more."""
    rng = np.random.default_rng(5)
    true = rng.uniform(-15, 15, size=3000)
    scores = normal(rng, 3000, seeds, 20, 3) + true[:, None, None]
    by_seed, influences = parts(*of_differences(scores), mean)
    sure = 1 - p_values(by_seed, influences) / 2
    right = np.sign(by_seed.mean(-1)) == np.sign(true)
    for low, high in ((0.5, 0.8), (0.8, 0.95), (0.95, 1)):
        there = (sure >= low) & (sure < high)
        assert there.sum() > 100
        assert -0.04 < right[there].mean() - sure[there].mean() < 0.06


@pytest.mark.parametrize("ratio", [0.3, 3])
def test_seeds_that_were_asked_for_show_the_effect_in_four_of_five(ratio):
    """Where the spreads are known: as many seeds as `seeds_for` says, and the effect is there."""
    effect, items = 3.0, 50
    by_seed, shared, noise = (
        4 * ratio,
        0.5,
        0.5 * 4,
    )  # variances, as `normal` draws them for 4 seeds
    known = Difference(
        effect, 4, items, np.sqrt(by_seed + noise), np.sqrt(shared), np.sqrt(shared + noise / 4)
    )
    seeds = known.seeds_for(effect)
    scores = effect + normal(np.random.default_rng(6), 1500, seeds, items, ratio, of=4)
    power = np.mean(p_values(*parts(*of_differences(scores), mean)) < 0.05)
    assert 0.77 < power < 0.93  # a seed is a whole one: more than 0.8 where they are few
