"""Histories of events whose order does not matter, drawn by a seed, always alike.

A history has one event a_i, one event b_j and others that mean nothing, in any order; its label is

    (i + j) mod kinds

so that no event by itself tells anything of the label, and the two of them tell all of it: what has to be
learnt is to bring two events together, wherever they stand. With `ordered` it matters which of the two comes
first, (i + j + [b_j before a_i]) mod kinds, and who does not know places can at most guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from regard.words import t


@dataclass(frozen=True)
class HistorySettings:
    """count histories of `least` to `most` events, of `kinds` labels; others: events that mean nothing.

    order: random, or sorted, as those that are written down by their names.
    """

    count: int
    seed: int = 1
    kinds: int = 6
    others: int = 40
    least: int = 5
    most: int = 15
    order: str = "random"
    ordered: bool = False

    def __post_init__(self) -> None:
        if not 2 <= self.kinds <= 100 or not 1 <= self.others <= 26**2:
            raise ValueError(
                t("histories have 2 to 100 kinds of labels, and 1 to 676 other events")
            )
        if not 2 <= self.least <= self.most:
            raise ValueError(
                t(
                    "histories have two events or more, not {least} to {most}",
                    least=self.least,
                    most=self.most,
                )
            )
        if self.order not in ("random", "sorted"):
            raise ValueError(
                t("the order of events is random or sorted, not {order}", order=repr(self.order))
            )


class HistoryRow(NamedTuple):
    text: str  # the events, with a blank between them
    label: str


def event_name(kind: str, number: int) -> str:
    """Of letters alone, so that it is one word to every tokenizer: a_1 is aaa, b_3 is bac"""
    return kind + "".join(chr(ord("a") + place) for place in divmod(number, 26))


def event_histories(settings: HistorySettings) -> Iterator[HistoryRow]:
    """History i of a seed has a generator of its own: of both orders, the events are the same."""
    kinds = settings.kinds
    for number in range(settings.count):
        draw = np.random.default_rng((settings.seed, number))
        i, j = draw.integers(kinds, size=2).tolist()
        length = int(draw.integers(settings.least, settings.most + 1))
        more = draw.integers(settings.others, size=length - 2).tolist()
        first, second = event_name("a", i), event_name("b", j)
        events = [first, second, *(event_name("e", n) for n in more)]
        order = draw.permutation(length).tolist()
        events = [events[place] for place in order]
        if settings.order == "sorted":
            events.sort()
        later = settings.ordered and events.index(second) < events.index(first)
        yield HistoryRow(" ".join(events), f"kind{(i + j + later) % kinds + 1}")
