"""Which variant to take, where that can be said: as good as the best, and cheaper than all that are."""

from __future__ import annotations

from typing import NamedTuple

from regard.compare.findings import Findings
from regard.compare.judged_run import Cost

NEAR = 0.05  # of the best score, or of a share: what may be farther behind is not as good
LEANING = 0.2  # p of one pair: below, it looks worse though that is not shown
NO_MORE, LESS = 1.05, 0.95  # times a cost: not to be told from it, and surely less


class Advice(NamedTuple):
    name: str
    behind: float  # the best, at most


def advice(found: Findings) -> Advice | None:
    """The cheapest of those that none is shown to be better than; None where there is no such one, or one
    is shown to be the best, or there was one seed, or it may be far behind the best all the same.
    """
    comparison, measure = found.comparison, found.measure
    ranks, best = comparison.ranks(), comparison.best
    first = [name for name in comparison.order if ranks[name][0] == 1]
    if len(first) < 2 or best not in first:
        return None
    name = next((one for one in first if _cheapest(one, first, found)), None)
    if name is None:
        return None
    if name == best:
        return Advice(name, 0.0)
    difference = comparison.pair(name, best).difference
    low, high = difference.interval
    behind = max(0.0, high if measure.error else -low)  # not -0.0
    near = NEAR * (1 if measure.share else abs(comparison.means[best]))
    if difference.spread_seeds is None or behind > near or difference.p < LEANING:
        return None
    return Advice(name, behind)


def _cheapest(name: str, among: list[str], found: Findings) -> bool:
    others = [other for other in among if other != name]
    if not all(one in found.costs for one in among):
        return False
    return all(_cheaper(found.costs[name], found.costs[other]) for other in others)


def _cheaper(one: Cost, other: Cost) -> bool:
    """In something, and not dearer in anything that is known of both."""
    pairs = [
        (one.parameters, other.parameters),
        (one.seconds, other.seconds),
        (one.memory, other.memory),
        (other.speed, one.speed),  # less is dearer
    ]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return all(a <= NO_MORE * b for a, b in known) and any(a < LESS * b for a, b in known)
