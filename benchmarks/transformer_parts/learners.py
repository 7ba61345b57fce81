"""The loop of `transformer.py`: the same batches, loss and optimiser for every contender."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median

import torch
from torch import nn

from regard.data.batch import Batch
from regard.runs.run_folder import RunFolder
from regard.tasks.loss import smoothed_cross_entropy
from regard.training.run_preparation import load_task
from toolkit_parts.peers import Turn, timed
from toolkit_parts.regard_translator import endless, loader

BATCH_TOKENS = 4096  # of both sides, padding included
SMOOTHING, CLIP, RATE = 0.1, 1.0, 3e-4


class Learner:
    """One contender. Its model has forward(source, mask, inputs) -> outputs, and project(outputs)."""

    def __init__(self, model: nn.Module, folder: Path, *, compiled: bool = False) -> None:
        self.model, self.parameters = model, [*model.parameters()]
        self.read = torch.compile(model, dynamic=True) if compiled else model
        self.optimizer = torch.optim.AdamW(self.parameters, lr=RATE, fused=True)
        self.batches = batches_of(folder)

    def learn(self, batches: int) -> int:
        """So many updates; the target tokens in them, EOS counted, padding not."""
        return sum(self._update(batch) for batch in islice(self.batches, batches))

    def _update(self, batch: Batch) -> int:
        inputs, wanted = batch["target"][:, :-1], batch["target"][:, 1:]
        scored = batch["target_mask"][:, 1:]
        outputs = self.read(batch["source"], batch["source_mask"], inputs)
        logits = self.model.project(outputs[scored])  # type: ignore[operator]
        loss = smoothed_cross_entropy(logits, wanted[scored], SMOOTHING)
        self.optimizer.zero_grad()
        (loss / len(logits)).backward()
        nn.utils.clip_grad_norm_(self.parameters, CLIP)
        self.optimizer.step()
        return len(logits)


def batches_of(folder: Path) -> Iterator[Batch]:
    """The batches of a run, epoch after epoch: the same for all who ask."""
    run = RunFolder(folder)
    task = load_task(run.read_recipe(), run)
    return endless(loader(task, folder, tokens=BATCH_TOKENS, seed=1))


def turns_of(learners: dict[str, Learner], batches: int) -> dict[str, Callable[[], Turn]]:
    return {
        name: lambda learner=learner: timed(lambda: learner.learn(batches))  # type: ignore[misc]
        for name, learner in learners.items()
    }


def training_table(turns: dict[str, list[Turn]]) -> Iterator[str]:
    """The ratio of a round is of the same batches, one after the other; best: of each one's fastest."""
    yield "| | best | median | ratio of the best | median ratio | by CPU time |"
    yield "| --- | --- | --- | --- | --- | --- |"
    (first, *_) = turns
    for name, its in turns.items():
        speeds = [turn.done / turn.seconds for turn in its]
        pairs = list(zip(turns[first], its, strict=True))
        best = max(a.done / a.seconds for a, _ in pairs) / max(speeds)
        wall = median(b.seconds / a.seconds for a, b in pairs)
        cpu = median(b.cpu / a.cpu for a, b in pairs)
        yield (
            f"| {name} | {max(speeds):,.0f} | {median(speeds):,.0f} | {best:.2f} | {wall:.2f} "
            f"| {cpu:.2f} |"
        )
