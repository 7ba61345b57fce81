"""What is run for captions in docs/results: the cells of its tables, and the lines that fill them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEEDS = (1, 2, 3)


class CaptionCell(NamedTuple):
    name: str
    words: str = ""


ATTENTIONS = {
    "soft": CaptionCell("soft"),
    "published": CaptionCell(
        "soft, additive score and gate", "model.attention.score=additive model.gate=true"
    ),
    "even": CaptionCell("soft, doubly stochastic", "model.doubly_stochastic=1"),
    "hard": CaptionCell(
        "hard, by its reward", "model.attention.normalize=hard training.reinforce.entropy=0.01"
    ),
    "unbased": CaptionCell(
        "hard, without a baseline",
        "model.attention.normalize=hard training.reinforce.entropy=0.01 training.reinforce.baseline=none",
    ),
    "gumbel": CaptionCell(
        "hard, Gumbel, straight through",
        "'model.attention.normalize=gumbel(1.0, straight_through=true)'",
    ),
    "mean": CaptionCell("the mean of all cells", "model.attention.normalize=uniform"),
    "none": CaptionCell("none: the first state alone", "model.attention=null"),
}
NAMES = {key: ATTENTIONS[key] for key in ("soft", "mean", "none")}
STYLES = ("short", "long", "long_zh")  # what is said of a scene
PICTURES = {"icons": "caption-icons", "emoji": "caption-emoji", "emoji-zh": "caption-emoji-zh"}


def commands(folder: Path) -> Iterator[tuple[str, str]]:
    """(the experiment, a shell line), the first seed of everything first."""
    for seed in SEEDS:
        for key, cell in ATTENTIONS.items():
            yield "scenes", _train(folder, f"scenes-{key}-{seed}", "caption-scenes", cell.words)
        for style in STYLES:
            for key in ("soft", "mean"):
                words = f"{_corpora(style, 'boxes')} {ATTENTIONS[key].words}"
                if style.endswith("zh"):
                    words += " tokenizer.target.kind=character data.target=zh"
                run = f"said-{style}-{key}-{seed}"
                yield "said", _train(folder, run, "caption-scenes", words)
        for pictures, recipe in PICTURES.items():
            for key, cell in NAMES.items():
                yield "names", _train(folder, f"{pictures}-{key}-{seed}", recipe, cell.words)
        words = f"task.prompt=true {_corpora('prompt,side', 'boxes')}"
        yield "questions", _train(folder, f"side-{seed}", "caption-scenes", words)
        told = f"{folder}/side-{seed}/questions.json"
        asked = f"python benchmarks/caption_questions.py {folder}/side-{seed} --json {told}"
        yield "questions", asked
        for key in ("soft", "mean"):
            yield "small", _train(folder, f"small-{key}-{seed}", "caption", ATTENTIONS[key].words)


def comparisons(folder: Path) -> Iterator[str]:
    """Shell lines that ask, of runs that are there, which differences are shown."""
    compared = {
        "scenes": [f"scenes-{key}" for key in ATTENTIONS],
        **{name: [f"{name}-{key}" for key in NAMES] for name in PICTURES},
    }
    for name, cells in compared.items():
        runs = " ".join(f"{folder}/{cell}-{seed}" for cell in cells for seed in SEEDS)
        yield f"regard compare {runs} --out {folder}/compare-{name}"


def _corpora(*columns: str) -> str:
    named = ",".join(("image", *columns))
    return " ".join(f"data.{p}=mnist-scenes:{p}#{named}" for p in ("train", "dev", "test"))


def _train(folder: Path, run: str, recipe: str, words: str = "") -> str:
    seed = run.rsplit("-", 1)[1]
    words = f"{words} training.paired=true seed={seed}"
    return " ".join(f"regard train {recipe} {words} --run {folder}/{run}".split())
