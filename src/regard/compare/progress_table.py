"""What a person sees while variants are trained: a table on a terminal, plain lines elsewhere; on stderr."""

from __future__ import annotations

import heapq
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean

from rich.console import Console
from rich.live import Live
from rich.table import Table

from regard.clock import clock, rough
from regard.compare.comparison import Names
from regard.compare.trainings import PlannedRun
from regard.measures.measure import Measure
from regard.report.score_words import display_name, score
from regard.words import t

LINE_EVERY = 60.0  # seconds between plain lines


class ProgressTable:
    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        self._moving = console.is_terminal and not console.is_dumb_terminal and not quiet
        self._live = Live(console=console, refresh_per_second=2, transient=True)
        self._console, self._quiet = console, quiet
        self._started = False
        self._last = time.monotonic()
        self._measure: Measure | None = None

    def say(self, text: str) -> None:
        if self._quiet:
            return
        if self._moving:
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def show(self, trainings: Sequence[PlannedRun], scores: Mapping[Names, float]) -> None:
        """Where everything stands now."""
        left = time_left(trainings)
        if self._moving:
            if not self._started:
                self._live.start()
                self._started = True
            self._live.update(self._table(trainings, scores, left))
        elif time.monotonic() - self._last > LINE_EVERY:
            self._last = time.monotonic()
            self.say(words(trainings, left))

    def ended(self, one: PlannedRun, value: float, measure: Measure) -> None:
        self._measure = measure
        known = {
            "variant": one.variant,
            "seed": one.recipe.seed,
            "measure": display_name(measure),
            "score": score(value, measure) + (" %" if measure.share else ""),
        }
        if one.seconds is None:
            self.say(t("{variant}, seed {seed}: {measure} {score}, trained before", **known))
        else:
            time_it_took = clock(one.seconds)
            self.say(
                t("{variant}, seed {seed}: {measure} {score} ({time})", time=time_it_took, **known)
            )

    def close(self) -> None:
        if self._started:
            self._live.stop()
            self._started = False

    def _table(
        self, trainings: Sequence[PlannedRun], scores: Mapping[Names, float], left: float | None
    ) -> Table:
        seeds = sorted({one.recipe.seed for one in trainings})
        table = Table(title=words(trainings, left), title_justify="left", box=None)
        table.add_column(t("variant"))
        for seed in seeds:
            table.add_column(t("seed {seed}", seed=seed), justify="right")
        cells = {(one.variant, one.recipe.seed): self._cell(one, scores) for one in trainings}
        for name in dict.fromkeys(one.variant for one in trainings):
            table.add_row(name, *(cells.get((name, seed), "") for seed in seeds))
        return table

    def _cell(self, one: PlannedRun, scores: Mapping[Names, float]) -> str:
        value = scores.get((one.variant, str(one.recipe.seed)))
        if value is not None and self._measure is not None:
            return score(value, self._measure)
        if one.failure:
            return t("failed")
        return f"{100 * one.share:.0f} %" if one.running else "·"


def words(trainings: Sequence[PlannedRun], left: float | None) -> str:
    known = {"done": sum(one.done for one in trainings), "count": len(trainings)}
    if left is None:
        return t("{done} of {count} trained", **known)
    return t("{done} of {count} trained, about {time} left", time=rough(left), **known)


def time_left(trainings: Sequence[PlannedRun]) -> float | None:
    """Seconds until all are trained: each takes as long as others of its variant did, here or before."""
    over = _means(one for one in trainings if one.done)
    means = _means(one for one in trainings if not one.done) | over  # a guess, where none is over
    if not means:
        return None
    usual = mean(means.values())  # of a variant that none is known of

    def left(one: PlannedRun) -> float:
        """By what is done, and, since starting and reporting take time too, by the clock."""
        whole = means.get(one.variant, usual)
        if not one.running or one.began is None:
            return whole * (1 - one.share)
        by_clock = whole * (1 - one.before) - (time.monotonic() - one.began)
        return max(whole * (1 - one.share), by_clock)

    ends = [left(one) for one in trainings if one.running] or [0.0]
    for one in trainings:  # each is begun where one ends first
        if not (one.done or one.running or one.failure):
            heapq.heapify(ends)
            heapq.heapreplace(ends, ends[0] + left(one))
    return max(ends)


def _means(trainings: Iterable[PlannedRun]) -> dict[str, float]:
    """Seconds of a training of each variant, where they are known."""
    took: dict[str, list[float]] = {}
    for one in trainings:
        if (seconds := one.whole) is not None:
            took.setdefault(one.variant, []).append(seconds)
    return {name: mean(each) for name, each in took.items()}
