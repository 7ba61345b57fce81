"""What stands around a product of 8-bit integers, on the CPU, compiled by numba: one pass before, one after.

    x̂ = round(x / s), s = max |x| / 127          s y + b

Plain torch takes ten passes for this, each shared among its threads anew, which costs more than the product.
The numbers are torch's, bit for bit, so that none depends on whether the kernels were ready.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
import torch
from torch import Tensor

from regard.attention.kernels.compiled import exact_kernel
from regard.attention.kernels.threads import TASKS, done_by_team, share, take

ROWS = 16  # of a task
GRAIN = 1 << 15  # numbers that are worth a second thread
LEVELS = np.float32(127)
LEAST = np.finfo(np.float32).tiny  # a scale
UNSIGNED = np.int32(0x7FFFFFFF)


def rounded(rows: Tensor, zero: int = 0) -> tuple[Tensor, Tensor]:
    """(R, K) -> integers (R, K) and the scale of each row (R, 1): its largest number becomes 127 + zero.

    zero 0: int8. 128: uint8, which is int8 with the first bit turned over.
    """
    rows = rows.contiguous()
    found = torch.empty_like(rows, dtype=torch.uint8 if zero else torch.int8)
    scale, turned = rows.new_empty(len(rows), 1), np.full(1, zero, np.uint8).view(np.int8)
    x, levels = rows.numpy(), found.numpy().view(np.int8)
    arrays = x, x.view(np.int32), levels, scale.numpy(), scale.numpy().view(np.int32), turned
    share(_round, -(-len(rows) // ROWS), 1 + rows.numel() // GRAIN, *arrays)
    return found, scale


def scaled(y: Tensor, rows: Tensor, bias: Tensor | None) -> Tensor:
    """y (R, N), scales of the rows (R, 1), bias (N,) -> (R, N), in the place of y"""
    added = bias.detach() if bias is not None else rows.new_empty(0)
    arrays = (x.numpy() for x in (y, rows, added))
    share(_scale, -(-len(y) // ROWS), 1 + y.numel() // GRAIN, *arrays)
    return y


def run_once() -> None:
    """So that all is compiled."""
    found, scale = rounded(torch.ones(1, 1))
    scaled(found.float(), scale, None)


# --- kernels ----------------------------------------------------------------------------------------


@exact_kernel
def _round(plan, x, bits, found, scale, scale_bits, turned):
    """Of floats without their sign, the larger has the larger bits, and NaN the largest."""
    if done_by_team(plan):
        return
    rows, size = x.shape
    bit = turned[0]
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        for r in range(task * ROWS, min(task * ROWS + ROWS, rows)):
            peak = np.int32(0)
            for k in range(size):
                peak = max(peak, bits[r, k] & UNSIGNED)
            scale_bits[r, 0] = peak
            step = scale[r, 0] / LEVELS
            step = LEAST if step < LEAST else step
            scale[r, 0] = step
            each = np.float32(1) / step
            for k in range(size):
                found[r, k] = np.int8(np.rint(x[r, k] * each)) ^ bit


@exact_kernel
def _scale(plan, y, rows, bias):
    if done_by_team(plan):
        return
    count, size = y.shape
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        for r in range(task * ROWS, min(task * ROWS + ROWS, count)):
            step = rows[r, 0]
            if bias.size == 0:
                for n in range(size):
                    y[r, n] *= step
            else:
                for n in range(size):
                    y[r, n] = y[r, n] * step + bias[n]
