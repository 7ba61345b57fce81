"""How much of what this machine's matrix product can do a training does."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import torch
from torch.utils.flop_counter import FlopCounterMode

from toolkit_parts.peers import Turn, timed
from toolkit_parts.regard_translator import BareLoop

SIDE, PRODUCTS = 1024, 20  # matrices of this size, multiplied so often in a turn
COUNTED = 12  # batches whose products are counted


def sgemm() -> Turn:
    """`done` in GFLOP: large products in float32, with all threads that torch has."""
    a, b = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    out = torch.empty(SIDE, SIDE)

    def multiply() -> int:
        for _ in range(PRODUCTS):
            torch.mm(a, b, out=out)
        return round(2 * PRODUCTS * SIDE**3 / 1e9)

    return timed(multiply)


def flop_a_token(loop: BareLoop) -> float:
    """Of matrix products alone, forward and backward, for each target token."""
    tokens = 0
    with FlopCounterMode(display=False) as counter:
        for _ in range(COUNTED):
            loss = loop.module(**next(loop.batches))
            loss.total.backward()
            tokens += int(loss.tokens)
    loop.optimizer.zero_grad()
    return counter.get_total_flops() / tokens


def share(turns: Sequence[Turn], products: Sequence[Turn], flop: float) -> str:
    """By the clock and by CPU time, medians of the rounds."""
    pairs = list(zip(turns, products, strict=True))
    limit = median(one.done / one.seconds for one in products)
    wall = median(a.done / a.seconds * flop / 1e9 * b.seconds / b.done for a, b in pairs)
    cpu = median(a.done / a.cpu * flop / 1e9 * b.cpu / b.done for a, b in pairs)
    return (
        f"{flop / 1e6:.1f} MFLOP of matrix products a target token, sgemm {limit:.0f} GFLOP/s: "
        f"training runs at {wall:.2f} of it, by CPU time {cpu:.2f}"
    )
