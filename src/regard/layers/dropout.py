"""Dropout that draws 16 random bits for each number instead of a double."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

STEPS = 1 << 16  # the probability is rounded to a multiple of one in this many


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """x_i · b_i / (1 - p), b_i = 1 with probability 1 - p: `torch.nn.functional.dropout`.

    On a CPU torch draws the b_i one after the other, on one core, which took a twentieth of a training step.
    """
    if not training or not p:
        return x
    dropped = round(p * STEPS)
    plain = x.device.type != "cpu" or torch.compiler.is_compiling()
    if plain or not 0 < dropped < STEPS:
        return F.dropout(x, p)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    bits = words.view(torch.int16)[: x.numel()].view(x.shape)
    kept = (bits >= dropped - STEPS // 2).to(x.dtype)
    return x * kept.mul_(STEPS / (STEPS - dropped))
