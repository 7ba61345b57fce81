"""Places on the earth, by name; and what was counted of visits to them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from regard.data.fields.member import Member, names_in
from regard.words import t

Coordinates = tuple[float, float]  # latitude and longitude, in degrees
EARTH = 6371.0  # km


class Place(Member):
    """One of V places. `coordinates` (V, 2): latitude and longitude of each.

    tallies (C, 3), if they were asked for: (what is known before, the place, how often), numbers of `Member`.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.coordinates: NDArray[np.float64] = np.zeros((0, 2))
        self.tallies: NDArray[np.int64] = np.zeros((0, 3), np.int64)

    def learn_places(self, places: Mapping[str, Coordinates]) -> None:
        """Names, and where they are."""
        self.learn(places)
        self.coordinates = np.array([places[name] for name in self.names])

    def count(self, visits: Iterable[tuple[int, int]]) -> None:
        """visits: what is known before, and the place, in numbers."""
        every = sorted((*pair, times) for pair, times in Counter(visits).items())
        self.tallies = np.array(every, np.int64).reshape(-1, 3)

    def to_json(self) -> str:
        whole = {
            "names": self.names,
            "coordinates": self.coordinates.tolist(),
            "tallies": self.tallies.tolist(),
        }
        return json.dumps(whole, ensure_ascii=False) + "\n"

    def load(self, text: str) -> None:
        read = json.loads(text)
        names = names_in(read)
        where = np.array(read.get("coordinates"), np.float64)
        tallies = np.array(read.get("tallies") or [], np.int64).reshape(-1, 3)
        if where.shape != (len(names), 2) or not np.isfinite(where).all():
            raise ValueError(t("its coordinates are not two for each name"))
        if tallies.size and not 0 < tallies[:, 1:].min() <= tallies[:, 1].max() <= len(names):
            raise ValueError(t("its counts are not of its places"))
        self.take(names)
        self.coordinates, self.tallies = where, tallies

    @property
    def points(self) -> NDArray[np.float64]:
        """(V + 1, 3): where each place is, in km from the middle of the earth; the unknown one is there."""
        return np.concatenate([np.zeros((1, 3)), points_of(self.coordinates)])


def points_of(coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
    """latitude and longitude (..., 2), in degrees -> (..., 3), in km from the middle of the earth"""
    latitude, longitude = np.moveaxis(np.radians(coordinates), -1, 0)
    level = np.cos(latitude)
    axes = (level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude))
    return EARTH * np.stack(axes, -1)


def kilometres(first: Coordinates, second: Coordinates) -> float:
    """As the crow flies: 2 R asin(‖x - y‖ / 2R)

    >>> round(kilometres((40.7128, -74.0060), (51.5074, -0.1278)))
    5570
    """
    x, y = points_of(np.array([first, second]))
    half = float(np.linalg.norm(x - y)) / (2 * EARTH)
    return 2 * EARTH * math.asin(min(half, 1.0))
