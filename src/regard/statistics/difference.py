"""The difference of two variants that were trained with the same seeds and answered the same items."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from regard.statistics.influence import (
    Value,
    influence,
    item_variance,
    mean_item_variance,
    seed_variance,
    unit_of,
)
from regard.statistics.item_swaps import (
    MOST_SWAPPED,
    differing_items,
    implied_error,
    least_error,
    swap_moves,
    swap_p,
)
from regard.statistics.student_sum import NORMAL, StudentSum
from regard.words import t

LARGEST = 1e100  # of counts: their squares, added up, are numbers still
MOST_SEEDS = 1_000_000  # who needs more needs more items
WRONG_SHAPE = (
    "value makes one number of the K sums in the last axis, (..., K) -> (...), as "
    "sums[..., 0] / sums[..., 1] does: of {given} it made {got}"
)
POWER = 0.8  # what "resolves" means: a difference that is shown in four of five experiments


@dataclass(frozen=True)
class Difference:
    """How much a scores above b, and how sure that is.

    The variance of `difference` is spread_seeds² / seeds + spread_items².
    """

    difference: float  # mean over seeds of measure(a) - measure(b)
    seeds: int
    items: int
    spread_seeds: float | None  # standard deviation from seed to seed; None: one seed cannot tell
    spread_items: float | None  # … from one test set of as many items to another; None: one item
    items_alone: float = 0.0  # standard error for these very seeds; the whole one is no smaller
    differing: int | None = None  # items on which anything differs; None: not told
    items_exact: float = 0.0  # standard error by an exact test, or the least that one would say
    level: float = 0.95
    error: bool = False  # of the measure: smaller is better
    widest: float = math.inf  # the largest difference that there can be

    @property
    def over(self) -> tuple[str, ...]:
        """What the interval speaks for: other "seeds", other "items", or only those that were there."""
        known = {"seeds": self.spread_seeds, "items": self.spread_items}
        return tuple(name for name, spread in known.items() if spread is not None)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Where the difference lies, at `level`; all that can be where one item had one seed."""
        return self.interval_at(self.level)

    def interval_at(self, level: float) -> tuple[float, float]:
        half = self.half_width(1 - level)
        low, high = self.difference - half, self.difference + half
        return max(low, -self.widest), min(high, self.widest)

    def half_width(self, outside: float) -> float:
        """How far the truth lies at most from what was seen, but for this share of experiments."""
        if not self.over:
            return math.inf
        return self._unit * max(float(law.quantile(outside)) for law in self._laws())

    @cached_property
    def p(self) -> float:
        """Of a difference as large as this where there is none; two-sided, for one comparison."""
        if not self.over or not self.difference:
            return 1.0
        return max(float(law.beyond(self.difference / self._unit)) for law in self._laws())

    @property
    def better(self) -> float:
        """P(a is better than b): 0.975 where p is 0.05 and a is ahead."""
        ahead = self.difference < 0 if self.error else self.difference > 0
        return 1 - self.p / 2 if ahead else self.p / 2

    @cached_property
    def resolves(self) -> float | None:
        """The true difference that so many seeds and items show in four of five experiments.

        None where there was one seed: its spread is not known.
        """
        if self.spread_seeds is None:
            return None
        return self.half_width(1 - self.level) + self.half_width(2 * (1 - POWER))

    @property
    def spread_noise(self) -> float:
        """Standard deviation from seed to seed that follows from what each does by itself with items."""
        shared = (self.spread_items or 0.0) ** 2
        return math.sqrt(max(self.items_alone**2 - shared, 0.0) * self.seeds)

    def with_seeds(self, seeds: int) -> Difference:
        """What is to be expected of so many seeds, with the same spread and the same items."""
        if self.spread_seeds is None:
            raise ValueError(t("one seed does not tell how much seeds differ: train two or more"))
        if not seeds >= 1:
            raise ValueError(t("there is one seed or more, not {seeds}", seeds=seeds))
        alone = math.hypot(self.spread_items or 0.0, self.spread_noise / math.sqrt(seeds))
        return replace(self, seeds=seeds, items_alone=alone)

    def seeds_for(self, effect: float) -> int | None:
        """How many seeds would resolve an effect; None if no number does, or one seed cannot tell."""
        if not effect > 0:
            raise ValueError(t("an effect is more than 0, not {effect}", effect=effect))
        if self.spread_seeds is None:
            return None
        few, enough = 1, 2  # one is never enough
        while not self._resolved(enough, effect):
            if enough > MOST_SEEDS:
                return None  # the items are too few
            few, enough = enough, 4 * enough
        while enough - few > 1:
            middle = (few + enough) // 2
            if self._resolved(middle, effect):
                enough = middle
            else:
                few = middle
        return enough

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not known or has no bound is None."""
        return {
            "difference": self.difference,
            "interval": [_finite(bound) for bound in self.interval],
            "better": self.better,
            "p": self.p,
            "level": self.level,
            "seeds": self.seeds,
            "items": self.items,
            "differing_items": self.differing,
            "over": list(self.over),
            "spread_seeds": self.spread_seeds,
            "spread_items": self.spread_items,
            "resolves": self.resolves,
        }

    def _resolved(self, seeds: int, effect: float) -> bool:
        return (self.with_seeds(seeds).resolves or 0.0) <= effect

    @property
    def _unit(self) -> float:
        """What the laws are counted in."""
        spreads = (self.spread_seeds or 0.0, self.spread_items or 0.0)
        return unit_of(np.array([self.difference, *spreads, self.items_alone, self.items_exact]))

    def _laws(self) -> list[StudentSum]:
        """The error of seeds and items together, that of the items alone, and that of few items: the widest
        one holds. In units.
        """
        seeds, items, unit = max(self.seeds - 1, 1), max(self.items - 1, 1), self._unit
        by_seed = (self.spread_seeds or 0.0) / math.sqrt(self.seeds)
        return [
            StudentSum(by_seed / unit, seeds, (self.spread_items or 0.0) / unit, items),
            StudentSum(0.0, 1, self.items_alone / unit, items),
            StudentSum(0.0, 1, self.items_exact / unit, NORMAL),
        ]


def compare_scores(
    counts_a: np.ndarray,
    counts_b: np.ndarray,
    value: Value,
    *,
    error: bool = False,
    level: float = 0.95,
    widest: float = math.inf,
) -> Difference:
    """Two variants, seed i of one against seed i of the other, item by item.

    counts_a, counts_b: (seeds, items, K), what a measure counts; value: its function of the sums,
    (..., K) -> (...); error: smaller is better; widest: the largest difference that there can be, 1 of
    accuracies: no interval goes beyond it.

    Seeds that only one of the two has are left out before: pairs are matched by position.

    >>> right = np.array([[[1.0, 1], [1, 1], [0, 1], [1, 1]], [[1, 1], [1, 1], [1, 1], [0, 1]]])
    >>> found = compare_scores(right, right, lambda sums: sums[..., 0] / sums[..., 1])
    >>> found.difference, found.interval, found.better, found.p
    (0.0, (0.0, 0.0), 0.5, 1.0)
    """
    counts_a, counts_b = _checked(counts_a, counts_b)
    if not 0 < level < 1:
        raise ValueError(
            t("the level of an interval lies between 0 and 1, as 0.95 does: {level}", level=level)
        )
    scores_a, scores_b = _scores("a", counts_a, value), _scores("b", counts_b, value)
    tie = np.isclose(scores_a, scores_b, rtol=1e-12, atol=0.0)  # sums that differ by rounding alone
    by_seed = np.where(tie, 0.0, scores_a - scores_b)  # (seeds,)
    seeds, items = counts_a.shape[:2]
    influences = np.stack(  # (seeds, items); one seed after another, for the memory
        [
            influence(one, value) - influence(other, value)
            for one, other in zip(counts_a, counts_b, strict=True)
        ]
    )
    if influences.shape != (seeds, items):
        raise ValueError(
            WRONG_SHAPE.format(given=(items, counts_a.shape[2]), got=influences.shape[1:])
        )
    if not np.isfinite(influences).all():
        seed, item = np.argwhere(~np.isfinite(influences))[0]
        raise ValueError(
            t(
                "with item {item} of seed {seed} counted twice, the measure is no number",
                item=item,
                seed=seed,
            )
        )
    unit, unit_of_seeds = unit_of(influences), unit_of(by_seed)  # so that no square is too small
    influences /= unit
    alone = unit * math.sqrt(mean_item_variance(influences)) if items > 1 else 0.0
    spread_items = None
    if items > 1:
        spread_items = unit * math.sqrt(item_variance(influences)) if seeds > 1 else alone
    spread_seeds = None
    if seeds > 1:
        spread_seeds = unit_of_seeds * math.sqrt(seed_variance(by_seed / unit_of_seeds))
    difference = float(by_seed.mean())
    differing = differing_items(counts_a, counts_b)
    # of one item its seeds change places
    swapped = len(differing) if items > 1 else int(np.count_nonzero(by_seed))
    if swapped <= MOST_SWAPPED:
        moves = swap_moves(counts_a, counts_b, differing, value) if items > 1 else by_seed
        exact = implied_error(difference, swap_p(moves[moves != 0]))
    else:
        exact = least_error(difference, swapped)
    return Difference(
        difference=difference,
        seeds=seeds,
        items=items,
        spread_seeds=spread_seeds,
        spread_items=spread_items,
        items_alone=alone,
        differing=len(differing),
        items_exact=exact,
        level=level,
        error=error,
        widest=widest if np.abs(by_seed).max() <= widest else math.inf,
    )


def _checked(counts_a: np.ndarray, counts_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    counts_a, counts_b = (np.asarray(c, dtype=np.float64) for c in (counts_a, counts_b))
    for name, counts in (("a", counts_a), ("b", counts_b)):
        if counts.ndim != 3 or not counts.size:
            raise ValueError(
                t(
                    "counts are (seeds, items, K) and none is 0; those of {name}: {counts_shape}",
                    name=name,
                    counts_shape=counts.shape,
                )
            )
        if not np.isfinite(counts).all():
            seed, item = np.argwhere(~np.isfinite(counts))[0][:2]
            raise ValueError(
                t(
                    "counts of {name} are not all numbers: look at item {item} of seed {seed}",
                    name=name,
                    item=item,
                    seed=seed,
                )
            )
        if (large := np.abs(counts).max()) > LARGEST:
            seed, item = np.argwhere(np.abs(counts) == large)[0][:2]
            raise ValueError(
                t(
                    "counts of {name} are up to {large}, too large to be squared and added up: "
                    "look at item {item} of seed {seed}",
                    name=name,
                    large=f"{large:g}",
                    item=item,
                    seed=seed,
                )
            )
    for axis, what in enumerate(("seeds", "items", "counts of an item")):
        one, other = counts_a.shape[axis], counts_b.shape[axis]
        if one != other:
            raise ValueError(
                t(
                    "a has {one} {what}, b has {other}: only what both have can be compared",
                    one=f"{one:,}",
                    what=what,
                    other=f"{other:,}",
                )
            )
    return counts_a, counts_b


def _scores(name: str, counts: np.ndarray, value: Value) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.asarray(value(counts.sum(1)), dtype=np.float64)
    if scores.shape != counts.shape[:1]:
        given = (counts.shape[0], counts.shape[2])
        raise ValueError(WRONG_SHAPE.format(given=given, got=scores.shape))
    if not np.isfinite(scores).all():
        seed = int(np.argwhere(~np.isfinite(scores))[0][0])
        raise ValueError(
            t(
                "seed {seed} of {name} scores {scores}: nothing to compare",
                seed=seed,
                name=name,
                scores=scores[seed],
            )
        )
    return scores


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None
