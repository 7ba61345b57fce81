"""How many processes a run has, and who starts them: Lightning, torchrun, SLURM, or a person."""

from __future__ import annotations

import os
from collections.abc import Mapping

from lightning.fabric.plugins.environments.lsf import LSFEnvironment
from lightning.fabric.plugins.environments.mpi import MPIEnvironment
from lightning.fabric.plugins.environments.slurm import SLURMEnvironment
from lightning.fabric.plugins.environments.torchelastic import TorchElasticEnvironment

from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Trainer
from regard.words import t

LAUNCHERS = (TorchElasticEnvironment, SLURMEnvironment, LSFEnvironment, MPIEnvironment)
BY_HAND = ("MASTER_ADDR", "NODE_RANK", "GROUP_RANK", "LOCAL_RANK")  # Lightning reads them too
ALL = ("auto", -1, "-1")

Devices = int | str | list[int]


def places(trainer: Trainer) -> tuple[Devices, int]:
    """Devices of a machine, and machines: the recipe's, and torchrun's where it names none.

    Otherwise each process that torchrun has started would be alone, and train what the others train.
    """
    if TorchElasticEnvironment.detect():
        return _by_torchrun(trainer, os.environ)
    if trainer.num_nodes > 1 and not _knows_its_place(os.environ):
        raise RecipeError(
            t(
                "trainer.num_nodes={nodes}, but nothing says which of the {nodes} machines this is: the run "
                "would wait for the others for ever",
                nodes=trainer.num_nodes,
            ),
            t(
                "start it on each of them by torchrun --nnodes={nodes} --node-rank=… --master-addr=… "
                "--master-port=…, by srun, or with MASTER_ADDR, MASTER_PORT and NODE_RANK set",
                nodes=trainer.num_nodes,
            ),
        )
    return trainer.devices, trainer.num_nodes


def _knows_its_place(environment: Mapping[str, str]) -> bool:
    return any(name in environment for name in BY_HAND) or any(
        launcher.detect() for launcher in LAUNCHERS
    )


def _by_torchrun(trainer: Trainer, environment: Mapping[str, str]) -> tuple[Devices, int]:
    here, world = (int(environment.get(name, 1)) for name in ("LOCAL_WORLD_SIZE", "WORLD_SIZE"))
    nodes = max(1, world // here)
    devices: Devices = here if trainer.devices in ALL else trainer.devices
    named = trainer.num_nodes if "num_nodes" in trainer.model_fields_set else nodes
    if (_count(devices), named) != (here, nodes):
        raise RecipeError(
            t(
                "torchrun has started {world} processes, {here} on each machine, but the recipe has "
                "trainer.devices={devices} and trainer.num_nodes={named}",
                world=world,
                here=here,
                devices=trainer.devices,
                named=named,
            ),
            t(
                "write trainer.devices={here} trainer.num_nodes={nodes}, or neither",
                here=here,
                nodes=nodes,
            ),
        )
    return devices, nodes


def _count(devices: Devices) -> int:
    if isinstance(devices, str) and "," in devices:
        return len([number for number in devices.split(",") if number.strip()])
    return len(devices) if isinstance(devices, list) else int(devices)
