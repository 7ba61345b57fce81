"""Where two variants differ: by length, by how rare the words are, by label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.compare.comparison import Comparison
from regard.compare.items import Item
from regard.measures.measure import Mean, Measure
from regard.statistics import Difference
from regard.words import t

LENGTHS = (5, 10, 20, 30, 40, 60, 100, 200, 500, 1000)
SEEN = (0, 1, 10, 100, 1_000, 10_000)
FEWEST = 8  # items; of fewer nothing is said
MOST_LABELS = 24
COMMON = 0.95  # a label that more items have than this says nothing of some of them


@dataclass(frozen=True)
class Slice:
    """Some of the items, and the difference a − b on them."""

    by: str  # length, rarity or label
    name: str
    items: Sequence[int]
    difference: Difference
    values: tuple[float, float]  # of a and of b, means over seeds

    def to_dict(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "name": self.name,
            "items": len(self.items),
            "values": list(self.values),
            **{
                key: value
                for key, value in self.difference.to_dict().items()
                if key in ("difference", "interval", "better")
            },
        }


def slices(found: Comparison, a: str, b: str, items: Sequence[Item]) -> list[Slice]:
    """All parts of the corpus that are large enough; intervals are of each by itself, without correction.

    Of a label, a mean is that of its items, and F1 is that of the label among all items: items that have one
    label have no F1 of others. What is neither has no such part.
    """
    whole, labels = found.measure, _by_label(items)
    groups = [(*group, whole) for group in (*_by_length(items), *_by_rarity(items))]
    if isinstance(whole, Mean) and _counts_every_item(found):
        groups += [(*group, whole) for group in labels]
    else:
        alone = [(group, whole.of_label(group[1])) for group in labels]
        groups += [(*group, measure) for group, measure in alone if measure is not None]
    return [one for group in groups if (one := _slice(found, a, b, *group))]


def _counts_every_item(found: Comparison) -> bool:
    """Not so where a mean is one of questions, which stand with the first of their candidates."""
    counts = next(iter(found.variants[0].counts.values()))
    return bool(counts[:, 1].all())


def _slice(
    found: Comparison, a: str, b: str, by: str, name: str, rows: Sequence[int], measure: Measure
) -> Slice | None:
    if not len(rows) >= FEWEST:
        return None
    counted = list(rows) if measure is found.measure else None  # all of them
    try:
        _, difference = found.between(a, b, counted, measure)
    except ValueError:  # nothing is counted in these items
        return None
    means = []
    for each in (a, b):
        of = found.by_name[each].counts.values()
        kept = (counts if counted is None else counts[counted] for counts in of)
        values = [float(measure.value(counts.sum(0))) for counts in kept]
        means.append(sum(values) / len(values))
    return Slice(by, name, rows, difference, (means[0], means[1]))


def _by_length(items: Sequence[Item]) -> list[tuple[str, str, list[int]]]:
    groups: dict[int, list[int]] = {}
    for row, item in enumerate(items):
        place = sum(item.words > bound for bound in LENGTHS)
        groups.setdefault(place, []).append(row)
    return [("length", _span(LENGTHS, place), rows) for place, rows in sorted(groups.items())]


def _span(bounds: Sequence[int], place: int) -> str:
    low = 0 if not place else bounds[place - 1] + 1
    return f"{low:,}–{bounds[place]:,}" if place < len(bounds) else f"{low:,}+"


def _by_rarity(items: Sequence[Item]) -> list[tuple[str, str, list[int]]]:
    groups: dict[int, list[int]] = {}
    for row, item in enumerate(items):
        if item.rarest is not None:
            place = sum(item.rarest >= bound for bound in SEEN) - 1
            groups.setdefault(place, []).append(row)
    found = []
    for place, rows in sorted(groups.items()):
        low, high = SEEN[place], SEEN[place + 1 : place + 2]
        name = t("never seen") if not low else f"{low:,}–{high[0] - 1:,}" if high else f"{low:,}+"
        found.append(("rarity", name, rows))
    return found


def _by_label(items: Sequence[Item]) -> list[tuple[str, str, list[int]]]:
    groups: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        for label in item.labels:
            groups.setdefault(label, []).append(row)
    usual = {label for label, rows in groups.items() if len(rows) <= COMMON * len(items)}
    most = Counter({label: len(rows) for label, rows in groups.items() if label in usual})
    return [("label", label, groups[label]) for label, _ in most.most_common(MOST_LABELS)]


def slice_title(by: str, measure: Measure) -> str:
    known = {
        "length": t("by length, in words"),
        "rarity": t("by the rarest word: how often it is in the training corpus"),
        "label": t("by label") if isinstance(measure, Mean) else t("by label: F1 of each"),
    }
    return known[by]
