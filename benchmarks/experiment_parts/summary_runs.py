"""What is run for summaries: the cells of their tables, and the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Cell(NamedTuple):
    """A row of the tables of Rush et al. 2015: perplexity on Gigaword, ROUGE-1, -2 and -L on DUC-2004."""

    name: str
    recipe: str  # its beginning: -debian is added for Debian's descriptions
    words: str = ""
    perplexity: str = "–"  # the paper's
    rouge: str = "–"


CELLS = {
    "nnlm": Cell("window of words alone (NNLM)", "abs", "model.encoder=none", "145.9"),
    "bow": Cell("bag of words", "abs", "model.encoder=bow", "43.6"),
    "tdnn": Cell("convolutions (TDNN)", "abs", "model.encoder=tdnn", "35.9"),
    "abs": Cell("**attention (ABS)**", "abs", "", "27.1", "26.55 / 7.06 / 22.05"),
    "abs-plus": Cell("ABS+", "abs", "model.extractive=true", "27.1", "28.18 / 8.49 / 23.81"),
    "attentive": Cell("attentional encoder-decoder", "abs", "model.kind=recurrent"),
    "pointer-alone": Cell("pointer-generator", "pointer", "model.coverage=null"),
    "pointer": Cell("pointer-generator with coverage", "pointer"),
}
CORPORA = {"captions": "", "debian": "-debian"}  # the ending of a recipe
ORDER = ("nnlm", "bow", "tdnn", "abs")  # from the highest perplexity to the lowest


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    made = "python -m regard.data.corpora.build_debian_summaries"
    yield (
        "debian",
        f"{made} $REGARD_DATA/debian-synopsis/bookworm.jsonl.xz $REGARD_DATA/debian-summaries",
    )
    for seed in SEEDS:
        for corpus, ending in CORPORA.items():
            for name, cell in CELLS.items():
                words = f"{cell.words} training.paired=true seed={seed}"
                run = folder / f"{corpus}-{name}-{seed}"
                line = f"regard train {cell.recipe}{ending} {words} --run {run}"
                yield corpus, " ".join(line.split())


def comparisons(folder: Path) -> Iterator[str]:
    """Shell lines that ask, of runs that are there, which differences are shown."""
    compared = {
        "encoders": [*reversed(ORDER)],
        "extractive": ["abs", "abs-plus"],
        "copies": ["pointer-alone", "attentive", "pointer"],
    }
    for corpus in CORPORA:
        for name, cells in compared.items():
            runs = (f"{folder}/{corpus}-{cell}-{seed}" for cell in cells for seed in SEEDS)
            yield f"regard compare {' '.join(runs)} --out {folder}/compare-{corpus}-{name}"
