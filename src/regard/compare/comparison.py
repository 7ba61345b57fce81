"""Variants, their scores by seed and item, and what can be said of every two of them.

    found = Comparison(measure, [ScoredVariant("dot", {1: counts, 2: counts}), ScoredVariant("additive", …)])
    found.pair("dot", "additive").difference.interval, found.ranks()

counts: (items, K), what the measure counts of every item. Nothing here knows where they came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from regard.measures.measure import Counts, Measure
from regard.statistics import Difference, Looks, Verdict, compare_scores, holm

LEVEL = 0.95
Names = tuple[str, str]


@dataclass(frozen=True)
class ScoredVariant:
    """One variant: what was counted of every item, for each of its seeds."""

    name: str
    counts: Mapping[int, Counts]  # by seed: (items, K)

    @property
    def seeds(self) -> list[int]:
        return sorted(self.counts)

    def values(self, measure: Measure) -> dict[int, float]:
        """The measure of all items, for each seed."""
        return {seed: float(measure.value(self.counts[seed].sum(0))) for seed in self.seeds}


@dataclass(frozen=True)
class Compared:
    """Two variants: how far apart, and whether that is shown."""

    a: str
    b: str
    seeds: tuple[
        int, ...
    ]  # that both have; none: they have no seed in common, and are matched in order
    difference: Difference
    p_holm: float  # for all pairs together
    verdict: Verdict | None = None  # of planned looks, if seeds were added until it was decided

    @property
    def shown(self) -> bool:
        """Whether one is shown to be better, all pairs considered."""
        if self.verdict is not None:
            return self.verdict.decided
        return self.p_holm <= 1 - self.difference.level

    @property
    def winner(self) -> str | None:
        if not self.shown:
            return None
        return self.a if self.difference.better > 0.5 else self.b

    def to_dict(self) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "paired_seeds": list(self.seeds),
            **self.difference.to_dict(),
            "p_holm": self.p_holm,
            "shown": self.shown,
            **({"look": self.verdict.to_dict()} if self.verdict else {}),
        }


@dataclass(frozen=True)
class Comparison:
    measure: Measure
    variants: Sequence[ScoredVariant]
    level: float = LEVEL
    looks: Looks | None = None
    verdicts: Mapping[Names, Verdict] = field(default_factory=dict)  # of the looks

    @cached_property
    def by_name(self) -> dict[str, ScoredVariant]:
        return {variant.name: variant for variant in self.variants}

    @cached_property
    def values(self) -> dict[str, dict[int, float]]:
        """The scores, by variant and seed."""
        return {variant.name: variant.values(self.measure) for variant in self.variants}

    @cached_property
    def means(self) -> dict[str, float]:
        return {name: float(np.mean(list(found.values()))) for name, found in self.values.items()}

    @cached_property
    def order(self) -> list[str]:
        """By their means, the best first: an order to show them in, no ranking."""
        sign = 1 if self.measure.error else -1
        return sorted(self.by_name, key=lambda name: sign * self.means[name])

    @property
    def best(self) -> str:
        return self.order[0]

    @cached_property
    def pairs(self) -> dict[Names, Compared]:
        names = [variant.name for variant in self.variants]
        found = {pair: self.between(*pair) for pair in combinations(names, 2)}
        raised = holm([difference.p for _, difference in found.values()])
        return {
            pair: Compared(*pair, seeds, difference, p, self.verdicts.get(pair))
            for (pair, (seeds, difference)), p in zip(found.items(), raised, strict=True)
        }

    def between(
        self, a: str, b: str, items: Sequence[int] | None = None, measure: Measure | None = None
    ) -> tuple[tuple[int, ...], Difference]:
        """The difference a − b on all items or on some, and the seeds that both have.

        measure: another one of the same counts.
        """
        seeds, one, other = matched(self.by_name[a], self.by_name[b])
        if items is not None:
            one, other = one[:, list(items)], other[:, list(items)]
        measure = measure or self.measure
        return seeds, compare_scores(
            one, other, measure.value, error=measure.error, level=self.level, widest=measure.widest
        )

    def pair(self, a: str, b: str) -> Compared:
        """In the order that is asked for."""
        if (a, b) in self.pairs:
            return self.pairs[a, b]
        found = self.pairs[b, a]
        _, turned = self.between(a, b)
        return Compared(a, b, found.seeds, turned, found.p_holm, _turned(found.verdict))

    def ranks(self) -> dict[str, tuple[int, int]]:
        """From the best to the worst place that each can have, by what is shown."""
        winners = [(pair, found.winner) for pair, found in self.pairs.items()]
        found = {}
        for name in self.by_name:
            mine = [winner for pair, winner in winners if name in pair and winner is not None]
            lost = sum(winner != name for winner in mine)
            won = sum(winner == name for winner in mine)
            found[name] = (1 + lost, len(self.variants) - won)
        return found


def matched(a: ScoredVariant, b: ScoredVariant) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """The counts of two variants, (seeds, items, K) each, seed by seed."""
    both = [seed for seed in a.seeds if seed in b.counts]
    many = min(len(a.seeds), len(b.seeds))
    one = np.stack([a.counts[seed] for seed in both or a.seeds[:many]])
    other = np.stack([b.counts[seed] for seed in both or b.seeds[:many]])
    return tuple(both), one, other


def _turned(verdict: Verdict | None) -> Verdict | None:
    """Of b and a, what was said of a and b."""
    if verdict is None:
        return None
    low, high = verdict.interval
    state = {"a": "b", "b": "a"}.get(verdict.state, verdict.state)
    return Verdict(state, verdict.seeds, (-high, -low), verdict.chance)  # type: ignore[arg-type]
