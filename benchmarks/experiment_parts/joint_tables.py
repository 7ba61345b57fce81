"""The tables of joint models, from the folders of the runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from experiment_parts.joint_runs import CORPORA, ORDER, ROWS, SEEDS
from run_folders import each_of, head, interval_of, mean_of, row, test_of


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one experiment after the other."""
    for corpus in CORPORA:
        yield from (f"## {corpus}", "", *_table(folder, corpus), "", *_order(folder, corpus), "")


def _table(folder: Path, corpus: str) -> Iterator[str]:
    yield from head(
        "source", "perplexity", "each seed", "told which word is translated", "accuracy, %", "BLEU"
    )
    for name, one in ROWS.items():
        tests = _tests(folder, corpus, name)
        values = {
            kind: [float(test[kind]) for test in tests]
            for kind in ("perplexity", "aligned_perplexity", "accuracy")
        }
        yield row(
            one.name,
            interval_of(values["perplexity"]),
            each_of(values["perplexity"]),
            mean_of(values["aligned_perplexity"], 1),
            mean_of([100 * share for share in values["accuracy"]], 1),
            mean_of([test["bleu"]["value"] for test in tests], 1),
        )


def _order(folder: Path, corpus: str) -> Iterator[str]:
    """In how many seeds each of the paper's order has the lower perplexity than the one before it."""
    for kind in ("perplexity", "aligned_perplexity"):
        for higher, lower in pairwise(ORDER):
            pairs = [
                [test[kind] for test in _tests(folder, corpus, name)] for name in (higher, lower)
            ]
            if not all(pairs):
                yield f"* {kind}, {ROWS[lower].name} below {ROWS[higher].name}: not run yet"
                continue
            wins = sum(b < a for a, b in zip(*pairs, strict=False))
            said = f"{wins} of {min(map(len, pairs))} seeds"
            yield f"* {kind}, {ROWS[lower].name} below {ROWS[higher].name}: {said}"


def _tests(folder: Path, corpus: str, name: str) -> list[dict]:
    runs = [folder / f"{corpus}-{name}-{seed}" for seed in SEEDS]
    return [test for run in runs if (test := test_of(run))]
