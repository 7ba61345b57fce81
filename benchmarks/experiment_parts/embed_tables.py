"""The tables of word vectors, from the folders of the runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from experiment_parts.embed_runs import CORPORA, ROWS, SEEDS, WINDOWS
from run_folders import each_of, head, interval_of, row, test_of

SHOWN = (1, 2, 3, 5, 10, 20)  # distances of the mean weights


def tables(folder: Path) -> Iterator[str]:
    """Markdown, one corpus after the other."""
    for corpus in CORPORA:
        yield from (f"## {corpus}", "", *_table(folder, corpus), "", *_weights(folder, corpus), "")


def _table(folder: Path, corpus: str) -> Iterator[str]:
    probes = list(dict.fromkeys(name for test in _every(folder, corpus) for name in _probes(test)))
    yield from head("window", "", *probes, *(f"each seed, {name}" for name in probes[:1]))
    for window in WINDOWS:
        for key, one in ROWS.items():
            tests = _tests(folder, corpus, key, window)
            found = {name: [100 * _probes(test)[name] for test in tests] for name in probes}
            cells = [interval_of(values) for values in found.values()]
            yield row(str(window), one.name, *cells, *(each_of(found[p]) for p in probes[:1]))


def _weights(folder: Path, corpus: str) -> Iterator[str]:
    """The mean weight of the two words at a distance, in percent."""
    yield from head("window", "%, at a distance of", *map(str, SHOWN))
    for window in WINDOWS:
        for key in ("place", "variable"):
            tests = _tests(folder, corpus, key, window)
            places = [test["weight_by_place"] for test in tests if test["weight_by_place"]]
            cells = ["–"] * len(SHOWN)
            if places:
                means = [100 * mean(each) for each in zip(*places, strict=True)]
                cells = [
                    f"{means[window - d] + means[window + d - 1]:.1f}" if d <= window else ""
                    for d in SHOWN
                ]
            yield row(str(window), ROWS[key].name, *cells)


def _probes(test: dict[str, Any]) -> dict[str, float]:
    """By name: correlation of similarities, accuracy of analogies, of a tagger of words alone."""
    return {name: probe["value"] for name, probe in test.get("probes", {}).items()}


def _every(folder: Path, corpus: str) -> Iterator[dict[str, Any]]:
    for window in WINDOWS:
        for key in ROWS:
            yield from _tests(folder, corpus, key, window)


def _tests(folder: Path, corpus: str, key: str, window: int) -> list[dict[str, Any]]:
    found = (test_of(folder / f"{corpus}-{key}-{window}-{seed}") for seed in SEEDS)
    return [test for test in found if test]
