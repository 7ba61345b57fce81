"""What is run for joint models: the rows of their tables, and the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Row(NamedTuple):
    name: str
    words: str


ROWS = {
    "none": Row("no source (a language model)", "model.encoder=none"),
    "window": Row("the words around (NNJM)", "model.encoder=window"),
    "cnn": Row("CNN", "model.encoder=cnn"),
    "tag-cnn": Row("tagCNN", "model.encoder=tag-cnn"),
    "max": Row("inCNN, maxima instead of gates", "model.gate=false"),
    "in-cnn": Row("**inCNN**", ""),
}
# the recipe of each experiment
CORPORA = {"tatoeba": "meng", "multi30k": "meng-multi30k"}
ORDER = ("none", "window", "cnn", "tag-cnn", "in-cnn")  # from the highest perplexity to the lowest


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    for seed in SEEDS:
        for corpus, recipe in CORPORA.items():
            for name, row in ROWS.items():
                run = folder / f"{corpus}-{name}-{seed}"
                line = f"regard train {recipe} {row.words} seed={seed} --run {run}"
                yield corpus, " ".join(line.split())


def comparisons(folder: Path) -> Iterator[str]:
    """Shell lines that ask, of runs that are there, which differences are shown."""
    for corpus in CORPORA:
        runs = (f"{folder}/{corpus}-{name}-{seed}" for name in reversed(ROWS) for seed in SEEDS)
        yield f"regard compare {' '.join(runs)} --out {folder}/compare-{corpus}"
