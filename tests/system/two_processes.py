"""Run as a program by test_processes.py: several processes take one update, each with a share of the pairs.

    python two_processes.py FOLDER [PROCESSES [COMPILE]]

Writes the weights before and after it: FOLDER/before, FOLDER/after-0, FOLDER/after-1 …
"""

from __future__ import annotations

import sys
from pathlib import Path

from lightning.fabric import Fabric
from pair_batches import pair_batch

from regard.data.tokenizer import Tokenizer
from regard.models.presets import recurrent
from regard.recipe.recipe import Recipe
from regard.runs.tensor_tree import read_tree, write_tree
from regard.tasks.translate.translate_loss import Translate
from regard.training import graphed_update
from regard.training.collectives import gather
from regard.training.weight_update import Updater

PAIRS = [([4, 5, 6], [6, 5, 4]), ([7, 8], [8, 7, 9, 10, 11]), ([9], [9]), ([5, 5], [4])]
SHARES = {  # of each process, in two batches or one
    2: [[PAIRS[:1], PAIRS[1:2]], [PAIRS[2:3], PAIRS[3:]]],
    4: [[PAIRS[:1]], [PAIRS[1:2]], [PAIRS[2:3]], [PAIRS[3:]]],
}
SGD = {"training": {"clip": 0.05, "accumulate": 2, "optimizer": {"kind": "sgd", "lr": 1.0}}}


def make_task() -> Translate:
    tokenizer = Tokenizer.train(["a b c d e f g h"], kind="word")
    return Translate(recurrent(12, 12, embedding=8, hidden=8), tokenizer, tokenizer)


def make_updater(fabric: Fabric, task: Translate, compile: str = "off") -> Updater:
    recipe = Recipe.model_validate(SGD | {"trainer": {"compile": compile}})
    return graphed_update.make_updater(recipe, fabric, task, lambda row: row, warn=print)


def work(fabric: Fabric, folder: Path, compile: str) -> None:
    task, world = make_task(), fabric.world_size
    task.load_state_dict(read_tree(folder / "before"))
    updater = make_updater(fabric, task, compile)
    assert updater.records == (compile == "graphs")
    batches = [pair_batch(pairs) for pairs in SHARES[world][fabric.global_rank]]
    made = updater.update(batches, number=0, rate=1.0, shared=(1.0, fabric.global_rank))
    assert made.tokens == 4 + 6 + 2 + 2, made
    assert made.shared == [world, world * (world - 1) / 2], made
    said = gather(fabric, ["学"] * fabric.global_rank)
    assert said == [["学"] * rank for rank in range(world)], said
    write_tree(folder / f"after-{fabric.global_rank}", task.state_dict())


if __name__ == "__main__":
    folder, processes = Path(sys.argv[1]), int((*sys.argv, "2")[2])
    fabric = Fabric(accelerator="cpu", devices=processes, strategy="ddp_fork")
    write_tree(folder / "before", make_task().state_dict())
    fabric.launch(work, folder, (*sys.argv[3:], "off")[0])
