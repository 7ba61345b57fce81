"""Attributions over a corpus: how faithful each method is on average, how sure that is, and beside chance.

    table = CorpusFaithfulness(methods, seed=0)
    for reading in readings:
        table.add(reading)
    table.rows()

Legend: I items (examples), Q answers of one of them, D draws of a bootstrap.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.explanations.attributions import (
    ATTENTION,
    LEFT_OUT,
    METHODS,
    agreement,
    attributions,
    random_attribution,
)
from regard.explanations.faithfulness import faithfulness
from regard.explanations.model_readings import Reading

RANDOM = "random"
COLUMNS = ("comprehensiveness", "sufficiency", "tau_leave_one_out", "tau_attention")
DRAWS = 2_000
LEVEL = 0.95

Numbers = NDArray[np.float64]


class Interval(NamedTuple):
    """A mean over answers, and where a bootstrap of items has 95 of 100 means."""

    mean: float
    low: float
    high: float
    answers: int

    def to_dict(self) -> dict[str, float | int | None]:
        return {name: None if x != x else round(x, 6) for name, x in self._asdict().items()}


class MethodRow(NamedTuple):
    """What was found of one method."""

    name: str
    columns: dict[str, Interval]  # by COLUMNS
    beyond_random: dict[
        str, Interval
    ]  # of the first two: the difference to random tokens, answer by answer
    seconds: float  # of an example

    def better(self, column: str) -> bool:
        """Whether it is surely better than random tokens: more is lost without its tokens, less with them."""
        found = self.beyond_random.get(column)
        if found is None:
            return False
        return found.low > 0 if column == "comprehensiveness" else found.high < 0


class CorpusFaithfulness:
    """Sums over the answers of each item, kept by item."""

    def __init__(self, methods: Sequence[str] = METHODS, *, seed: int = 0) -> None:
        self.methods, self.seed = tuple(methods), seed
        self.items, self.answers = 0, 0
        self._sums: dict[tuple[str, str], list[tuple[float, int]]] = {}
        self._seconds: dict[str, float] = {}

    def add(self, reading: Reading) -> None:
        """Whole or not at all: what is interrupted in between leaves nothing."""
        given, took = self._attributions(reading)
        chance = random_attribution(reading, seed=self.seed * 1_000_003 + self.items)
        every = {name: given[name] for name in self.methods if name in given} | {RANDOM: chance}
        lost = faithfulness(reading, every)
        found: dict[tuple[str, str], tuple[float, int]] = {}
        for name, attribution in every.items():
            found[name, COLUMNS[0]] = _sum(lost[name].comprehensiveness)
            found[name, COLUMNS[1]] = _sum(lost[name].sufficiency)
            for column, other in ((COLUMNS[2], LEFT_OUT), (COLUMNS[3], ATTENTION)):
                if name != other and other in given:
                    taus = agreement(attribution, given[other], reading)
                    found[name, column] = _sum(taus)
        for place, numbers in found.items():
            self._sums.setdefault(place, [(0.0, 0)] * self.items).append(numbers)
        for name, seconds in took.items():
            self._seconds[name] = self._seconds.get(name, 0.0) + seconds
        self.items += 1
        self.answers += len(reading.said)
        for sums in self._sums.values():  # a method that this item does not have
            sums += [(0.0, 0)] * (self.items - len(sums))

    def rows(self) -> list[MethodRow]:
        """One for each method that the model has, random tokens last."""
        draw = np.random.default_rng(self.seed)
        even = np.full(self.items, 1 / max(self.items, 1))
        shares = draw.multinomial(self.items, even, DRAWS).astype(np.float64)  # (D, I)
        names = [name for name in (*self.methods, RANDOM) if (name, COLUMNS[0]) in self._sums]
        return [self._row(name, shares) for name in names]

    def _row(self, name: str, shares: Numbers) -> MethodRow:
        columns = {
            column: _interval(np.array(self._sums[name, column]), shares)
            for column in COLUMNS
            if (name, column) in self._sums
        }
        beyond = {}
        if name != RANDOM:
            for column in COLUMNS[:2]:
                own, chance = (np.array(self._sums[each, column]) for each in (name, RANDOM))
                apart = np.stack([own[:, 0] - chance[:, 0], own[:, 1]], 1)
                beyond[column] = _interval(apart, shares)
        seconds = self._seconds.get(name, 0.0) / max(self.items, 1)
        return MethodRow(name, columns, beyond, seconds)

    def _attributions(self, reading: Reading) -> tuple[dict[str, Tensor], dict[str, float]]:
        """Those of the table, and those that they are compared with; and how long each took."""
        given, took = dict[str, Tensor](), dict[str, float]()
        for name in dict.fromkeys((*self.methods, LEFT_OUT, ATTENTION)):
            begin = time.perf_counter()
            given |= attributions(reading, [name])
            took[name] = time.perf_counter() - begin
        return given, took


def _sum(numbers: Tensor) -> tuple[float, int]:
    """Of those that are numbers, and how many they are."""
    known = numbers[~numbers.isnan()].to(torch.float64)
    return float(known.sum()), len(known)


def _interval(sums: Numbers, shares: Numbers) -> Interval:
    """sums (I, 2): of the answers of each item, and how many; shares (D, I): how often each is drawn."""
    total, count = sums.sum(0)
    if not count:
        return Interval(np.nan, np.nan, np.nan, 0)
    drawn = shares @ sums  # (D, 2)
    means = drawn[:, 0] / np.where(drawn[:, 1] > 0, drawn[:, 1], np.nan)
    low, high = np.nanquantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Interval(float(total / count), float(low), float(high), int(count))
