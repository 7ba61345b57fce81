"""Rows of check-ins, as the trails of their users: in the order of time, cut into parts by time.

A part of a trail is told from all that its user did before, and from nothing that came later; `train` are the
first visits of every user, `dev` those behind them, `test` the last. So no visit is in two parts, and what is
learnt of places and users is learnt of `train` alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from regard.data.examples import Example, read_corpus
from regard.data.fields import Field
from regard.data.fields.place import Coordinates, kilometres
from regard.data.fields.visits import Trail, Visit
from regard.data.problems import Problems
from regard.data.spec import Corpus

FAR = 1.0  # km that the rows of one place may lie apart
MOVED = f"lines whose place is over {FAR:g} km from where it was before"
NOWHERE = "lines whose place has no coordinates in task.places"


@dataclass
class Checkins:
    """trails: the visits of each user, sorted by time, and the line that each stands on."""

    trails: dict[str, tuple[list[Visit], list[int]]]
    places: dict[str, Coordinates]
    problems: list[tuple[str, int]] = field(
        default_factory=list
    )  # what is wrong, and on which line

    def tell(self, problems: Problems, corpus: str) -> None:
        """Count what is wrong with the rows of a corpus."""
        for kind, line in self.problems:
            problems.add(corpus, kind, line)


class Cut(NamedTuple):
    """Where the parts of a trail end, as shares of its visits."""

    train: float = 0.7
    dev: float = 0.1

    def bounds(self, count: int, part: str | None) -> range:
        """The numbers of the visits of a part; None: of all. Of few visits the first part has more."""
        first = math.ceil(self.train * count - 1e-9)
        second = math.ceil((self.train + self.dev) * count - 1e-9)
        starts = {"train": (0, first), "dev": (first, second), "test": (second, count)}
        return range(*starts[part]) if part else range(count)


class LineProblems(Problems):
    """All lines, not the first of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.lines_of: list[tuple[str, int]] = []

    def add(self, corpus: str, kind: str, line: int) -> None:
        self.lines_of.append((kind, line))


def gathered(
    corpus: Corpus, fields: Sequence[Field], table: Mapping[str, Coordinates] | None = None
) -> Checkins:
    """Rows with user, place, time, and latitude and longitude, unless a table has those of each place."""
    problems = LineProblems()
    rows = read_corpus(replace(corpus, part=None), fields, problems)
    places: dict[str, Coordinates] = {}
    trails: dict[str, list[tuple[float, int, str]]] = {}
    wrong = problems.lines_of
    for row in rows:
        place = row["place"]
        if table is not None:
            if place not in table:
                wrong.append((NOWHERE, row.line))
                continue
            places[place] = table[place]
        else:
            here = row["latitude"], row["longitude"]
            before = places.setdefault(place, here)
            if before != here and kilometres(before, here) > FAR:
                wrong.append((MOVED, row.line))
                continue
        trails.setdefault(row["user"], []).append((row["time"], row.line, place))
    found = {}
    for user, visits in trails.items():
        visits.sort(key=lambda visit: visit[0])  # stable: those of one time stay as they stand
        lines = [line for _, line, _ in visits]
        found[user] = [Visit(place, hours) for hours, _, place in visits], lines
    return Checkins(found, places, wrong)


def next_visits(
    found: Checkins, corpus: str, bounds: Mapping[str, range], longest: int
) -> Iterator[Example]:
    """An example for each visit within the bounds of its user: where, after up to `longest` visits?"""
    for user, (visits, lines) in found.trails.items():
        for place in bounds[user]:
            before = Trail(visits[max(place - longest, 0) : place])
            yield _example(user, before, visits[place], lines[place], corpus)


def stretches(
    found: Checkins, corpus: str, bounds: Mapping[str, range], longest: int
) -> Iterator[Example]:
    """The same visits, several in an example, up to half of `longest`: each is told once, with at least as
    many visits before it, or all there are.
    """
    step = max(longest // 2, 1)
    for user, (visits, lines) in found.trails.items():
        start, end = bounds[user].start, bounds[user].stop
        while start < end:
            stop = min(start + step, end)
            last, first = stop - 1, max(stop - 1 - longest, 0)
            before = Trail(visits[first:last], told=last - start)
            yield _example(user, before, visits[last], lines[last], corpus)
            start = stop


def _example(user: str, before: Trail, visit: Visit, line: int, corpus: str) -> Example:
    values = {"user": user, "history": before, "time": visit.hours, "place": visit.place}
    return Example(line, values, corpus)


def bounds_of(found: Checkins, cut: Cut, part: str | None) -> dict[str, range]:
    """Of every user."""
    return {user: cut.bounds(len(visits), part) for user, (visits, _) in found.trails.items()}


def trained_places(found: Checkins, bounds: Mapping[str, range]) -> Sequence[str]:
    """The places that are visited within these bounds."""
    return sorted(
        {visits[n].place for user, (visits, _) in found.trails.items() for n in bounds[user]}
    )
