"""Looks at a growing number of seeds, planned before the first, that share one error between them.

Who looks after every seed and stops at the first p below 0.05 is wrong far more often than in 5 % of
experiments. Here the error is spent as the seeds are (Lan & DeMets 1983, Discrete sequential boundaries
for clinical trials), and several comparisons share it by Holm's rule at every look (Maurer & Bretz 2013,
Multiple testing in group sequential trials using graphical approaches).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from regard.statistics.difference import Difference
from regard.statistics.look_errors import look_errors
from regard.statistics.student_sum import StudentSum
from regard.words import t

Pair = TypeVar("Pair", bound=Hashable)
State = Literal["open", "a", "b", "same", "unlikely", "spent"]
FIRST = 3  # seeds: two decide nothing, and would cost error
UNLIKELY = 0.05  # a chance of being decided at the last look that is not worth the seeds


@dataclass(frozen=True)
class Verdict:
    """What a look says of one comparison.

    state:  "open"      more seeds may decide it
            "a", "b"    decided: this one is better
            "same"      the interval lies inside ± the margin: no difference that matters
            "unlikely"  the seeds that are left would hardly decide it
            "spent"     no seeds are left: no difference shown
    """

    state: State
    seeds: int
    interval: tuple[float, float]  # that holds at all looks together
    chance: float | None = None  # of being decided at the next look, where there is one

    @property
    def decided(self) -> bool:
        return self.state in ("a", "b")

    @property
    def closed(self) -> bool:
        return self.state != "open"

    def to_dict(self) -> dict[str, Any]:
        bounds = [bound if math.isfinite(bound) else None for bound in self.interval]
        return {"state": self.state, "seeds": self.seeds, "interval": bounds, "chance": self.chance}


@dataclass(frozen=True)
class Looks:
    """seeds: how many there are at each look; comparisons: how many share the error of 1 - level;
    margin: the smallest difference that matters, if any is too small.

    >>> Looks.planned(3, 20, comparisons=2).seeds
    (3, 5, 8, 12, 20)
    """

    seeds: tuple[int, ...]
    comparisons: int = 1
    level: float = 0.95
    margin: float | None = None

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.seeds, self.seeds[1:], strict=False))
        if not self.seeds or self.seeds[0] < FIRST or not rising:
            raise ValueError(
                t(
                    "looks are at {first} seeds or more, each at more than before: {seeds}",
                    first=FIRST,
                    seeds=self.seeds,
                )
            )
        if self.comparisons < 1:
            raise ValueError(
                t(
                    "there is at least one comparison, not {comparisons}",
                    comparisons=self.comparisons,
                )
            )

    @classmethod
    def planned(
        cls,
        first: int,
        most: int,
        *,
        comparisons: int = 1,
        level: float = 0.95,
        margin: float | None = None,
    ) -> Looks:
        """From the first look, at three seeds if fewer are said, to the most seeds, each time half as
        many more.
        """
        if most < FIRST:
            raise ValueError(
                t(
                    "to decide anything takes {first} seeds or more, not {most}",
                    first=FIRST,
                    most=most,
                )
            )
        seeds = [max(first, FIRST)]
        while (more := math.ceil(1.5 * seeds[-1])) * 1.25 < most:
            seeds.append(more)
        if seeds[-1] < most:
            seeds.append(most)
        return cls(tuple(seeds), comparisons, level, margin)

    def verdicts(
        self,
        differences: Mapping[Pair, Difference],
        before: Mapping[Pair, Verdict] | None = None,
        *,
        spent: bool = False,
    ) -> dict[Pair, Verdict]:
        """One for each comparison, at the seeds that it has.

        What was closed before stays as it was. Between two looks nothing is decided; at more seeds than
        the last look has, it is as at the last. spent: there will be no further seeds.
        """
        closed = {pair: one for pair, one in (before or {}).items() if one.closed}
        if len({*differences, *closed}) > self.comparisons:
            raise ValueError(
                t(
                    "these looks were planned for {comparisons} comparisons, and now there are "
                    "{count}",
                    comparisons=self.comparisons,
                    count=len({*differences, *closed}),
                )
            )
        found = dict(closed)
        undecided = {pair: one for pair, one in differences.items() if pair not in closed}
        decided = sum(verdict.decided for verdict in closed.values())
        while clear := [
            pair
            for pair, one in undecided.items()
            if one.p < self._error(one.seeds, self.comparisons - decided)
        ]:  # what is decided leaves its share of the error to the others: Holm
            for pair in clear:
                one = undecided.pop(pair)
                among = self.comparisons - decided
                winner: State = "a" if one.better > 0.5 else "b"
                found[pair] = Verdict(winner, one.seeds, self._interval(one, among))
            decided += len(clear)
        for pair, one in undecided.items():
            found[pair] = self._undecided(one, self.comparisons - decided, spent)
        return {pair: found[pair] for pair in (*differences, *closed)}

    def next(
        self, differences: Mapping[Pair, Difference], verdicts: Mapping[Pair, Verdict]
    ) -> tuple[Pair, int] | None:
        """The open comparison that the next seeds are most likely to decide, seed by seed, and how
        many seeds its next look has. None: nothing is open.
        """
        best: tuple[float, Pair, int] | None = None
        for pair, verdict in verdicts.items():
            if verdict.closed:
                continue
            at = differences[pair].seeds
            goal = next(look for look in self.seeds if look > at)
            chance = 1.0 if verdict.chance is None else verdict.chance
            gain = chance / (goal - at)
            if best is None or gain > best[0]:
                best = gain, pair, goal
        return best and best[1:]

    def _error(self, seeds: int, among: int) -> float:
        """What p is held against at a look, where so many comparisons are not decided yet."""
        errors = look_errors(self.seeds, (1 - self.level) / among)
        if seeds > self.seeds[-1]:
            return errors[-1]
        return errors[self.seeds.index(seeds)] if seeds in self.seeds else 0.0

    def _interval(self, one: Difference, among: int) -> tuple[float, float]:
        error = self._error(one.seeds, among)
        return one.interval_at(1 - error) if error else (-math.inf, math.inf)

    def _undecided(self, one: Difference, among: int, spent: bool) -> Verdict:
        low, high = interval = self._interval(one, among)
        if self.margin is not None and -self.margin < low and high < self.margin:
            return Verdict("same", one.seeds, interval)
        if spent or one.seeds >= self.seeds[-1]:
            return Verdict("spent", one.seeds, interval)
        if one.spread_seeds is None:
            return Verdict("open", one.seeds, interval)
        last = self.seeds[-1]
        if self.margin is None and self._chance(one, last, among) < UNLIKELY:
            return Verdict("unlikely", one.seeds, interval)
        following = next(look for look in self.seeds if look > one.seeds)
        return Verdict("open", one.seeds, interval, self._chance(one, following, among))

    def _chance(self, one: Difference, seeds: int, among: int) -> float:
        """Of p being small enough at a later look, by what is known of the difference now."""
        bound = one.with_seeds(seeds).half_width(self._error(seeds, among))
        more = seeds - one.seeds
        # the mean of the seeds to come lies about the present one as two means do
        by_seed = max(one.spread_seeds or 0.0, one.spread_noise)
        spread = by_seed * math.sqrt(1 / one.seeds + 1 / more) * more / seeds
        if not spread:
            return float(abs(one.difference) > bound)
        law = StudentSum(spread, one.seeds - 1, 0.0, 1)
        upper, lower = bound - one.difference, bound + one.difference
        return sum(_tail(law, distance) for distance in (upper, lower))


def _tail(law: StudentSum, distance: float) -> float:
    """P(error > distance)"""
    half = float(law.beyond(distance)) / 2
    return half if distance > 0 else 1 - half
