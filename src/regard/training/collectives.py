"""Numbers and texts from one process to all others."""

from __future__ import annotations

import json
from typing import cast

import torch
from lightning.fabric import Fabric
from torch import Tensor


def add_up(fabric: Fabric, numbers: Tensor) -> Tensor:
    """The sum over the processes of each of these numbers."""
    return cast(Tensor, fabric.all_reduce(numbers, reduce_op="sum"))


def gather(fabric: Fabric, texts: list[str]) -> list[list[str]]:
    """The texts of each process, sent as bytes of JSON in tensors of one size."""
    if fabric.world_size == 1:
        return [texts]
    data = torch.frombuffer(bytearray(json.dumps(texts).encode()), dtype=torch.uint8)
    size = torch.tensor([len(data)], device=fabric.device)
    sizes = cast(Tensor, fabric.all_gather(size)).flatten().tolist()
    room = torch.zeros(max(sizes), dtype=torch.uint8, device=fabric.device)
    room[: len(data)] = data
    rows = cast(Tensor, fabric.all_gather(room)).view(len(sizes), -1)
    return [json.loads(bytes(row[:size].tolist())) for row, size in zip(rows, sizes, strict=True)]
