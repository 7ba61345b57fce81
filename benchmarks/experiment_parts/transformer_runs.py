"""What is run for the Transformer in docs/results: the cells of its tables, the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Cell(NamedTuple):
    """A row of table 3 of Vaswani et al. 2017: English to German, newstest2013."""

    name: str
    words: str
    perplexity: str = "–"  # the paper's
    bleu: str = "–"


RECIPES = ("multi30k-en-de", "multi30k-en-fr", "zh-en-transformer", "zh-en-large", "zh-en")
PARTS = {
    "heads-1": Cell("1 head of 256", "model.heads=1", "5.29", "24.9"),
    "heads-2": Cell("2 heads of 128", "model.heads=2"),
    "base": Cell("**4 heads of 64, sinusoids, smoothing 0.1**", "", "5.00", "25.5"),
    "heads-8": Cell("8 heads of 32", "model.heads=8", "4.92", "25.8"),
    "heads-16": Cell("16 heads of 16", "model.heads=16", "4.91", "25.8"),
    "learned": Cell("learned positions", "model.positions=learned", "4.92", "25.7"),
    "rotary": Cell("rotary positions", "model.positions=rotary"),
    "none": Cell("no positions", "model.positions=none"),
    "unsmoothed": Cell("no label smoothing", "training.label_smoothing=0", "4.67", "25.3"),
}
DEEP = (
    "model.encoder_layers=6 model.decoder_layers=6 training.steps=1200 training.validate_every=1200"
)
NORMS = {  # the place of the norm, updates of warm-up
    "pre-warm": ("pre", 400),
    "pre-cold": ("pre", 0),
    "post-warm": ("post", 400),
    "post-cold": ("post", 0),
}
SHORT = "data.max_length=13 training.steps=1500 training.validate_every=1500"
POSITIONS = ("sinusoidal", "rotary", "learned", "none")
CLASSIFIERS = {
    "transformer": ("Transformer", "training.epochs=10"),
    "bare": (
        "bare self-attention",
        "model.kind=bare-classifier model.size=64 data.max_length=256 training.epochs=2 "
        "training.optimizer.lr=3e-3",
    ),
}
BAGS = ("sinusoidal", "none")
QUARTER = "imdb/quarter.tsv"  # of the reviews to learn from
SMALL = (
    f"data.train={QUARTER}#3@train data.dev={QUARTER}#3@dev data.test={QUARTER}#3@test model.size=256 "
    "model.inner=1024 model.layers=6 training.batch_sentences=32 training.steps=1000 "
    "training.validate_every=1000 training.optimizer.lr=1e-3"
)
REGIONS = {
    "dense": ("dense", "everywhere"),
    "window": ("window(16)", "window(16)"),
    "stack": ("window(16) and atrous(16) in turns", "[window(16),atrous(16)]"),
    "sparse": ("sparse(16)", "sparse(16)"),
    "atrous": ("atrous(16)", "atrous(16)"),
}


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    quarter = f"xzcat $REGARD_DATA/imdb/train.tsv.xz | awk 'NR % 4 == 1' > $REGARD_DATA/{QUARTER}"
    yield "regions", quarter
    for seed in SEEDS:
        for recipe in RECIPES:
            yield "recipes", _train(folder, f"{recipe}-{seed}", recipe)
        for name, cell in PARTS.items():
            yield "parts", _train(folder, f"part-{name}-{seed}", "multi30k-ablation", cell.words)
        for name, (norm, warmup) in NORMS.items():
            words = f"{DEEP} model.norm={norm} training.schedule.warmup={warmup}"
            yield "norms", _train(folder, f"norm-{name}-{seed}", "multi30k-ablation", words)
        for kind in POSITIONS:
            words = f"{SHORT} model.positions={kind}"
            yield "short", _train(folder, f"short-{kind}-{seed}", "multi30k-ablation", words)
        for name, (_, words) in CLASSIFIERS.items():
            yield "classifiers", _train(folder, f"classifier-{name}-{seed}", "imdb", words)
        for kind in BAGS:
            yield "bags", _train(folder, f"bag-{kind}-{seed}", "mr", f"model.positions={kind}")
        for name, (_, region) in REGIONS.items():
            words = f"{SMALL} 'model.attention.region={region}'"
            yield "regions", _train(folder, f"region-{name}-{seed}", "imdb-char-language", words)


def comparisons(folder: Path) -> Iterator[str]:
    """Shell lines that ask, of runs that are there, which differences are shown."""
    heads = [f"part-heads-{n}" for n in (1, 2, 8, 16)]
    compared = {
        "zh-en": RECIPES[2:],
        "heads": ["part-base", *heads],
        "positions": ["part-base", "part-learned", "part-rotary", "part-none"],
        "smoothing": ["part-base", "part-unsmoothed"],
        "norms": [f"norm-{name}" for name in NORMS],
        "short": [f"short-{kind}" for kind in POSITIONS],
        "imdb": [f"classifier-{name}" for name in CLASSIFIERS],
        "bags": [f"bag-{kind}" for kind in BAGS],
        "regions": [f"region-{name}" for name in REGIONS],
    }
    for name, cells in compared.items():
        runs = " ".join(f"{folder}/{cell}-{seed}" for cell in cells for seed in SEEDS)
        yield f"regard compare {runs} --out {folder}/compare-{name}"


def _train(folder: Path, run: str, recipe: str, words: str = "") -> str:
    seed = run.rsplit("-", 1)[1]
    words = f"{words} training.paired=true seed={seed}"
    return " ".join(f"regard train {recipe} {words} --run {folder}/{run}".split())
