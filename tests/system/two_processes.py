"""Run as a program by test_processes.py: two processes take one update, each with half of the pairs.

    python two_processes.py FOLDER

Writes the weights before and after it: FOLDER/before, FOLDER/after-0, FOLDER/after-1.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lightning.fabric import Fabric
from pair_batches import pair_batch

from regard.data.tokenizer import Tokenizer
from regard.models.presets import recurrent
from regard.recipe.recipe import Recipe
from regard.tasks.translate.translate_loss import Translate
from regard.training.collectives import gather
from regard.training.tensor_tree import read_tree, write_tree
from regard.training.weight_update import Updater

PAIRS = [([4, 5, 6], [6, 5, 4]), ([7, 8], [8, 7, 9, 10, 11]), ([9], [9]), ([5, 5], [4])]
SHARES = [[PAIRS[:1], PAIRS[1:2]], [PAIRS[2:3], PAIRS[3:]]]  # of each process, in two batches
SGD = {"training": {"clip": 0.05, "accumulate": 2, "optimizer": {"kind": "sgd", "lr": 1.0}}}


def make_task() -> Translate:
    tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
    return Translate(recurrent(12, 12, embedding=8, hidden=8), tokenizer, tokenizer)


def make_updater(fabric: Fabric, task: Translate) -> Updater:
    return Updater(Recipe.model_validate(SGD), fabric, task, line=lambda row: row)


def work(fabric: Fabric, folder: Path) -> None:
    task = make_task()
    task.load_state_dict(read_tree(folder / "before"))
    updater = make_updater(fabric, task)
    batches = [pair_batch(pairs) for pairs in SHARES[fabric.global_rank]]
    made = updater.update(batches, number=0, rate=1.0, shared=(1.0, fabric.global_rank))
    assert made.tokens == 4 + 6 + 2 + 2, made
    assert made.shared == [2.0, 1.0], made
    said = gather(fabric, ["学"] * fabric.global_rank)
    assert said == [[], ["学"]], said
    write_tree(folder / f"after-{fabric.global_rank}", task.state_dict())


if __name__ == "__main__":
    fabric = Fabric(accelerator="cpu", devices=2, strategy="ddp_fork")
    write_tree(Path(sys.argv[1]) / "before", make_task().state_dict())
    fabric.launch(work, Path(sys.argv[1]))
