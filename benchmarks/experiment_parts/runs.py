"""What is run for docs/results: the cells of its tables, and the shell lines that fill them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class Cell(NamedTuple):
    """A row of the tables of Luong et al. 2015: English to German, newstest2014."""

    name: str
    words: str
    perplexity: str  # the paper's
    bleu: str


LUONG = {
    "base": Cell(
        "no attention", "model.attention=none model.reverse=false model.dropout=0", "10.6", "11.3"
    ),
    "reverse": Cell("+ reverse", "model.attention=none model.dropout=0", "9.9", "12.6"),
    "dropout": Cell("+ dropout", "model.attention=none", "8.1", "14.0"),
    "location-unfed": Cell(
        "+ global (location)", "model.score=location model.feed=false", "7.3", "16.8"
    ),
    "location": Cell("+ feed = global (location)", "model.score=location", "6.4", "18.1"),
    "dot": Cell("global (dot)", "model.score=dot", "6.1", "18.6"),
    "general": Cell("global (general)", "model.score=general", "6.1", "17.3"),
    "concat": Cell("global (concat)", "model.score=concat", "6.7", "–"),
    "local-m-dot": Cell("local-m (dot)", "model.attention=local-m model.score=dot", "> 7.0", "–"),
    "local-m-general": Cell(
        "local-m (general)", "model.attention=local-m model.score=general", "6.2", "18.6"
    ),
    "local-p-dot": Cell("local-p (dot)", "model.attention=local-p model.score=dot", "6.6", "18.0"),
    "local-p-general": Cell(
        "local-p (general)", "model.attention=local-p model.score=general", "5.9", "19.0"
    ),
}
ATTENDING = [name for name in LUONG if name not in ("base", "reverse", "dropout", "location-unfed")]
ENSEMBLES = {  # of the runs of a seed
    "two global: general, dot": ["general", "dot"],
    "two local: local-m and local-p (general)": ["local-m-general", "local-p-general"],
    "one of each: global and local-p (general)": ["general", "local-p-general"],
    "all eight with feed": ATTENDING,
}
SYSTEMS = {"fixed": "fixed vector", "attention": "attention"}
BOTH_TESTS = "+".join(
    f"multi30k/test_{year}_flickr.en,multi30k/test_{year}_flickr.de" for year in (2016, 2017)
)
COPIED = [f"multi30k/{part}.en" for part in ("train", "val", "test_2016_flickr")]
FORWARDS = "model.reverse=false"
ALIGNERS = {
    "rnnsearch": ("RNNsearch (additive), both directions", ""),
    "general": ("Luong global (general), source reversed", "model.score=general"),
    "location": ("Luong global (location), source reversed", "model.score=location"),
    "forward-general": (
        "Luong global (general), source forwards",
        f"model.score=general {FORWARDS}",
    ),
    "forward-dot": ("Luong global (dot), source forwards", f"model.score=dot {FORWARDS}"),
    "forward-location": (
        "Luong global (location), source forwards",
        f"model.score=location {FORWARDS}",
    ),
}
ALIGNED = "training.epochs=3"
AS_LARGE = "model.kind=luong model.embedding=256 model.hidden=512 model.layers=1 model.dropout=0.2"
GOLD = "$REGARD_DATA/word-alignment-gold/enfr"


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line)"""
    for seed in SEEDS:
        for name, cell in LUONG.items():
            yield "luong", _train(folder, f"luong-{name}-{seed}", "multi30k-luong", cell.words)
    for seed, (name, members) in product(SEEDS, ENSEMBLES.items()):
        models = " ".join(f"-m {folder}/luong-{member}-{seed}" for member in members)
        yield "ensembles", f"regard evaluate {models} --json > {folder}/{ensemble_file(name, seed)}"
    trained = [(f"length-{system}-{seed}", system, "") for seed in SEEDS for system in SYSTEMS]
    trained += [(f"length-fixed-longer-{seed}", "fixed", "training.epochs=20") for seed in SEEDS]
    for run, system, words in trained:
        train = _train(folder, run, f"multi30k-length-{system}", words)
        yield (
            "length",
            f"{train} && regard evaluate -m {folder}/{run} --data '{BOTH_TESTS}' --join 6 "
            f"--json > {folder}/{run}/joined.json",
        )
    same = zip(("train", "dev", "test"), COPIED, strict=True)
    words = " ".join(f"data.{part}={file},{file}" for part, file in same)
    for system, seed in product(SYSTEMS, SEEDS):
        run = f"copy-{system}-{seed}"
        train = _train(
            folder, run, f"multi30k-length-{system}", f"{words} data.join=2 training.epochs=15"
        )
        yield "copy", f"{train} && python benchmarks/experiments.py {folder} --recall {run}"
    for (name, (_, score)), seed in product(ALIGNERS.items(), SEEDS):
        run = f"align-{name}-{seed}"
        words = f"{AS_LARGE} {score} {ALIGNED}" if score else ALIGNED
        train = _train(folder, run, "en-fr-align", words)
        yield (
            "align",
            f"{train} && zcat {GOLD}.src-tgt.gz | sed 's/ *||| */\\t/' | regard align -m "
            f"{folder}/{run} --gold {GOLD}.gold.gz --base 1 --json > {folder}/{run}/aer.json"
            f" && python benchmarks/experiments.py {folder} --moved {run}",
        )


def _train(folder: Path, run: str, recipe: str, words: str = "") -> str:
    seed = run.rsplit("-", 1)[1]
    return " ".join(f"regard train {recipe} {words} seed={seed} --run {folder}/{run}".split())


def ensemble_file(name: str, seed: int) -> str:
    return f"ensemble-{re.sub(r'[^a-z0-9]+', '-', name).strip('-')}-{seed}.json"
