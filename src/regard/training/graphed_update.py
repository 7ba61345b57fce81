"""Updates without a wait: batches in few shapes, whose work is recorded and replayed.

The gradient is that of `weight_update`, and so is chance: a function of (seed, batch, rank). What an update
gave is known some updates later, so that the device always has work in front of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import torch
from lightning.fabric import Fabric
from lightning.fabric.strategies.ddp import DDPStrategy
from torch import Tensor

from regard.data.batch import Batch
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.tasks.task_module import TaskModule
from regard.training.collectives import add_up
from regard.training.flat_gradients import FlatGradients
from regard.training.pending_numbers import PendingNumbers
from regard.training.step_graphs import CudaGraphs, NothingRecorded, Recorder, StepGraphs, Tensors
from regard.training.weight_update import SCALE, Updated, Updater, seed_by
from regard.words import t

BEHIND = 8  # updates that may be on their way
PAYS = ("cuda",)  # devices on which auto records: where it was measured, and pays


class Unread(NamedTuple):
    """An update whose numbers are on their way."""

    batches: Sequence[Batch]
    shared: list[float]  # of a single process, which need not ask the device for them


class GraphedUpdater(Updater):
    """An `Updater` that reads what its updates gave when they are `BEHIND` updates old, or asked to `settle`.

    recorder: what records the work of a batch; by default CUDA graphs, and nothing on other devices.
    """

    records: ClassVar[bool] = True

    def __init__(
        self,
        recipe: Recipe,
        fabric: Fabric,
        module: TaskModule,
        line: Callable[[int], int],
        *,
        warn: Callable[[str], None] = lambda _: None,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__(recipe, fabric, module, line)
        device = fabric.device
        if recorder is None:
            recorder = CudaGraphs(device) if device.type == "cuda" else NothingRecorded()
        module.static = True
        self.task_module = module
        self.gradients = FlatGradients(self.parameters)
        self.sums = torch.zeros(2, dtype=torch.float64, device=device)  # loss and tokens
        self.graphs = StepGraphs(self._add_gradient, device, recorder, warn=warn)
        self.pending = PendingNumbers[Unread]()

    def update(
        self, batches: Sequence[Batch], *, number: int, rate: float, shared: Sequence[float] = ()
    ) -> Updated:
        return [*self.make(batches, number=number, rate=rate, shared=shared), *self.settle()][-1]

    def make(
        self, batches: Sequence[Batch], *, number: int, rate: float, shared: Sequence[float] = ()
    ) -> Iterator[Updated]:
        self.gradients.whole.zero_()
        self.sums.zero_()
        for i, batch in enumerate(batches):
            padded = self.task_module.in_few_shapes(batch)
            seed_by(self.recipe.seed, number + i, self.fabric.global_rank, self.fabric.device)
            with self.naming(batch):
                self.graphs.run(padded)
        sums = self._over_processes(shared)
        scale = 1 / (SCALE * sums[1])
        norm = self.gradients.scale_and_clip(scale, self.recipe.training.clip)
        alone = self.fabric.world_size == 1
        about = Unread(batches, list(shared) if alone else [])
        self.pending.send(torch.cat([norm[None], sums]), about)
        self.step(rate)
        return self._read(BEHIND)

    def settle(self) -> Iterator[Updated]:
        return self._read(0)

    def _read(self, behind: int) -> Iterator[Updated]:
        """Those that are older than `behind` updates; who reads one that went wrong, is told so."""
        for (norm, loss, tokens, *told), about in self.pending.read(behind):
            if not math.isfinite(loss):
                raise self.diverged(f"the loss became {loss}", about.batches)
            if not math.isfinite(norm):
                raise self.diverged(f"the norm of the gradient became {norm}", about.batches)
            yield Updated(loss, int(tokens), norm, told or about.shared)

    def _add_gradient(self, batch: Tensors) -> None:
        """The work of a batch, from its tokens to the sums: this is what is recorded."""
        with self.precision.forward_context():
            loss = self.task_module(**batch)
        found = torch.autograd.grad(loss.total * SCALE, self.parameters, allow_unused=True)
        self.gradients.add(found)
        self.sums += torch.stack([loss.total.detach().double(), loss.tokens.double()])

    def _over_processes(self, shared: Sequence[float]) -> Tensor:
        """Loss, tokens and what is shared, summed over the processes, as is the gradient."""
        if self.fabric.world_size == 1:
            return self.sums
        told = torch.tensor(shared, dtype=torch.float64)
        if self.fabric.device.type == "cuda":
            told = told.pin_memory().to(self.fabric.device, non_blocking=True)
        whole = self.gradients.whole
        summed = add_up(self.fabric, whole)
        if summed is not whole:
            whole.copy_(summed)
        return add_up(self.fabric, torch.cat([self.sums, told]))


def why_not_recorded(recipe: Recipe, fabric: Fabric, module: TaskModule) -> str | None:
    """What hinders the work of a batch from being recorded; None: nothing does."""
    if (reason := module.why_not_static) is not None:
        return reason
    if recipe.trainer.precision == "16-mixed":  # on a CPU too, where Lightning takes bf16-mixed
        return t("trainer.precision=16-mixed looks at every gradient before it is used")
    if fabric.world_size > 1 and not isinstance(fabric.strategy, DDPStrategy):
        return t("trainer.strategy is one that shares out the weights")
    if len({p.dtype for p in module.parameters() if p.requires_grad}) != 1:
        return t("the weights are not of one type")
    return None


def make_updater(
    recipe: Recipe,
    fabric: Fabric,
    module: TaskModule,
    line: Callable[[int], int],
    warn: Callable[[str], None],
) -> Updater:
    """As `trainer.compile` says."""
    wish = recipe.trainer.compile
    why = why_not_recorded(recipe, fabric, module) if wish != "off" else None
    if wish == "graphs" and why is not None:
        raise RecipeError(
            t("trainer.compile=graphs cannot be done: {why}", why=why),
            t("trainer.compile=auto does it where it can"),
        )
    if wish == "graphs" or (wish == "auto" and why is None and fabric.device.type in PAYS):
        return GraphedUpdater(recipe, fabric, module, line, warn=warn)
    return Updater(recipe, fabric, module, line)
