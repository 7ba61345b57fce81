"""Scores of a stranger: made up here, with differences that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from regard.compare.comparison import Comparison, ScoredVariant
from regard.compare.findings import Closer, Findings
from regard.compare.items import Item
from regard.compare.judged_run import Cost, JudgedRun
from regard.compare.slices import slices
from regard.measures.accuracy import Accuracy
from regard.measures.measure import Measure

HOSTILE = "<script>alert('x')</script> & \"quoted\""


def made_counts(level: float, *, seeds: int, items: int, noise: float, seed: int) -> dict:
    """{seed: (items, 2)}: items right with about this probability, the same items hard for everybody."""
    hard = np.random.default_rng(1).normal(size=items)
    found = {}
    for number in range(1, seeds + 1):
        draw = np.random.default_rng([seed, number])
        skill = level + noise * np.random.default_rng([7, number]).normal()
        right = (hard * 0.5 + skill + 0.3 * draw.normal(size=items)) > 0
        found[number] = np.stack([right, np.ones(items)], -1).astype(np.float64)
    return found


def comparison(
    levels: dict[str, float], *, seeds: int = 3, items: int = 400, noise: float = 0.02
) -> Comparison:
    made = [
        ScoredVariant(name, made_counts(level, seeds=seeds, items=items, noise=noise, seed=place))
        for place, (name, level) in enumerate(levels.items())
    ]
    return Comparison(Accuracy(), made)


def findings(levels: dict[str, float], **options: object) -> Findings:
    found = comparison(levels, **options)  # type: ignore[arg-type]
    items = len(next(iter(found.variants[0].counts.values())))
    texts = [
        Item(n + 1, f"text {n} {HOSTILE}", "yes", 1 + n % 50, n * 7 % 2000, ("a", "b")[n % 2 :][:1])
        for n in range(items)
    ]
    judged = {}
    for place, variant in enumerate(found.variants):
        cost = Cost(
            1000 * (place + 1), 10.0 * (place + 1), 2**20 * 100 * (place + 1), 50.0 / (place + 1)
        )
        judged[variant.name] = {
            seed: JudgedRun(
                Path(f"runs/{variant.name}/{seed}"),
                seed,
                "digest",
                {"accuracy": counts},
                ["yes" if row[0] else "no" for row in counts],
                cost,
            )
            for seed, counts in variant.counts.items()
        }
    measures: list[Measure] = [Accuracy()]
    best, second = found.order[:2]
    return Findings(
        title=f"made {HOSTILE}",
        task="classify",
        noun="texts",
        data="made.tsv",
        comparison=found,
        measures=measures,
        judged=judged,
        items=texts,
        costs={name: runs[1].cost for name, runs in judged.items()},
        closer=[Closer(best, second, slices(found, best, second, texts))],
        notes=["a note"],
        command="regard compare made",
        budget="training.steps=3",
    )
