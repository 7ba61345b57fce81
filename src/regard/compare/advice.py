"""Which variant to take, where that can be said: as good as the best, and cheaper than all that are."""

from __future__ import annotations

from typing import NamedTuple

from regard.compare.cost_order import cheaper, cheaper_in_any
from regard.compare.findings import Findings

NEAR = 0.05  # of the best score, or of a share: what may be farther behind is not as good
LEANING = 0.2  # p of one pair: below, it looks worse though that is not shown


class Advice(NamedTuple):
    name: str
    behind: float  # the best, at most
    as_cheap: tuple[str, ...] = ()  # others that it is not cheaper than, nor they than it
    fewest: bool = False  # whether it has fewer parameters than all others


def advice(found: Findings) -> Advice | None:
    """The cheapest of those that none is shown to be better than; None where there is no such one, or one
    is shown to be the best, or there was one seed, or it may be far behind the best all the same.

    Of several that are as cheap it is the one with the fewest parameters, and then the best of them.
    """
    comparison, measure = found.comparison, found.measure
    ranks, best = comparison.ranks(), comparison.best
    first = [name for name in comparison.order if ranks[name][0] == 1]
    if len(first) < 2 or best not in first:
        return None
    taken = _cheapest(first, found)
    if taken is None or taken.name == best:
        return taken
    difference = comparison.pair(taken.name, best).difference
    low, high = difference.interval
    behind = max(0.0, high if measure.error else -low)  # not -0.0
    near = NEAR * (1 if measure.share else abs(comparison.means[best]))
    if difference.spread_seeds is None or behind > near or difference.p < LEANING:
        return None
    return taken._replace(behind=behind)


def _cheapest(among: list[str], found: Findings) -> Advice | None:
    """None where each is dearer than some other in something, or nothing tells them apart."""
    costs = found.costs
    if not all(one in costs for one in among):
        return None
    cheap = [
        name for name in among if not any(cheaper_in_any(costs[one], costs[name]) for one in among)
    ]
    if not cheap:
        return None
    name = min(cheap, key=lambda one: costs[one].parameters)
    others = [other for other in among if other != name]
    alike = tuple(other for other in others if not cheaper(costs[name], costs[other]))
    fewest = all(costs[name].parameters < costs[other].parameters for other in others)
    if len(alike) == len(others) and not fewest:
        return None
    return Advice(name, 0.0, alike, fewest)
