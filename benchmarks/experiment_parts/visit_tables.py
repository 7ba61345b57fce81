"""The tables of next places, from the folders of the runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiment_parts.visit_runs import CORPORA, ROWS, seeds_of
from run_folders import each_of, head, interval_of, mean_of, row, test_of

MEASURES = {"recall_at_1": "recall@1", "recall_at_5": "recall@5", "recall_at_10": "recall@10"}
AHEAD = ("markov", "rnn", "no-distance", "no-time")  # what ST-RNN should be ahead of


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one experiment after the other."""
    for corpus in CORPORA:
        yield from (f"## {corpus}", "", *_table(folder, corpus), "", *_ahead(folder, corpus), "")


def _table(folder: Path, corpus: str) -> Iterator[str]:
    yield from head("%", *MEASURES.values(), "MAP", "each seed, recall@10")
    for name, one in ROWS.items():
        tests = _tests(folder, corpus, name)
        values = {kind: [100 * test[kind] for test in tests] for kind in (*MEASURES, "map")}
        yield row(
            one.name,
            mean_of(values["recall_at_1"], 1),
            mean_of(values["recall_at_5"], 1),
            interval_of(values["recall_at_10"]),
            mean_of(values["map"], 1),
            each_of(values["recall_at_10"]),
        )


def _ahead(folder: Path, corpus: str) -> Iterator[str]:
    """Of how many seeds ST-RNN has the higher recall@10."""
    ours = [test["recall_at_10"] for test in _tests(folder, corpus, "st-rnn")]
    for name in AHEAD:
        found = [test["recall_at_10"] for test in _tests(folder, corpus, name)]
        if not ours or not found:
            yield f"* ST-RNN ahead of {ROWS[name].name}: not run yet"
            continue
        others = found * len(ours) if len(found) == 1 else found
        wins = sum(a > b for a, b in zip(ours, others, strict=False))
        yield f"* ST-RNN ahead of {ROWS[name].name} at recall@10: {wins} of {len(ours)} seeds"


def _tests(folder: Path, corpus: str, name: str) -> list[dict[str, float]]:
    runs = [folder / f"{corpus}-{name}-{seed}" for seed in seeds_of(name)]
    return [test for run in runs if (test := test_of(run))]
