"""All that a comparison found, as plain data, and compare.json of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from regard import __version__
from regard.compare.cases import Case
from regard.compare.comparison import Comparison
from regard.compare.items import Item
from regard.compare.judged_run import Cost, JudgedRun
from regard.compare.slices import Slice
from regard.measures.measure import Measure
from regard.tasks.simplest_answers import SimplestAnswer
from regard.words import say_plural

FORMAT = 1


@dataclass(frozen=True)
class Closer:
    """Two variants looked at more closely."""

    a: str
    b: str
    slices: Sequence[Slice] = ()
    cases: Sequence[Case] = ()


@dataclass(frozen=True)
class Findings:
    title: str
    task: str  # its kind
    noun: str  # what the items are
    data: str  # what they were judged on
    comparison: Comparison
    measures: Sequence[Measure]  # all there are, that of the comparison too
    judged: Mapping[str, Mapping[int, JudgedRun]]  # by variant and seed
    items: Sequence[Item]
    changes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of each variant
    roles: Mapping[str, str] = field(default_factory=dict)  # of those that ran along
    costs: Mapping[str, Cost] = field(default_factory=dict)
    closer: Sequence[Closer] = ()
    notes: Sequence[str] = ()
    command: str = ""
    budget: str = ""  # how long each was trained
    trained: bool = True  # by the comparison; else the runs existed
    usual: str = ""  # the measure of runs like these, where no other is asked for
    simplest: SimplestAnswer | None = None  # the same to everything, and what that scores
    always: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """Of variants and their seeds that answer the same to everything, what."""
    warnings: Sequence[str] = ()  # of the trainings

    @property
    def measure(self) -> Measure:
        return self.comparison.measure

    @property
    def stem(self) -> str:
        """What its files are called: each measure has its own."""
        usual = self.measure.name == (self.usual or self.measure.name)
        return "compare" if usual else f"compare-{self.measure.name}"

    @property
    def counted_items(self) -> str:
        """How many there are, and what they are: 1,072 texts."""
        count = len(self.items)
        return f"{count:,} {say_plural(count, self.noun[:-1], self.noun)}"

    def scores(self, measure: Measure) -> dict[str, dict[int, float]]:
        """By variant and seed."""
        return {
            name: {
                seed: float(measure.value(run.counts[measure.name].sum(0)))
                for seed, run in sorted(runs.items())
            }
            for name, runs in self.judged.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Enough to do the statistics again: `counts` of a measure, added up over items, are what it is
        computed from.
        """
        scores = {measure.name: self.scores(measure) for measure in self.measures}
        ranks = self.comparison.ranks()
        return {
            "format": FORMAT,
            "regard": __version__,
            "title": self.title,
            "command": self.command,
            "task": self.task,
            "data": self.data,
            "item_count": len(self.items),
            "budget": self.budget,
            "measure": self.measure.name,
            "level": self.comparison.level,
            "measures": {measure.name: _about(measure) for measure in self.measures},
            "variants": [
                {
                    "name": name,
                    "role": self.roles.get(name, ""),
                    "changes": dict(self.changes.get(name, {})),
                    "mean": self.comparison.means[name],
                    "rank": list(ranks[name]),
                    "cost": self.costs[name].to_dict() if name in self.costs else None,
                    "seeds": {
                        str(seed): {
                            "run": str(run.path),
                            "scores": {m: scores[m][name][seed] for m in scores},
                            "counts": {m: _plain(run.counts[m]) for m in scores},
                            "answers": list(run.answers),
                            "cost": run.cost.to_dict(),
                        }
                        for seed, run in sorted(runs.items())
                    },
                }
                for name, runs in self.judged.items()
            ],
            "pairs": [pair.to_dict() for pair in self.comparison.pairs.values()],
            "looks": list(self.comparison.looks.seeds) if self.comparison.looks else None,
            "closer": [
                {"a": one.a, "b": one.b, "slices": [part.to_dict() for part in one.slices]}
                for one in self.closer
            ],
            "items": [item.to_dict() for item in self.items],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "simplest": vars(self.simplest) if self.simplest else None,
            "always": {
                name: {str(seed): answer for seed, answer in by_seed.items()}
                for name, by_seed in self.always.items()
            },
        }


def _about(measure: Measure) -> dict[str, Any]:
    said = (type(measure).__doc__ or "").strip().splitlines()
    return {"share": measure.share, "error": measure.error, "is": said[0] if said else ""}


def _plain(counts: Any) -> list[list[float]]:
    return [[int(n) if n == int(n) else n for n in row] for row in counts.tolist()]
