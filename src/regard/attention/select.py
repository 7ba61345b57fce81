"""0 in place of some vectors, whatever they held: a select, since 0 · NaN is NaN."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

SMALL = 1 << 14  # numbers: below, starting an operator costs more than running it
_INTEGERS = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.bfloat16: torch.int16,
    torch.float16: torch.int16,
}


def without(x: Tensor, flags: Tensor) -> Tensor:
    """0 in place of the vectors that are flagged: x (..., L, D), flags (..., L)."""
    if is_at_hand(x) and is_at_hand(flags) and _is_large(x):
        kept = flags[..., None].to(_INTEGERS[x.dtype]) - 1  # no bit, or all of them
        return _Bits.apply(x, kept)
    return x.masked_fill(flags[..., None], 0.0)


def _is_large(x: Tensor) -> bool:
    """A CPU fills under a mask of rows ten times as slowly as it joins bits; a GPU does not."""
    return x.device.type == "cpu" and x.numel() >= SMALL and x.dtype in _INTEGERS


def is_at_hand(x: Tensor) -> bool:
    """Whether its numbers can be looked at: not in a graph, nor under a transform such as vmap."""
    functorch = torch._C._functorch
    return not (
        torch.compiler.is_compiling()
        or functorch.is_functorch_wrapped_tensor(x)
        or functorch.is_legacy_batchedtensor(x)
    )


class _Bits(torch.autograd.Function):
    """x & kept, bit by bit; the gradient passes where the bits do."""

    @staticmethod
    def forward(x: Tensor, kept: Tensor) -> Tensor:
        return (x.view(kept.dtype) & kept).view(x.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        x, kept = inputs
        ctx.shape = x.shape
        ctx.save_for_backward(kept)
        ctx.save_for_forward(kept)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        passed = _Bits.apply(grad, kept) if is_at_hand(grad) else grad.masked_fill(kept == 0, 0.0)
        return passed.sum_to_size(ctx.shape), None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, _: None) -> Tensor:
        (kept,) = ctx.saved_tensors
        return _Bits.apply(tangent, kept)
