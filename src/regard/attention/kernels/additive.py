"""Additive attention as operators of PyTorch: one name for every device, autograd, vmap and torch.compile.

    s_ij = Σ_d w_d tanh(q_id + k_jd)          context_i = Σ_j softmax_j(scale · s_ij) value_j

Shapes: query (N, Lq, D), key (N, Lk, D), value (N, Lk, Dv), weight (G, D), row n has weight[n % G];
mask bool (M, 1 or Lq, Lk), row n has mask[n // (N / M)], True where a key may be attended.

Neither kernel holds anything of size Lq · Lk · D, the attention nothing of size Lq · Lk either. With one
query or one key, for a toy, and where numba or triton is missing, plain torch computes and does hold it.
"""

import math

import torch
from torch import Tensor

from regard.attention.kernels import additive_torch
from regard.attention.kernels.additive_torch import dense_additive_attention, dense_additive_scores
from regard.attention.kernels.kernel_modules import is_first_to_learn, is_on_its_way, kernels, named
from regard.attention.kernels.operators import operator

__all__ = ["additive_attention", "additive_scores", "backend", "dense_additive_scores"]


def additive_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """s[n, i, j] = Σ_d weight[n % G, d] · tanh(query[n, i, d] + key[n, j, d])

    query (N, Lq, D), key (N, Lk, D), weight (G, D) -> (N, Lq, Lk), in the dtype of query and key.
    Half precision is computed in float32.
    """
    query, key, _, weight = _one_dtype(query, key, key, weight)
    pairs = (len(query), query.shape[1], key.shape[1], query.shape[2])
    kind = query.device.type
    if _dense_is_as_good(kind, *pairs) or (
        kind == "cpu" and _need_not_wait(pairs, query, key, weight)
    ):
        return additive_torch.scores(query, key, weight)
    return _scores(query, key, weight)


