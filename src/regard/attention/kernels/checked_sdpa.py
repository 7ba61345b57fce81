"""All keys, or all up to the query: torch's kernel, and our own where a number is not finite.

On long sequences in half precision nothing is faster than the kernels of torch, but a NaN or an infinite
number in them spoils rows and gradients that it must not reach. So a check of all numbers comes after them,
and the kernels of a region: they read what the check has written, do nothing where all is finite, and compute
a head again where it is not. The host never knows, and never waits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention.kernels import on_trial
from regard.attention.kernels.region.region_attention import in_rows, kernels
from regard.attention.kernels.region.region_passes import RegionPass
from regard.attention.kernels.tile_sizes import dealt_out_to
from regard.attention.region import Pattern

FLASH_FROM = 1024  # keys: on GPUs before Hopper, where torch itself would take it
CUDNN_FROM = 1536  # on Hopper and later: below, ours is faster
CUDNN_CAUSAL_FROM = 3072
PLANNED = ("cudnn",)  # kernels that torch plans anew for every shape, which takes milliseconds
CHOSEN: list[str | None] = []  # in place of these numbers, for measurements: one of them, or ours


def better_kernel(
    query: Tensor, key: Tensor, value: Tensor, dtype: torch.dtype, patterns: Sequence[Pattern] | None
) -> str | None:  # fmt: skip
    """Which kernel of torch is faster than ours for these shapes, if one is and it is allowed."""
    causal, size, keys = patterns == [Pattern(after=0)], key.shape[-1], key.shape[-2]
    fits = (causal and query.shape[-2] == keys) or patterns == [Pattern()]
    if on_trial.CHECKED_SDPA not in on_trial.ON:
        return None
    if not fits or torch.compiler.is_compiling() or dtype == torch.float32:
        return None
    if size % 8 or size > 128 or value.shape[-1] != size or not _has_flash(query.device):
        return None
    if CHOSEN:
        return CHOSEN[0]
    if torch.are_deterministic_algorithms_enabled():
        return None
    cuda = torch.backends.cuda
    if _capability(query.device) >= (9, 0):
        enough = keys >= (CUDNN_CAUSAL_FROM if causal else CUDNN_FROM)
        if not enough or (causal and _dealt_out(query, key, value)):
            return None
        return "cudnn" if cuda.cudnn_sdp_enabled() else None
    return "flash" if keys >= FLASH_FROM and cuda.flash_sdp_enabled() else None


def _dealt_out(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether all multiprocessors have as much to do in our kernel, which is then faster at any length."""
    tiles = -(-query.shape[-2] // 64) * math.prod(query.shape[:-2])
    return key.shape[-1] <= 64 and dealt_out_to(tiles, key, value) > 0


@functools.cache
def _has_flash(device: torch.device) -> bool:
    if device.type != "cuda" or not torch.backends.cuda.is_flash_attention_available():
        return False
    return _capability(device) >= (8, 0)


@functools.cache
def _capability(device: torch.device) -> tuple[int, int]:
    return torch.cuda.get_device_capability(device)


def checked_sdpa(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    numbers: tuple[int, ...],
    kernel: str,
    *,
    scale: float,
) -> tuple[Tensor, Tensor]:
    """context (B, H, Lq, D) and lse (B, H, Lq); numbers: of the region, all keys or all up to the query."""
    learns = query.requires_grad or key.requires_grad or value.requires_grad
    if learns and torch.is_grad_enabled():
        return _Checked.apply(query, key, value, numbers, kernel, scale)
    query, key, value = in_rows(query), in_rows(key), in_rows(value)
    context, lse, _, _ = _forward(query, key, value, numbers, kernel, scale)
    return context, lse


def _forward(
    query: Tensor, key: Tensor, value: Tensor, numbers: tuple[int, ...], kernel: str, scale: float
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """context, lse, what the check has found, and what torch's backward asks for."""
    given, causal = _given(numbers, scale), RegionPass(*numbers).hi_a == 0
    context, lse, rest = torch_forward(kernel, query, key, value, causal, scale)
    work = kernels().work_for(query, key, value, given, mends=True)
    return context, lse, work.mend(query, key, value, context, lse, given), rest


def _given(numbers: tuple[int, ...], scale: float) -> Any:
    return kernels().Given(None, None, None, None, None, numbers, scale, 1.0, 0.0)


class _Checked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, *more: Any) -> Any:
        query, key, value = in_rows(query), in_rows(key), in_rows(value)
        context, lse, found, rest = _forward(query, key, value, *more)
        ctx.set_materialize_grads(False)  # of the log-sum-exp there is none
        ctx.save_for_backward(query, key, value, context, lse, found)
        ctx.more, ctx.rest = more, rest
        ctx.mark_non_differentiable(lse)
        return context, lse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Any) -> Any:
        query, key, value, context, lse, found = ctx.saved_tensors
        numbers, kernel, scale = ctx.more
        tensors = (in_rows(grad), query, key, value, context, lse)
        causal = RegionPass(*numbers).hi_a == 0
        results = torch_backward(kernel, *tensors, causal, scale, ctx.rest)
        given = _given(numbers, scale)
        work = kernels().work_for(query, key, value, given, mends=True)
        work.mend_gradients(*tensors, given, found, results)
        return *results, None, None, None


def torch_forward(
    kernel: str, query: Tensor, key: Tensor, value: Tensor, causal: bool, scale: float
) -> tuple[Tensor, Tensor, Any]:
    """context, lse (B, H, Lq), and what the backward pass asks for."""
    if kernel == "flash":
        run = torch.ops.aten._scaled_dot_product_flash_attention.default
        context, lse, *rest, _ = run(query, key, value, 0.0, causal, False, scale=scale)
        return context, lse, rest
    run = torch.ops.aten._scaled_dot_product_cudnn_attention.default
    context, lse, *rest, _ = run(query, key, value, None, True, 0.0, causal, False, scale=scale)
    return context, lse.view(query.shape[:3]), rest


def torch_backward(
    kernel: str, grad: Tensor, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor,
    causal: bool, scale: float, rest: Any,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """dquery, dkey, dvalue."""
    tensors, (*ends, seed, offset) = (grad, query, key, value, context), rest
    if kernel == "flash":
        run = torch.ops.aten._scaled_dot_product_flash_attention_backward.default
        return run(*tensors, lse, *ends, 0.0, causal, seed, offset, scale=scale)
    run = torch.ops.aten._scaled_dot_product_cudnn_attention_backward.default
    return run(*tensors, lse[..., None], seed, offset, None, *ends, 0.0, causal, scale=scale)
