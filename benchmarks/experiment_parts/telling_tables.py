"""The tables of texts that tell of something, from the folders of the runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiment_parts.telling_runs import EXPERIMENTS, SEEDS
from run_folders import each_of, head, interval_of, json_of, mean_of, row

# (set, measure, what it is multiplied by, what it is called); the last has its interval and its seeds.
WORDS = (
    ("test", "perplexity", 1.0, "perplexity"),
    ("test", "exact_match", 100.0, "exact match, %"),
)
VERSES = (("test", "perplexity", 1.0, "perplexity"), ("test", "form", 100.0, "form kept, %"))
LABELS = (("dev", "accuracy", 100.0, "dev, %"), ("test", "accuracy", 100.0, "test, %"))
OTHER_ORDER = (
    ("dev", "accuracy", 100.0, "in the order that was learnt, %"),
    ("test", "accuracy", 100.0, "in another, %"),
)
MEASURES = {
    "quatrains": VERSES,
    "couplets": VERSES,
    "couplets-tang": VERSES,
    "films": LABELS,
    "sets": LABELS,
    "sets-few": LABELS,
    "sets-sorted": OTHER_ORDER,
}


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one experiment after the other."""
    for name, experiment in EXPERIMENTS.items():
        measures = MEASURES.get(name, WORDS)
        names = [called for *_, called in measures]
        yield from (f"## {name}", "")
        yield from head("", *names, f"each seed: {names[-1]}")
        for key, (called, _) in experiment.rows.items():
            runs = [json_of(folder / f"{name}-{key}-{seed}" / "scores.json") for seed in SEEDS]
            found = [_values(runs, *measure[:3]) for measure in measures]
            *others, last = found
            yield row(called, *map(mean_of, others), interval_of(last), each_of(last))
        yield ""


def _values(runs: list[Any], part: str, measure: str, times: float) -> list[float]:
    scores = (run.get(part, {}).get(measure) for run in runs if run)
    return [times * value for value in scores if value is not None]
