"""Attention in a region as an operator of PyTorch, for a GPU with Triton: one call forward, one backward.

    s = cap · tanh(scale · q · k / cap) + bias
    weights = exp(sharpness · s) / (exp(sink) + Σ exp(sharpness · s))

query (B, H, Lq, D), key (B, Hk, Lk, D), value (B, Hk, Lk, Dv); head h has the keys of h // (H / Hk).
Nothing of size Lq · Lk is held, nothing waits for the GPU, and the sums are in the same order every time.
What is not finite reaches the queries that may attend to it, which become NaN, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

__all__ = ["available", "kernels", "region_attention"]

_LOADED: dict[str, ModuleType | None] = {}


def available(device: torch.device) -> bool:
    """Whether the kernels run there: a CUDA device, and Triton is installed."""
    return device.type == "cuda" and kernels() is not None


def kernels() -> Any:
    """The module that launches them; None without Triton."""
    if "triton" not in _LOADED:
        try:
            from regard.attention.kernels import region_triton
        except ImportError:
            _LOADED["triton"] = None
        else:
            _LOADED["triton"] = region_triton
    return _LOADED["triton"]


def region_attention(
    query: Tensor, key: Tensor, value: Tensor, numbers: Sequence[int], *,
    mask: Tensor | None = None, bias: Tensor | None = None, sink: Tensor | None = None,
    documents: Tensor | None = None, ends: Tensor | None = None,
    scale: float = 1.0, sharpness: float = 1.0, cap: float = 0.0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """context (B, H, Lq, Dv) and lse (B, H, Lq), log Σ exp(sharpness · s), which carries no gradient.

    numbers: of a region, from `region_passes`. mask bool and bias float, (B or 1, H or 1, Lq or 1, Lk);
    sink (H,); documents (B or 1, 5, Lk) and ends (B or 1,), int32. cap 0: none. A row without any key:
    context 0, lse −∞, or that of the sink.
    """
    more = (mask, bias, sink, documents, ends, tuple(numbers), scale, sharpness, cap)
    if torch.compiler.is_compiling():
        return _operator(query, key, value, *more)
    learns = query.requires_grad or key.requires_grad or value.requires_grad
    learns = learns or any(x is not None and x.requires_grad for x in (bias, sink))
    if learns and torch.is_grad_enabled():
        return _Function.apply(query, key, value, *more)
    return _forward(query, key, value, *more)


def in_rows(x: Tensor) -> Tensor:
    """With the features of a row side by side."""
    return x if x.stride(-1) == 1 else x.contiguous()


def empty_context(query: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Where context and lse go; the context lies in memory as the queries do, if it can."""
    batch, heads, length, size = query.shape
    value_size = value.shape[-1]
    same = value_size == size
    context = torch.empty_like(query) if same else query.new_empty(batch, heads, length, value_size)
    return context, query.new_empty((batch, heads, length), dtype=torch.float32)


def _forward(query: Tensor, key: Tensor, value: Tensor, *more: Any) -> tuple[Tensor, Tensor]:
    region = kernels()
    assert region is not None
    return region.forward(query, key, value, region.Given(*more))


def _backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor,
    bias_learns: bool, *more: Any,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None]:  # fmt: skip
    region = kernels()
    assert region is not None
    given = region.Given(*more)
    return region.backward(grad, query, key, value, context, lse, given, bias_learns=bias_learns)


def _of_bias(given: Tensor | None, bias: Tensor | None) -> Tensor | None:
    """The gradient of a bias that was broadcast."""
    if given is None or bias is None:
        return None
    return given.sum_to_size(bias.shape).to(bias.dtype)


def _of_sink(delta: Tensor, lse: Tensor, sink: Tensor | None) -> Tensor | None:
    """−Σ of its weight times what the others lose by it: (B, H, Lq) -> (H,)"""
    if sink is None:
        return None
    weight = torch.exp(sink.float()[:, None] - lse)
    lost = torch.where(lse.isfinite(), weight * delta, 0.0)
    return -lost.sum((0, 2)).to(sink.dtype)


class _Function(torch.autograd.Function):
    """Outside of graphs: an operator of torch.library costs more than these kernels' launches."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, *more: Any) -> Any:
        context, lse = _forward(query, key, value, *more)
        ctx.save_for_backward(query, key, value, context, lse, *more[:5])
        ctx.numbers = more[5:]
        ctx.mark_non_differentiable(lse)
        return context, lse

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Any) -> Any:
        query, key, value, context, lse, mask, bias, sink, documents, ends = ctx.saved_tensors
        more = (mask, bias, sink, documents, ends, *ctx.numbers)
        learns = bias is not None and ctx.needs_input_grad[4]
        dq, dk, dv, delta, dbias = _backward(grad, query, key, value, context, lse, learns, *more)
        dsink = _of_sink(delta, lse, sink) if ctx.needs_input_grad[5] else None
        return dq, dk, dv, None, _of_bias(dbias, bias), dsink, None, None, None, None, None, None


# --- inside graphs ----------------------------------------------------------------------------------


@torch.library.custom_op("regard::region_attention", mutates_args=())
def _operator(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, bias: Tensor | None,
    sink: Tensor | None, documents: Tensor | None, ends: Tensor | None,
    numbers: Sequence[int], scale: float, sharpness: float, cap: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    more = (mask, bias, sink, documents, ends, tuple(numbers), scale, sharpness, cap)
    return _forward(query, key, value, *more)


@torch.library.custom_op("regard::region_attention_backward", mutates_args=())
def _operator_backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor, bias_learns: bool,
    mask: Tensor | None, bias: Tensor | None, sink: Tensor | None, documents: Tensor | None,
    ends: Tensor | None, numbers: Sequence[int], scale: float, sharpness: float, cap: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    more = (mask, bias, sink, documents, ends, tuple(numbers), scale, sharpness, cap)
    *grads, dbias = _backward(grad, query, key, value, context, lse, bias_learns, *more)
    dq, dk, dv, delta = grads
    return dq, dk, dv, delta, lse.new_empty(0) if dbias is None else dbias


@_operator.register_fake
def _(query, key, value, *_more):
    return empty_context(in_rows(query), value)


@_operator_backward.register_fake
def _(grad, query, key, value, context, lse, bias_learns, mask, bias, *_more):
    grads = tuple(torch.empty_like(in_rows(x)) for x in (query, key, value))
    shape = (*query.shape[:2], bias.shape[2], key.shape[2]) if bias_learns else (0,)
    return (*grads, torch.empty_like(lse), lse.new_empty(shape))


def _save(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[:3], *output, *inputs[3:8])
    ctx.numbers = inputs[8:]
    ctx.mark_non_differentiable(output[1])


def _differentiate(ctx: Any, grad: Tensor, _: Any) -> Any:
    query, key, value, context, lse, mask, bias, sink, documents, ends = ctx.saved_tensors
    more = (mask, bias, sink, documents, ends, *ctx.numbers)
    learns = bias is not None and ctx.needs_input_grad[4]
    dq, dk, dv, delta, dbias = _operator_backward(
        grad, query, key, value, context, lse, learns, *more
    )
    dsink = _of_sink(delta, lse, sink) if ctx.needs_input_grad[5] else None
    of_bias = _of_bias(dbias, bias) if learns else None
    return dq, dk, dv, None, of_bias, dsink, None, None, None, None, None, None


_operator.register_autograd(_differentiate, setup_context=_save)
