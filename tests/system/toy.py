"""A corpus and a recipe small enough to train in a second: words to be said backwards."""

from __future__ import annotations

import random
from pathlib import Path

from regard.recipe.recipe import Recipe

WORDS = ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"]


def write_corpus(folder: Path, *, backwards: bool = True, count: int = 120) -> None:
    """train.tsv, dev.tsv and test.tsv"""
    draw = random.Random(0)
    for name, pairs in (("train", count), ("dev", 12), ("test", 8)):
        lines = []
        for _ in range(pairs):
            words = [draw.choice(WORDS) for _ in range(draw.randint(1, 6))]
            said = words[::-1] if backwards else words
            lines.append(f"{' '.join(words)}\t{' '.join(said)}\n")
        (folder / f"{name}.tsv").write_text("".join(lines))


def toy_recipe(folder: Path, **sections: dict) -> Recipe:
    """Sections are laid over those of the toy: training={"epochs": 1}."""
    data = {name: str(folder / f"{name}.tsv") for name in ("train", "dev", "test")}
    base = {
        "name": "toy",
        "data": {**data, "source": "en", "target": "en"},
        "tokenizer": {"source": {"kind": "word"}, "target": {"kind": "word"}},
        "model": {"kind": "recurrent", "embedding": 12, "hidden": 16, "dropout": 0.2},
        "training": {"epochs": 3, "batch_sentences": 8, "optimizer": {"lr": 0.01}},
        "trainer": {"accelerator": "cpu", "devices": 1},
        "search": {"beam": 2, "max_length": 10},
    }
    for name, section in sections.items():
        base[name] = {**base[name], **section} if isinstance(section, dict) else section
    return Recipe.model_validate(base)
