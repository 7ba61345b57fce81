"""One update of the weights, whose gradient is that of all its batches joined into one.

    g = Σ_ranks Σ_batches ∇ loss / Σ_ranks Σ_batches tokens

Losses are sums over tokens, so batches may be of any size; the division comes last, when every
process knows how many tokens all of them have scored.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import torch
from lightning.fabric import Fabric
from torch import Tensor

from regard.data.batch import Batch
from regard.recipe.recipe import Recipe
from regard.runs.failures import Diverged, OutOfMemory
from regard.tasks.task_module import Loss, TaskModule
from regard.training.collectives import add_up, gather
from regard.training.optimizers import build_optimizer, scale_and_clip
from regard.words import t

SCALE = 2.0**-12  # of a summed loss before its gradient: exact, and float16 does not overflow
LINES_SHOWN = 20


class Updated(NamedTuple):
    loss: float  # summed over the tokens of all processes
    tokens: int
    norm: float  # of the gradient, before clipping
    shared: list[float]  # what each process had to tell, summed


class Updater:
    """The module, its optimiser, and the step from one set of weights to the next."""

    records: ClassVar[bool] = False  # whether the work of a batch is recorded, and replayed

    def __init__(
        self, recipe: Recipe, fabric: Fabric, module: TaskModule, line: Callable[[int], int]
    ) -> None:
        self.recipe, self.fabric, self.line = recipe, fabric, line
        self.precision = fabric.strategy.precision
        self.scaled = self.precision.precision == "16-mixed"
        optimizer = build_optimizer(
            recipe.training.optimizer, module.parameters(), fused=not self.scaled
        )
        self.module: Any
        self.module, self.optimizer = fabric.setup(module, optimizer)
        self.parameters = [p for p in module.parameters() if p.requires_grad]

    def update(
        self, batches: Sequence[Batch], *, number: int, rate: float, shared: Sequence[float] = ()
    ) -> Updated:
        """Step by these batches, the first of them `number` in the run; not if anything is not finite."""
        self.optimizer.zero_grad()
        losses = []
        for i, batch in enumerate(batches):
            seed_by(self.recipe.seed, number + i, self.fabric.global_rank, self.fabric.device)
            losses.append(self._learn(batch, last=i + 1 == len(batches)))
        loss, tokens, *told = self._add_up(losses, shared)
        if not math.isfinite(loss):
            bad = [b for b, one in zip(batches, losses, strict=True) if not one.total.isfinite()]
            raise self.diverged(f"the loss became {loss}", bad)
        # of torch's own optimiser: its wrapper would count as another one, and be unscaled again
        self.precision.unscale_gradients(self.optimizer.optimizer)
        gradients = [numbers(p) for p in self.parameters if p.grad is not None]
        scale = self.fabric.world_size / (SCALE * tokens)  # processes average their gradients
        norm = scale_and_clip(gradients, scale, self.recipe.training.clip)
        if not math.isfinite(norm) and not self.scaled:  # whose scaler skips such steps
            raise self.diverged(f"the norm of the gradient became {norm}", batches)
        self.step(rate)
        return Updated(loss, int(tokens), norm, told)

    def make(
        self, batches: Sequence[Batch], *, number: int, rate: float, shared: Sequence[float] = ()
    ) -> Iterable[Updated]:
        """`update`, and what is known since the last one: of this update here, of earlier ones elsewhere."""
        return [self.update(batches, number=number, rate=rate, shared=shared)]

    def settle(self) -> Iterable[Updated]:
        """What is not known yet of the updates that were made."""
        return []

    def step(self, rate: float) -> None:
        """The optimiser's, by the gradients as they are."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()

    def _learn(self, batch: Batch, *, last: bool) -> Loss:
        """Add the gradient of a batch; the processes meet at the last one of the update."""
        with self.naming(batch):
            here = batch.to(self.fabric.device, non_blocking=True)
            with self.fabric.no_backward_sync(self.module, enabled=not last):
                loss: Loss = self.module(**here)
                self.fabric.backward(loss.total * SCALE)
        return Loss(loss.total.detach(), loss.tokens)

    @contextmanager
    def naming(self, batch: Batch) -> Iterator[None]:
        """If there is no memory for it, the error names the batch."""
        try:
            yield
        except RuntimeError as error:
            if isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error):
                raise OutOfMemory(
                    t("out of memory at {describe}", describe=self._describe(batch))
                ) from error
            raise

    def _add_up(self, losses: Sequence[Loss], shared: Sequence[float]) -> list[float]:
        """Loss, tokens and what is shared, over the batches of the update and over the processes."""
        told = torch.tensor(shared, dtype=torch.float64, device=self.fabric.device)
        total = torch.stack([one.total.double() for one in losses]).sum()
        tokens = torch.stack([one.tokens.double() for one in losses]).sum()
        sums: Tensor = torch.cat([torch.stack([total, tokens]), told])
        if self.fabric.world_size > 1:
            sums = add_up(self.fabric, sums)
        return sums.tolist()

    def diverged(self, what: str, batches: Sequence[Batch]) -> Diverged:
        """All ranks reach this and report their batches."""
        found = gather(self.fabric, [self._describe(batch) for batch in batches])
        return Diverged(
            t(
                "{what} at {found}",
                what=what,
                found="; ".join(text for texts in found for text in texts),
            )
        )

    def _describe(self, batch: Batch) -> str:
        lines = [self.line(row) for row in batch.rows.tolist()]
        more = ", …" if len(lines) > LINES_SHOWN else ""
        return t(
            "a batch of {count} examples, {describe}, lines {map}{more}",
            count=len(lines),
            describe=batch.describe(),
            map=", ".join(map(str, lines[:LINES_SHOWN])),
            more=more,
        )


def numbers(parameter: Tensor) -> Tensor:
    """The numbers of a gradient, to be changed in place; of a sparse one those that are there."""
    assert parameter.grad is not None
    if not parameter.grad.is_sparse:
        return parameter.grad
    parameter.grad = parameter.grad.coalesce()  # what several batches have added
    return parameter.grad._values()


def seed_by(seed: int, number: int, rank: int, device: torch.device) -> None:
    """Chance from here on is a function of the first three: resuming needs no generator's state."""
    digest = hashlib.blake2b(f"{seed} {number} {rank}".encode(), digest_size=8).digest()
    drawn = int.from_bytes(digest, "little") >> 1
    if device.type == "cpu":
        torch.default_generator.manual_seed(drawn)  # torch.manual_seed takes ten times as long
    else:
        torch.manual_seed(drawn)
