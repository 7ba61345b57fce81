"""How far back does a cell remember? A name must be told again so many words after it stood in a text.

    python benchmarks/cloze_distance.py              # all distances learnt together: minutes
    python benchmarks/cloze_distance.py --alone      # a model for each distance, which no shorter one helps
    python benchmarks/cloze_distance.py --device cuda --alone --steps 2000 --seeds 3

A row is a model, a column a distance: the percentage of the test texts whose name was told, chance is 5 %;
with several seeds the mean, and the least and the greatest below it. The words between are those of the
embedded corpus (task.kind=cloze), and all models have the same number of updates on the same texts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
import torch
from torch import nn

from regard.data.batch import Batch, collate
from regard.data.examples import Example
from regard.data.length_batches import LengthBatches
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.tasks.cloze.cloze_task import ClozeEvaluation, ClozeTask

SIZE = 128
RECURRENT: dict[str, Any] = {"kind": "recurrent-language", "embedding": 64, "hidden": SIZE}
MODELS: dict[str, dict[str, Any]] = {
    "Elman": {**RECURRENT, "cell": "elman"},
    "GRU": {**RECURRENT, "cell": "gru"},
    "LSTM": {**RECURRENT, "cell": "lstm"},
    "Elman that attends": {**RECURRENT, "cell": "elman", "attention": {"score": "additive"}},
    "LSTM that attends": {**RECURRENT, "cell": "lstm", "attention": {"score": "additive"}},
    "Transformer": {
        "kind": "transformer-language",
        "size": SIZE,
        "heads": 4,
        "inner": 2 * SIZE,
        "layers": 2,
        "positions": "rotary",
    },
}


def task_for(model: dict[str, Any], distances: Sequence[int]) -> ClozeTask:
    given = read_recipe("cloze-distance").model_dump(mode="json")
    given["task"]["distances"], given["model"] = list(distances), model
    task = ClozeTask(Recipe.model_validate(given))
    task.learn(task.recipe.data.train)
    return task


def batches(task: ClozeTask, examples: Sequence[Example], size: int, seed: int) -> Iterator[Batch]:
    """Texts of like lengths together, in a random order, again and again."""
    fields = list(task.fields.values())
    columns = {field.name: field.encode(examples) for field in fields}
    lengths = np.array([len(example["text"]) for example in examples])
    cut = LengthBatches([lengths], sentences=size, seed=seed)
    for epoch in count():
        for rows in cut.epoch(epoch):
            parts = [{name: column[i] for name, column in columns.items()} for i in rows]
            yield collate(fields, parts)


def learn(
    task: ClozeTask, given: argparse.Namespace, seed: int
) -> tuple[ClozeEvaluation, nn.Module, float]:
    torch.manual_seed(seed)
    module = task.for_training(task.recipe.model.build(task.sizes)).to(given.device)
    optimizer = torch.optim.Adam(module.parameters(), lr=given.lr)
    examples = list(task.read(task.recipe.data.train))
    start = time.monotonic()
    for step, batch in enumerate(batches(task, examples, given.batch, seed)):
        if step == given.steps:
            break
        loss = module(**batch.to(given.device))
        optimizer.zero_grad()
        (loss.total / loss.tokens).backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
    seconds = time.monotonic() - start
    assert task.recipe.data.test is not None
    test = list(task.read(task.recipe.data.test))
    found = task.evaluate(module, "test", test)
    assert isinstance(found, ClozeEvaluation)
    return found, module, seconds


def row(name: str, given: argparse.Namespace) -> None:
    found: dict[int, list[float]] = {at: [] for at in given.distances}
    seconds, parameters = 0.0, 0
    for distances in [[at] for at in given.distances] if given.alone else [given.distances]:
        task = task_for(MODELS[name], distances)
        for seed in range(1, given.seeds + 1):
            evaluation, module, took = learn(task, given, seed)
            seconds += took
            parameters = sum(weight.numel() for weight in module.parameters())
            for at, accuracy in evaluation.by_distance.items():
                found[at].append(100 * accuracy)
    means = "".join(f"{statistics.mean(values):>9.1f}" for values in found.values())
    print(f"{name:<20}{parameters:>10,}{means}{seconds:>9.0f} s", flush=True)
    if given.seeds > 1:
        spread = "".join(f"{f'{min(v):.0f}–{max(v):.0f}':>9}" for v in found.values())
        print(f"{'':<30}{spread}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--distances", nargs="+", type=int, default=[5, 10, 20, 40, 80, 160])
    parser.add_argument("--alone", action="store_true", help="a model for each distance")
    parser.add_argument("--steps", type=int, default=400, help="updates of each model")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    print(
        f"accuracy, %, after {given.steps} updates, "
        + ("a model for each distance" if given.alone else "all distances learnt together")
    )
    heads = "".join(f"{at:>9}" for at in given.distances)
    print(f"{'words back':<20}{'weights':>10}{heads}{'training':>11}")
    for name in given.models:
        row(name, given)


if __name__ == "__main__":
    main()
