"""What is run for word vectors: the rows of their tables, and the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Row(NamedTuple):
    name: str
    words: str


ROWS = {
    "cbow": Row("the mean of the words around (CBOW)", "model.attention=uniform"),
    "place": Row("a weight for each place", "model.attention=place"),
    "variable": Row("**a weight for each word at each place**", ""),
    "skip-gram": Row("skip-gram", "model.kind=skip-gram"),
}
CORPORA = {"tatoeba": "embed", "imdb": "embed-imdb"}  # the recipe of each experiment
WINDOWS = (5, 20)


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    for seed in SEEDS:
        for corpus, recipe in CORPORA.items():
            for window in WINDOWS:
                for name, row in ROWS.items():
                    words = f"{row.words} model.window={window} seed={seed}"
                    run = folder / f"{corpus}-{name}-{window}-{seed}"
                    yield corpus, " ".join(f"regard train {recipe} {words} --run {run}".split())


def comparisons(folder: Path) -> Iterator[str]:
    """Shell lines that ask, of runs that are there, which differences are shown."""
    for corpus in CORPORA:
        for window in WINDOWS:
            names = [name for name in ROWS if name != "skip-gram"]  # which is asked something else
            runs = (f"{folder}/{corpus}-{name}-{window}-{seed}" for name in names for seed in SEEDS)
            yield f"regard compare {' '.join(runs)} --out {folder}/compare-{corpus}-{window}"
