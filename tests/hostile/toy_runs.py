"""Runs of the toy, made by the command: what they are trained by, and what they answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from forked_commands import Done, Forked
from toy import toy_recipe, write_corpus

from regard.recipe.recipe_files import dump_recipe

PAIRS = 48  # six updates an epoch
TRAINING = {"epochs": 2, "checkpoint_every": 4, "keep": 2, "average": True}
TRAINER = {"accelerator": "cpu", "devices": 1, "threads": 1}


def write_recipe(folder: Path, **training: Any) -> Path:
    """A corpus and toy.yaml in the folder."""
    write_corpus(folder, count=PAIRS)
    recipe = toy_recipe(folder, training=TRAINING | training, trainer=TRAINER)
    path = folder / "toy.yaml"
    path.write_text(dump_recipe(recipe))
    return path


def train(forked: Forked, recipe: Path, run: Path, *words: str) -> Done:
    return forked.run("train", str(recipe), "--run", str(run), "-q", *words)


def trained(forked: Forked, recipe: Path, run: Path, *words: str) -> Path:
    done = train(forked, recipe, run, *words)
    assert done.status == 0, done.err
    return run


def translated(forked: Forked, run: Path) -> Done:
    """Every digit of every score of the test set."""
    lines = (run.parent / "test.tsv").read_text().splitlines()
    texts = "".join(line.partition("\t")[0] + "\n" for line in lines)
    return forked.run("translate", "-m", str(run), "--json", stdin=texts.encode())


def evaluated(forked: Forked, run: Path) -> Done:
    return forked.run("evaluate", "-m", str(run))


def timeless(out: bytes) -> str:
    """Without how long it took."""
    return re.sub(r"translated in \d+ s", "", out.decode("utf-8", "replace"))
