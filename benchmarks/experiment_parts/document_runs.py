"""What is run for documents: the rows of their tables, and the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Row(NamedTuple):
    name: str
    whole: bool  # whether it is asked for whole documents, or for their sentences


class Experiment(NamedTuple):
    lines: dict[str, str]  # the recipe of each row, and its words
    edges: tuple[int, ...]  # of lengths in words, or in characters of Chinese


ROWS = {
    "sentences": Row("sentence by sentence", False),
    "flat": Row("as a whole, words alone", True),
    "hierarchical": Row("**as a whole, words and sentences**", True),
}
FLAT = "model.kind=recurrent model.embedding={0} model.hidden={1} model.dropout={2}"
EXPERIMENTS = {
    "tatoeba": Experiment(
        {
            "sentences": f"documents data.join=1 {FLAT.format(64, 96, 0.1)}",
            "flat": f"documents {FLAT.format(64, 96, 0.1)}",
            "hierarchical": "documents",
        },
        (10, 20, 30, 40),
    ),
    "ddtp": Experiment(
        {
            "sentences": "sentences-ddtp",
            "flat": f"documents-ddtp {FLAT.format(256, 512, 0.2)}",
            "hierarchical": "documents-ddtp",
        },
        (20, 40, 60, 80, 100),
    ),
}


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    made = "python -m regard.data.corpora.build_debian_ddtp"
    yield "ddtp", f"{made} $REGARD_DATA/debian-ddtp/en-fr.tsv.xz $REGARD_DATA/ddtp-fr"
    for seed in SEEDS:
        for experiment, (lines, _) in EXPERIMENTS.items():
            for name, words in lines.items():
                run = folder / f"{experiment}-{name}-{seed}"
                yield experiment, f"regard train {words} seed={seed} --run {run}"


def comparisons(folder: Path) -> Iterator[str]:
    """Shell lines that ask, of runs that are there, which differences are shown: of whole documents."""
    for experiment in EXPERIMENTS:
        names = [name for name, row in ROWS.items() if row.whole]
        runs = (f"{folder}/{experiment}-{name}-{seed}" for name in names for seed in SEEDS)
        yield f"regard compare {' '.join(runs)} --out {folder}/compare-{experiment}"
