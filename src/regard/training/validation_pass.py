"""A corpus judged by all processes together: the same numbers however it is shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from lightning.fabric import Fabric

from regard.tasks.task import Tally, Task, Validation
from regard.tasks.task_module import TaskModule
from regard.training.collectives import add_up, gather

CHUNK = 16  # batches


def validate(
    fabric: Fabric,
    task: Task,
    module: TaskModule,
    examples: Sequence[Any],
    stop: Callable[[], bool] = lambda: False,
) -> Validation | None:
    """Every process works on its share; None if it was asked to `stop` on the way."""
    size = CHUNK * task.batch_for(module)
    mine = examples[fabric.global_rank :: fabric.world_size]
    found: list[Tally] = []
    # whole chunks, so that each is sorted by length, and a signal waits for one at most
    for start in range(0, max(len(mine), 1), size):
        if stop():
            return None
        found.append(task.tally(module, mine[start : start + size]))
    return task.validation(_together(fabric, found), examples)


def _together(fabric: Fabric, found: Sequence[Tally]) -> Tally:
    """The sums of the counts, and the answers of all processes in the order of the examples."""
    counts = tuple(map(sum, zip(*(one.counts for one in found), strict=True)))
    answers = [answer for one in found for answer in one.answers]
    if fabric.world_size == 1:
        return Tally(counts, answers)
    sums = add_up(fabric, torch.tensor(counts, dtype=torch.float64, device=fabric.device))
    order = {
        rank + i * fabric.world_size: answer
        for rank, share in enumerate(gather(fabric, answers))
        for i, answer in enumerate(share)
    }
    return Tally(tuple(sums.tolist()), [order[i] for i in sorted(order)])
