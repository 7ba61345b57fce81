"""Walks through a city that there is not: people, places and times drawn by a seed, always alike.

Everybody lives somewhere and goes out again and again: from home, many hours after the visit before, to some
place near home, and from there on, within an hour or two, to others. How far somebody gets depends on the
time that there was:

    p(next place v) ∝ popularity of v · exp(-distance of v / reach)

of the distance from the place before, with a reach of `step` km, if it was less than SHORT hours ago, and
from home, with a reach of `around` km, if it was longer. So who knows coordinates and times can tell more
than who knows which place was visited after which.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from regard.words import t

SHORT = 3.0  # hours
NORTH, EAST = 111.0, 84.0  # km of a degree, at this latitude
LATITUDE, LONGITUDE = 40.7, -74.0  # of the city's south-west corner
START = 1_300_000_000  # seconds since 1970, when the first goes out


@dataclass(frozen=True)
class WalkSettings:
    """users walk through a square city of `side` km, which has so many places; outings of `outing` visits, on
    average.
    """

    users: int
    visits: int  # of each user
    places: int = 1000
    seed: int = 1
    side: float = 15.0
    step: float = 0.5
    around: float = 2.0
    outing: float = 4.0

    def __post_init__(self) -> None:
        if min(self.users, self.visits, self.places - 1) < 1:
            raise ValueError(t("walks need users, visits, and two places or more"))
        if min(self.side, self.step, self.around) <= 0 or self.outing < 1:
            raise ValueError(t("side, step and around are kilometres, outing one visit or more"))


class WalkRow(NamedTuple):
    """A check-in; time: seconds since 1970."""

    user: str
    place: str
    latitude: float
    longitude: float
    time: int


def city_walks(settings: WalkSettings) -> Iterator[WalkRow]:
    """All check-ins, user by user, in the order of time."""
    draw = np.random.default_rng(settings.seed)
    where = settings.side * draw.random((settings.places, 2))  # (V, 2): km to the north and east
    popular = np.exp(-1.5 * draw.random(settings.places))
    # (V, V): whither, by what was before
    onward = popular * np.exp(-_apart(where, where) / settings.step)
    np.fill_diagonal(onward, 0.0)
    for user in range(settings.users):
        home = settings.side * draw.random(2)
        outward = popular * np.exp(-_apart(home[None], where)[0] / settings.around)
        hours, place, walking = 24 * draw.random(), -1, False
        for _ in range(settings.visits):
            walking = walking and draw.random() < 1 - 1 / settings.outing
            if place >= 0:
                low, high = (0.25, SHORT) if walking else (8.0, 40.0)
                hours += low * (high / low) ** draw.random()
            place = _drawn(onward[place] if walking else outward, draw)
            walking = True
            north, east = where[place]
            yield WalkRow(
                f"u{user + 1}",
                f"p{place + 1}",
                round(LATITUDE + north / NORTH, 6),
                round(LONGITUDE + east / EAST, 6),
                START + math.floor(3600 * hours),
            )


def _apart(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(N, 2), (M, 2) -> (N, M): km"""
    apart: np.ndarray = np.linalg.norm(first[:, None] - second, axis=-1)
    return apart


def _drawn(chances: np.ndarray, draw: np.random.Generator) -> int:
    """A number, as often as its chance says."""
    sums = np.cumsum(chances)
    return min(int(np.searchsorted(sums, draw.random() * sums[-1], "right")), len(sums) - 1)
