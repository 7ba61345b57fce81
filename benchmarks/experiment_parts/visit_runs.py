"""What is run for next places: the rows of their tables, and the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Row(NamedTuple):
    name: str
    words: str


# Vectors of all models have the size of the recipe; a model that counts draws nothing, and has one seed.
ROWS = {
    "popular": Row("most visited by all", "model.kind=visit-counts model.given=all"),
    "own": Row("most visited by the user", "model.kind=visit-counts model.given=user"),
    "markov": Row("Markov chain, counted", "model.kind=visit-counts model.given=place"),
    "mf": Row("user vectors alone", "model.kind=visit-factors model.last=false"),
    "fpmc": Row("user and last place (FPMC)", "model.kind=visit-factors"),
    "rnn": Row("RNN", "model.kind=visit-rnn model.cell=elman"),
    "gru": Row("GRU", "model.kind=visit-rnn model.cell=gru"),
    "attention": Row("attention over the visits", "model.kind=visit-attention"),
    "no-distance": Row("ST-RNN without S", "model.spatial=false"),
    "no-time": Row("ST-RNN without T", "model.temporal=false"),
    "st-rnn": Row("**ST-RNN**", ""),
}
COUNTED = ("popular", "own", "markov")
# the recipe of each experiment, and what all of its rows have
CORPORA = {
    "walks": ("visit", ""),
    "walks-bpr": ("visit", "task.loss=bpr task.negatives=10"),
    "nyc": ("visit-nyc", ""),
    "nyc-bpr": ("visit-nyc", "task.loss=bpr task.negatives=10"),
}
COMPARED = ("st-rnn", "markov", "rnn", "no-distance", "no-time")


def seeds_of(name: str) -> tuple[int, ...]:
    return SEEDS[:1] if name in COUNTED else SEEDS


def size_of(corpus: str) -> int:
    """That of the recipe."""
    return 16 if corpus.startswith("walks") else 32


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    for seed in SEEDS:
        for corpus, (recipe, shared) in CORPORA.items():
            for name, row in ROWS.items():
                if seed not in seeds_of(name):
                    continue
                size = "" if name in COUNTED else f"model.size={size_of(corpus)}"
                run = folder / f"{corpus}-{name}-{seed}"
                line = f"regard train {recipe} {row.words} {size} {shared} seed={seed} --run {run}"
                yield corpus, " ".join(line.split())


def comparisons(folder: Path) -> Iterator[str]:
    """Shell lines that ask, of runs that are there, which differences are shown."""
    for corpus in CORPORA:
        names = ((name, seed) for name in COMPARED for seed in seeds_of(name))
        runs = (f"{folder}/{corpus}-{name}-{seed}" for name, seed in names)
        yield f"regard compare {' '.join(runs)} --out {folder}/compare-{corpus}"
