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

__all__ = ["available", "in_graph", "kernels", "region_attention", "run", "work_for"]

_LOADED: dict[str, ModuleType | None] = {}


def available(device: torch.device) -> bool:
    """Whether the kernels run there: a CUDA device, and Triton is installed."""
    return device.type == "cuda" and kernels() is not None


def kernels() -> Any:
    """The module that launches them; None without Triton."""
    if "triton" not in _LOADED:
        try:
            from regard.attention.kernels.region import region_triton
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
        return in_graph(query, key, value, *more)
    given = kernels().Given(*more)
    return run(work_for(query, key, value, given), query, key, value, given)


def work_for(query: Tensor, key: Tensor, value: Tensor, given: Any) -> Any:
    """What is launched for tensors like these: the same for all that are shaped alike."""
    return kernels().work_for(in_rows(query), in_rows(key), in_rows(value), given)


def run(work: Any, query: Tensor, key: Tensor, value: Tensor, given: Any) -> tuple[Tensor, Tensor]:
    """`region_attention` with all that was given, by the work that is known for it."""
    if torch.is_grad_enabled():
        bias, sink = given.bias, given.sink
        learns = query.requires_grad or key.requires_grad or value.requires_grad
        learns = learns or (bias is not None and bias.requires_grad)
        if learns or (sink is not None and sink.requires_grad):
            kept: list[Tensor] = []
            context = _Function.apply(query, key, value, bias, sink, given, work, kept)
            return context, kept[0]
    return work.forward(in_rows(query), in_rows(key), in_rows(value), given)


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


def _of_bias(given: Tensor | None, bias: Tensor | None) -> Tensor | None:
    """The gradient of a bias that was broadcast."""
    if given is None or bias is None:
        return None
    return given.sum_to_size(bias.shape).to(bias.dtype)


def _of_sink(grad: Tensor, context: Tensor, lse: Tensor, sink: Tensor | None) -> Tensor | None:
    """−Σ of its weight times what the others lose by it: (B, H, Lq) -> (H,)"""
    if sink is None:
        return None
    delta = (grad.float() * context.float()).sum(-1)
    weight = torch.exp(sink.float()[:, None] - lse)
    lost = torch.where(lse.isfinite(), weight * delta, 0.0)
    return -lost.sum((0, 2)).to(sink.dtype)


def _gradients(ctx: Any, grad: Tensor) -> Any:
    query, key, value, context, lse, *held = ctx.saved_tensors
    work, given = ctx.work, ctx.work.bare
    if held:
        given = given._replace(**dict(zip(work.held, held, strict=True)))
    learns = given.bias is not None and ctx.needs_input_grad[3]
    query, key, value = in_rows(query), in_rows(key), in_rows(value)
    dq, dk, dv, dbias = work.backward(
        in_rows(grad), query, key, value, context, lse, given, bias_learns=learns
    )
    of_bias = _of_bias(dbias, given.bias) if learns else None
    of_sink = _of_sink(grad, context, lse, given.sink) if ctx.needs_input_grad[4] else None
    return dq, dk, dv, of_bias, of_sink, None, None, None


_gradients_once = once_differentiable(_gradients)


class _Function(torch.autograd.Function):
    """Outside of graphs: an operator of torch.library costs more than these kernels' launches."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, sink: Tensor | None,
        given: Any, work: Any, kept: list[Tensor],
    ) -> Tensor:  # fmt: skip
        """kept: is given the log-sum-exp; one output less is some microseconds less."""
        context, lse = work.forward(in_rows(query), in_rows(key), in_rows(value), given)
        held = [getattr(given, name) for name in work.held]
        ctx.save_for_backward(query, key, value, context, lse, *held)
        ctx.work = work
        kept.append(lse)
        return context

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _gradients_once(ctx, grad) if torch.is_grad_enabled() else _gradients(ctx, grad)


# --- inside graphs ----------------------------------------------------------------------------------


@torch.library.custom_op("regard::region_attention", mutates_args=())
def in_graph(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, bias: Tensor | None,
    sink: Tensor | None, documents: Tensor | None, ends: Tensor | None,
    numbers: Sequence[int], scale: float, sharpness: float, cap: float,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    given = kernels().Given(
        mask, bias, sink, documents, ends, tuple(numbers), scale, sharpness, cap
    )
    query, key, value = in_rows(query), in_rows(key), in_rows(value)
    return kernels().work_for(query, key, value, given).forward(query, key, value, given)


@torch.library.custom_op("regard::region_attention_backward", mutates_args=())
def _operator_backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor, bias_learns: bool,
    mask: Tensor | None, bias: Tensor | None, sink: Tensor | None, documents: Tensor | None,
    ends: Tensor | None, numbers: Sequence[int], scale: float, sharpness: float, cap: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    given = kernels().Given(
        mask, bias, sink, documents, ends, tuple(numbers), scale, sharpness, cap
    )
    query, key, value = in_rows(query), in_rows(key), in_rows(value)
    dq, dk, dv, dbias = (
        kernels()
        .work_for(query, key, value, given)
        .backward(in_rows(grad), query, key, value, context, lse, given, bias_learns=bias_learns)
    )
    return dq, dk, dv, lse.new_empty(0) if dbias is None else dbias


@in_graph.register_fake
def _(query, key, value, *_more):
    return empty_context(in_rows(query), value)


@_operator_backward.register_fake
def _(grad, query, key, value, context, lse, bias_learns, mask, bias, *_more):
    grads = tuple(torch.empty_like(in_rows(x)) for x in (query, key, value))
    shape = (*query.shape[:2], bias.shape[2], key.shape[2]) if bias_learns else (0,)
    return (*grads, lse.new_empty(shape))


def _save(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs[:3], *output, *inputs[3:8])
    ctx.numbers = inputs[8:]
    ctx.mark_non_differentiable(output[1])


def _differentiate(ctx: Any, grad: Tensor, _: Any) -> Any:
    query, key, value, context, lse, mask, bias, sink, documents, ends = ctx.saved_tensors
    more = (mask, bias, sink, documents, ends, *ctx.numbers)
    learns = bias is not None and ctx.needs_input_grad[4]
    dq, dk, dv, dbias = _operator_backward(grad, query, key, value, context, lse, learns, *more)
    dsink = _of_sink(grad, context, lse, sink) if ctx.needs_input_grad[5] else None
    of_bias = _of_bias(dbias, bias) if learns else None
    return dq, dk, dv, None, of_bias, dsink, None, None, None, None, None, None


in_graph.register_autograd(_differentiate, setup_context=_save)
