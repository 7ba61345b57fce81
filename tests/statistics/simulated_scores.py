"""Experiments whose truth is known, many at a time: what two variants scored, by seed and item.

One score is that of its variant + an effect of the seed + one of the item + noise. `ratio` is how much the
seeds add to the variance of the mean difference, over what items and noise add.
"""

from __future__ import annotations

import numpy as np

from regard.statistics.influence import (
    influence,
    item_variance,
    mean_item_variance,
    seed_variance,
)
from regard.statistics.student_sum import StudentSum


def mean(sums):
    return sums[..., 0] / sums[..., 1]


def micro_f1(sums):
    return 2 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 2], 1)


def bleu_like(sums):
    """Two precisions and a penalty for what is too short."""
    precisions = np.log(np.maximum(sums[..., :2], 0.5) / sums[..., 2:4]).mean(-1)
    return 100 * np.exp(precisions + np.minimum(1 - sums[..., 4] / sums[..., 2], 0))


def of_differences(scores):
    """Differences (..., seeds, items) as the counts of two variants, of which one scores 0."""
    one = np.ones_like(scores)
    return np.stack([scores, one], -1), np.stack([0 * scores, one], -1)


def normal(rng, times, seeds, items, ratio, noise=0.5, of=None):
    """Differences (times, seeds, items); what items and noise add to the variance of their mean is 1,
    where there are `of` seeds: as many as are drawn, if not told.
    """
    of = of or seeds
    by_seed = rng.normal(size=(times, seeds, 1)) * np.sqrt(ratio * of)
    by_item = rng.normal(size=(times, 1, items)) * np.sqrt((1 - noise) * items)
    return by_seed + by_item + rng.normal(size=(times, seeds, items)) * np.sqrt(noise * of * items)


def logits(rng, times, seeds, items, spread, effect=0.0):
    """Of two variants: the same items, each to its taste; every seed is `spread` better or worse, and
    the first variant better by `effect`.
    """
    ease = rng.normal(size=(times, 1, items))
    taste = rng.normal(size=(times, 1, items)) * 0.4
    for side in (1, -1):
        by_seed = rng.normal(size=(times, seeds, 1)) * spread
        yield 0.8 + (side + 1) / 2 * effect + ease + side * taste + by_seed


def binary(rng, times, seeds, items, spread, effect=0.0):
    """Right or wrong: counts of two variants (times, seeds, items, 2)."""
    for logit in logits(rng, times, seeds, items, spread, effect):
        right = (logit + rng.normal(size=logit.shape) * 0.7 > 0).astype(float)
        yield np.stack([right, np.ones_like(right)], -1)


def found_spans(rng, times, seeds, items, spread, effect=0.0):
    """Right, found and wanted spans of each item."""
    wanted = rng.poisson(1.0, size=(times, 1, items))
    for logit in logits(rng, times, seeds, items, spread, effect):
        chance = 1 / (1 + np.exp(-logit))
        there = np.broadcast_to(wanted, chance.shape)
        right = rng.binomial(there, chance)
        yield np.stack([right, right + rng.poisson(1 - chance), there], -1).astype(float)


def matched_words(rng, times, seeds, items, spread, effect=0.0):
    """Matches and totals of words and of pairs, and the length of the reference."""
    length = rng.integers(5, 25, size=(times, 1, items))
    for logit in logits(rng, times, seeds, items, spread, effect):
        chance = 1 / (1 + np.exp(-logit))
        words = length + rng.integers(-2, 3, size=chance.shape)
        matches = [rng.binomial(words - k, chance ** (k + 1)) for k in range(2)]
        there = np.broadcast_to(length, words.shape)
        yield np.stack([*matches, words, words - 1, there], -1).astype(float)


KINDS = {
    "accuracy": (binary, mean),
    "F1": (found_spans, micro_f1),
    "BLEU-like": (matched_words, bleu_like),
}


def spread_for(kind, ratio, seeds, items, rng):
    """The spread of seeds that makes the ratio, by a trial."""
    draw, value = KINDS[kind]

    def variances(spread):
        counts = list(draw(rng, 300, 4, items, spread))
        by_seed, influences = parts(*counts, value)
        shared = item_variance(influences).mean()
        noise = 4 * (mean_item_variance(influences).mean() - shared)  # of one seed
        return seed_variance(by_seed).mean() - noise, shared + noise / seeds

    of_trial, _ = variances(0.3)
    _, of_items = variances(0.0)
    return 0.3 * np.sqrt(ratio * of_items * seeds / of_trial)


def parts(counts_a, counts_b, value):
    """By seed (times, seeds), and what each item does to that (times, seeds, items)."""
    by_seed = value(counts_a.sum(-2)) - value(counts_b.sum(-2))
    return by_seed, influence(counts_a, value) - influence(counts_b, value)


def laws(by_seed, influences):
    """The two laws of the error, as a `Difference` has them, of many experiments."""
    seeds, items = influences.shape[-2:]
    of_seeds = np.sqrt(seed_variance(by_seed) / seeds)
    both = StudentSum(of_seeds, seeds - 1, np.sqrt(item_variance(influences)), items - 1)
    alone = StudentSum(0 * of_seeds, 1, np.sqrt(mean_item_variance(influences)), items - 1)
    return both, alone


def p_values(by_seed, influences, truth=0.0):
    """Two-sided, of a mean difference that is `truth`: (times,)"""
    off = by_seed.mean(-1) - truth
    return np.maximum(*(law.beyond(off) for law in laws(by_seed, influences)))


def half_widths(by_seed, influences, outside=0.05):
    return np.maximum(*(law.quantile(outside) for law in laws(by_seed, influences)))


def right_or_wrong(rng, seeds, items, better, worse, flip=0.0):
    """Counts of two variants (seeds, items, 2) that answer most items alike: a share `better` is right by
    the first alone, a share `worse` by the second alone; in one seed of 1 / flip this is not seen.

    The true difference is (better - worse) · (1 - flip).
    """
    drawn = rng.random(items)
    sign = np.where(drawn < better, 1, np.where(drawn < better + worse, -1, 0))
    seen = sign * (rng.random((seeds, items)) >= flip)
    for side in (1, -1):
        yield np.stack([seen == side, np.ones_like(seen)], -1).astype(float)