def additive_attention(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, *, mask: Tensor | None = None,
    scale: float = 1.0, before: int = -1, after: int = -1, offset: int = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """context = softmax_j(scale · s) @ value over the allowed keys; lse = log Σ_j exp(scale · s)

    Key j is allowed for query i if mask[.., i, j] and i + offset - before <= j <= i + offset + after,
    where -1 is unbounded. Without any allowed key: context 0, lse -inf, gradients 0.

    query (N, Lq, D), key (N, Lk, D), value (N, Lk, Dv), weight (G, D), mask (M, 1 or Lq, Lk)
    -> context (N, Lq, Dv), lse (N, Lq) in float32 or float64; lse carries no gradient.
    """
    query, key, value, weight = _one_dtype(query, key, value, weight)
    if _dense_is_as_good(
        query.device.type, len(query), query.shape[1], key.shape[1], query.shape[2]
    ):
        return dense_additive_attention(
            query, key, value, weight, mask, scale, before, after, offset
        )
    return _attention(query, key, value, weight, mask, scale, before, after, offset)


def backend(device: torch.device | str, pairs: tuple[int, int, int, int] | None = None) -> str:
    """What computes on this device: "numba", "triton" or "torch"; for N, Lq, Lk, D if `pairs` are given."""
    kind = torch.device(device).type
    return "torch" if pairs is not None and _dense_is_as_good(kind, *pairs) else named(kind)


SMALL = 1 << 16  # tanh: below, on the CPU, torch is quicker than starting a kernel


def _one_dtype(query: Tensor, key: Tensor, value: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    """query, key and value decide; the weight follows them, as parameters do under autocast."""
    if query.dtype == key.dtype == value.dtype == weight.dtype:
        return query, key, value, weight
    dtype = torch.promote_types(torch.promote_types(query.dtype, key.dtype), value.dtype)
    return query.to(dtype), key.to(dtype), value.to(dtype), weight.to(dtype)


def _dense_is_as_good(device_type: str, rows: int, queries: int, keys: int, size: int) -> bool:
    """One query or one key: a kernel would evaluate as many exp as there are tanh.

    The dense form needs no more memory than the key has, keeps its tanh for the backward, and wins.
    So does it on the CPU for the beam of a sentence or two, without compiling or loading a kernel.
    """
    small = device_type == "cpu" and rows * queries * keys * size <= SMALL
    return queries == 1 or keys == 1 or small


def _need_not_wait(pairs: tuple[int, int, int, int], *given: Tensor) -> bool:
    """Whether torch answers while the kernel is made ready: never in a graph, once for a gradient."""
    if torch.compiler.is_compiling():
        return False
    learns = torch.is_grad_enabled() and any(x.requires_grad for x in given)
    return (is_first_to_learn if learns else is_on_its_way)(math.prod(pairs))


# --- scores -----------------------------------------------------------------------------------------


@operator("additive_scores")
def _scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return kernels(query.device.type).scores(query, key, weight)


@operator("additive_scores_backward")
def _scores_backward(
    grad: Tensor, query: Tensor, key: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return kernels(query.device.type).scores_backward(grad, query, key, weight)


@torch.library.register_fake(_scores)
def _(query, key, weight):
    return query.new_empty(query.shape[0], query.shape[1], key.shape[1])


@torch.library.register_fake(_scores_backward)
def _(grad, query, key, weight):
    return tuple(x.new_empty(x.shape) for x in (query, key, weight))


def _save_inputs(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _differentiate_scores(ctx, grad):
    return _scores_backward(grad, *ctx.saved_tensors)


def _differentiate_scores_twice(ctx, *grads):
    return _second_derivative(dense_additive_scores, ctx.saved_tensors, grads)


torch.library.register_autograd(_scores, _differentiate_scores, setup_context=_save_inputs)
torch.library.register_autograd(
    _scores_backward, _differentiate_scores_twice, setup_context=_save_inputs
)


def _second_derivative(function, inputs, grads):
    """The gradients of Σ grads · (gradients of grad · function(*inputs)), for inputs (grad, *inputs)."""
    with torch.enable_grad():
        grad, *inputs = (x.detach().requires_grad_() for x in inputs)
        first = torch.autograd.grad(function(*inputs), inputs, grad, create_graph=True)
        return torch.autograd.grad(first, [grad, *inputs], grads, materialize_grads=True)


# --- attention --------------------------------------------------------------------------------------


@operator("additive_attention")
def _attention(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, mask: Tensor | None,
    scale: float, before: int, after: int, offset: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    return kernels(query.device.type).attention(
        query, key, value, weight, mask, scale, before, after, offset
    )


@operator("additive_attention_backward")
def _attention_backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, weight: Tensor, mask: Tensor | None,
    context: Tensor, lse: Tensor, scale: float, before: int, after: int, offset: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    return kernels(query.device.type).attention_backward(
        grad, query, key, value, weight, mask, context, lse, scale, before, after, offset
    )


@torch.library.register_fake(_attention)
def _(query, key, value, weight, mask, scale, before, after, offset):
    context = value.new_empty(query.shape[0], query.shape[1], value.shape[2])
    lse = query.new_empty(query.shape[:2], dtype=additive_torch.compute_dtype(query))
    return context, lse


@torch.library.register_fake(_attention_backward)
def _(grad, query, key, value, weight, mask, context, lse, scale, before, after, offset):
    return tuple(x.new_empty(x.shape) for x in (query, key, value, weight))


def _save_attention(ctx, inputs, output):
    *tensors, ctx.scale, ctx.before, ctx.after, ctx.offset = inputs
    ctx.save_for_backward(*tensors, *output)
    ctx.mark_non_differentiable(output[1])


def _differentiate_attention(ctx, grad, _grad_lse):
    band = (ctx.scale, ctx.before, ctx.after, ctx.offset)
    grads = _attention_backward(grad, *ctx.saved_tensors, *band)
    return (*grads, None, None, None, None, None)


def _save_attention_backward(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:6])
    ctx.scale, ctx.before, ctx.after, ctx.offset = inputs[8:]


def _differentiate_attention_twice(ctx, *grads):
    # context and lse are functions of the other inputs: their share is in those inputs' gradients.
    *tensors, mask = ctx.saved_tensors

    def attention(query, key, value, weight):
        band = (ctx.scale, ctx.before, ctx.after, ctx.offset)
        return dense_additive_attention(query, key, value, weight, mask, *band)[0]

    return (*_second_derivative(attention, tensors, grads), *[None] * 7)


torch.library.register_autograd(_attention, _differentiate_attention, setup_context=_save_attention)
torch.library.register_autograd(
    _attention_backward, _differentiate_attention_twice, setup_context=_save_attention_backward
)


# --- vmap -------------------------------------------------------------------------------------------


def _map_by_folding(op, weight_at: int, has_weight_gradient: bool = False) -> None:
    """vmap: the mapped axis is folded into N, and every row gets a weight of its own."""

    def rule(info, in_dims, *arguments):
        size = info.batch_size

        def spread(x, dim):  # (V, N, …); what is not mapped is repeated
            if not isinstance(x, Tensor):
                return x
            return x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)

        mapped = [spread(x, dim) for x, dim in zip(arguments, in_dims, strict=True)]
        rows, groups = mapped[0].shape[1], mapped[weight_at].shape[1]
        mapped[weight_at] = mapped[weight_at].repeat(1, rows // groups, 1)
        folded = op(*(x.flatten(0, 1) if isinstance(x, Tensor) else x for x in mapped))
        if isinstance(folded, Tensor):
            return folded.unflatten(0, (size, rows)), 0
        results = [x.unflatten(0, (size, rows)) for x in folded]
        if has_weight_gradient:
            results[-1] = results[-1].unflatten(1, (rows // groups, groups)).sum(1)
        return tuple(results), (0,) * len(results)

    torch.library.register_vmap(op, rule)


_map_by_folding(_scores, weight_at=2)
_map_by_folding(_scores_backward, weight_at=3, has_weight_gradient=True)
_map_by_folding(_attention, weight_at=3)
_map_by_folding(_attention_backward, weight_at=4, has_weight_gradient=True)
