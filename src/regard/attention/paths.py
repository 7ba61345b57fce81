"""The paths: every way in which an attention is computed. `dense` is the definition of all of them.

Legend: query (..., Lq, D) and key (..., Lk, D) are projected; value (..., Lk, Dv); context (..., Lq, Dv).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.kernels.additive import additive_attention
from regard.attention.normalizers import Choice, clear
from regard.attention.plan import Plan, block_size
from regard.attention.region import Pattern
from regard.attention.select import without
from regard.attention.shapes import as_summed, at_least_single, broadcast, of_rank

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall
    from regard.attention.scores import Additive, DotLike

Computed = tuple[
    Tensor, Tensor | None, Choice | None
]  # context, weights and choice where asked for


def run(plan: Plan, call: AttentionCall) -> Computed:
    if plan.path in ("dense", "additive"):  # Additive pairs by its kernel
        return dense(call)
    paths = {
        "one-row": one_row,
        "strided": strided,
        "blocks": blocks,
        "sparse": sparse,
        "sdpa": sdpa,
        "additive-fused": additive_fused,
    }
    return paths[plan.path](call), None, None


def dense(call: AttentionCall) -> Computed:
    """context = normalize(score(q, k) + bias where allowed) @ v"""
    q, k, v = call.query, call.key, call.value
    allowed, bias, spoilt = call.limits.allowed, call.bias, None
    if bias is not None:
        bias, allowed, spoilt = split_bias(bias, allowed)
    if call.normalize.needs_scores:
        scores = call.score.pair(at_least_single(q), at_least_single(k))
        scores = scores if bias is None else scores + bias
    else:
        shape = broadcast(q.shape[:-2], k.shape[:-2])
        scores = at_least_single(q.new_zeros(())).expand(*shape, q.shape[-2], k.shape[-2])
    if allowed is not None and allowed.shape != scores.shape:
        scores = scores.expand(broadcast(scores.shape, allowed.shape))
    weights, choice = call.normalize(
        scores, allowed, training=call.training, generator=call.generator
    )
    if call.limits.factor is not None:
        weights = clear(weights * call.limits.factor, allowed)
        if call.limits.region.renormalize:
            total = weights.sum(-1, keepdim=True)
            weights = weights / total.masked_fill(total == 0, 1.0)
    weights = weights.to(v.dtype)
    context = _drop(weights, call) @ v
    if spoilt is not None:
        context = context + spoilt.to(context.dtype)
    if not call.weights:
        return context, None, choice
    if spoilt is not None:
        weights = clear(weights + spoilt.to(weights.dtype), allowed)
    return context, weights.expand(*call.lead, *weights.shape[-2:]), choice


def one_row(call: AttentionCall) -> Tensor:
    """A score in which the query cancels: the query 0 stands for all, and each may spoil its own row."""
    q, size = call.query, call.score.query_size
    assert size is not None
    nobody = call.score.project_query(q.new_zeros(*(1,) * (q.dim() - 2), 1, size))
    row = call.rearranged(
        of_rank(nobody, q.dim()), call.key, call.value, call.limits.mask, Pattern(), call.bias
    )
    spoilt = (q - q).sum(-1, keepdim=True)  # 0, as is its gradient, or NaN
    if (rows := call.limits.rows) is not None:
        spoilt = spoilt.masked_fill(~rows[..., None], 0.0)
    return row.compute()[0] + spoilt


def sdpa(call: AttentionCall) -> Tensor:
    """softmax(scale · q · k + bias) @ v by torch's fused kernels."""
    q, k, v, lead = call.query, call.key, call.value, call.lead
    temperature = call.normalize.softmax_temperature
    assert temperature is not None
    scale = cast("DotLike", call.score).scale(k.shape[-1]) / temperature
    value_width = v.shape[-1]
    width = max(k.shape[-1], value_width)  # the fused kernels want one for keys and values
    q, k, v = (_widen(x, width) for x in (q, k, v))
    mask, causal, empty, spoilt = _kernel_mask(call, temperature)
    if mask is not None:
        mask = _four_axes(mask, lead, keep_one=True)
    q, k, v = (_four_axes(x, lead) for x in (q, k, v))
    context = nn.functional.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        dropout_p=call.dropout,
        is_causal=causal,
        scale=scale,
    )
    if width > value_width:
        context = context[..., :value_width]
    if len(lead) != 2:
        context = context.reshape(*lead, *context.shape[-2:])
    context = context if empty is None else without(context, empty)
    if spoilt is not None:
        context = context + spoilt.to(context.dtype)
    if (
        context.device.type == "cpu"
    ):  # with few keys, torch's kernel answers 0 to a query that is NaN
        asked = call.query.detach()
        context = context + (asked - asked).sum(-1, keepdim=True)
    return context


class KernelMask(NamedTuple):
    """What the kernel is told, and what is done to its rows afterwards."""

    mask: Tensor | None  # bool, or added to the scores
    causal: bool
    empty: Tensor | None  # (..., Lq or 1): rows that become 0
    spoilt: Tensor | None  # (..., Lq or 1, 1): NaN for the rows that become NaN, else 0


def _kernel_mask(call: AttentionCall, temperature: float) -> KernelMask:
    """Inside the kernel no row is empty: its query is 0, or it looks everywhere, to no effect."""
    limits, bias = call.limits, call.bias
    causal = bias is None and limits.mask is None and limits.patterns == [Pattern(after=0)]
    allowed = None if causal else limits.allowed
    if bias is not None:
        bias = as_summed(bias if temperature == 1.0 else at_least_single(bias) / temperature)
        if allowed is not None:
            bias = bias.masked_fill(~allowed, -math.inf)
        if call.no_row_is_empty:
            return KernelMask(bias, causal, None, None)
        best = bias.detach().amax(-1)
        empty = best == -math.inf
        spoilt = (best - best).masked_fill(empty, 0.0)
        return KernelMask(bias.masked_fill(empty[..., None], 0.0), causal, empty, spoilt[..., None])
    if allowed is None or call.no_row_is_empty or (rows := limits.rows) is None:
        return KernelMask(allowed, causal, None, None)
    return KernelMask(allowed | ~rows[..., None], causal, ~rows, None)


def additive_fused(call: AttentionCall) -> Tensor:
    """softmax(v · tanh(q + k)) @ v without ever holding Lq × Lk scores."""
    temperature = call.normalize.softmax_temperature
    assert temperature is not None
    lead, pattern, mask = call.lead, call.patterns[0], call.limits.mask
    count = math.prod(lead)
    q, k, v = (
        x.expand(*lead, *x.shape[-2:]).reshape(count, *x.shape[-2:])
        for x in (call.query, call.key, call.value)
    )
    if mask is not None:
        mask = _fold_mask(mask, lead)
    context, _ = additive_attention(
        q,
        k,
        v,
        cast("Additive", call.score).rows,
        mask=mask,
        scale=1.0 / temperature,
        before=-1 if pattern.before == math.inf else int(pattern.before),
        after=-1 if pattern.after == math.inf else int(pattern.after),
        offset=pattern.offset,
    )
    return context.reshape(*lead, *context.shape[-2:])


def strided(call: AttentionCall) -> Tensor:
    """(i - j) mod rate = 0: deal queries and keys out `rate` ways, attend, collect. O(L² / rate)"""
    pattern, queries, keys = call.patterns[0], call.query.shape[-2], call.key.shape[-2]
    mask = _key_mask(call) if call.limits.mask is not None or keys % pattern.rate else None
    dealt = call.rearranged(
        _deal(call.query, pattern.rate),
        _deal(call.key, pattern.rate),
        _deal(call.value, pattern.rate),
        None if mask is None else _deal(mask.mT, pattern.rate).mT,
        pattern.strided(),
        None if call.bias is None else _dealt_bias(call.bias, pattern.rate, queries),
    )
    return _collect(dealt.compute()[0], pattern.rate, queries)


def blocks(call: AttentionCall) -> Tensor:
    """-after <= i - j <= before: blocks of queries, each with the span of keys it can see. O(L · w)"""
    (pattern,), queries = call.patterns, call.query.shape[-2]
    cut = call.rearranged(
        _cut_queries(call.query, pattern),
        _spans(call.key, pattern, queries),
        _spans(call.value, pattern, queries),
        _span_mask(call, pattern),
        Pattern(),
        None if call.bias is None else _cut_bias(call.bias, pattern, queries),
    )
    return _join(cut.compute()[0], queries)


def sparse(call: AttentionCall) -> Tensor:
    """Near keys in blocks and spread keys dealt out, under one normaliser. O(L · (w + L / rate))"""
    near, far = call.patterns
    queries, keys, rate = call.query.shape[-2], call.key.shape[-2], far.rate
    q, k = at_least_single(call.query), at_least_single(call.key)
    near_scores = _join(call.score.pair(_cut_queries(q, near), _spans(k, near, queries)), queries)
    far_scores = _collect(call.score.pair(_deal(q, rate), _deal(k, rate)), rate, queries)

    # the spread keys of query i stand at j = (i + offset) mod rate, + rate, + 2 rate, ...
    at = torch.arange(queries, device=q.device) + far.offset
    column = torch.arange(far_scores.shape[-1], device=q.device)
    place = at[:, None] % rate + rate * column
    far_allowed = far.holds(at[:, None] - place) & ~near.holds(at[:, None] - place)
    mask = nn.functional.pad(_key_mask(call).squeeze(-2), (0, -keys % rate))  # (..., keys)
    far_allowed = far_allowed & mask[..., place]

    near_allowed = _join(_span_mask(call, near), queries)
    lead = broadcast(near_allowed.shape[:-1], far_allowed.shape[:-1])
    allowed = torch.cat([x.expand(*lead, x.shape[-1]) for x in (near_allowed, far_allowed)], -1)
    scores, spoilt = torch.cat([near_scores, far_scores], -1), None
    if call.bias is not None:
        rows = call.bias.expand(*call.bias.shape[:-2], queries, keys)
        parts = (
            _join(_cut_bias(rows, near, queries), queries),
            _collect(_dealt_bias(rows, rate, queries), rate, queries),
        )
        bias, allowed, spoilt = split_bias(torch.cat(parts, -1), allowed)
        scores = scores + bias
    scores = scores.expand(broadcast(scores.shape, allowed.shape))
    weights, _ = call.normalize(scores, allowed, training=call.training, generator=call.generator)
    weights = _drop(weights.to(call.value.dtype), call)
    near_weights, far_weights = weights.split([near_scores.shape[-1], far_scores.shape[-1]], -1)
    from_near = _cut_queries(near_weights, near) @ _spans(call.value, near, queries)
    from_far = _deal(far_weights, rate) @ _deal(call.value, rate)
    context = _join(from_near, queries) + _collect(from_far, rate, queries)
    return context if spoilt is None else context + spoilt.to(context.dtype)


def split_bias(bias: Tensor, allowed: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """The bias as finite numbers; the pairs that are allowed, of which -inf forbids one; and NaN for
    the rows (..., Lq or 1, 1) that may attend to a pair whose bias is NaN or inf, else 0.
    """
    forbidden, finite = bias == -math.inf, bias.detach().isfinite()
    allowed = ~forbidden if allowed is None else allowed & ~forbidden
    nothing = torch.zeros((), dtype=torch.float32, device=bias.device)
    spoilt = torch.where((allowed & ~finite).any(-1, keepdim=True), torch.nan, nothing)
    return bias.masked_fill(~finite, 0.0), allowed, spoilt


# ── rearranging ──────────────────────────────────────────────────────────────────────────────────
# The new axis goes before the last leading one, so that a mask shared by all heads stays shared.


def _deal(x: Tensor, rate: int) -> Tensor:
    """(..., H, L, D) -> (..., rate, H, ⌈L / rate⌉, D): row r holds the positions r, r + rate, ..."""
    x = _lengthen(x, -x.shape[-2] % rate)
    return _lift(x.unflatten(-2, (-1, rate)).transpose(-2, -3))


def _collect(x: Tensor, rate: int, length: int) -> Tensor:
    """The inverse of `_deal`."""
    return _lift(x).transpose(-2, -3).flatten(-3, -2)[..., :length, :]


def _cut_queries(q: Tensor, pattern: Pattern) -> Tensor:
    """(..., H, Lq, D) -> (..., blocks, H, size, D)"""
    size = block_size(pattern)
    return _lift(_lengthen(q, -q.shape[-2] % size).unflatten(-2, (-1, size)))


def _join(x: Tensor, length: int) -> Tensor:
    """The inverse of `_cut_queries`."""
    return _lift(x).flatten(-3, -2)[..., :length, :]


def _spans(x: Tensor, pattern: Pattern, queries: int) -> Tensor:
    """(..., H, Lk, D) -> (..., blocks, H, span, D): the keys that some query of the block can see."""
    size, before, after = block_size(pattern), int(pattern.before), int(pattern.after)
    span, count = size + before + after, -(-queries // size)
    pieces = -(-span // size)  # a span is this many blocks of keys, the last one cut
    left = before - pattern.offset  # the first span begins at key -left
    right = (count - 1 + pieces) * size - left - x.shape[-2]
    x = nn.functional.pad(x, (0, 0, left, right)).unflatten(-2, (-1, size))
    shifted = [x[..., piece : piece + count, :, :] for piece in range(pieces)]
    return _lift(torch.cat(shifted, -2)[..., :span, :])


def _span_mask(call: AttentionCall, pattern: Pattern) -> Tensor:
    """(..., blocks, H or 1, size, span): the band inside a block, and which keys exist."""
    size, width = block_size(pattern), int(pattern.before + pattern.after)
    i = torch.arange(size, device=call.query.device)[:, None]
    c = torch.arange(size + width, device=call.query.device)
    exists = _spans(_key_mask(call).mT, pattern, call.query.shape[-2]).mT
    return exists & (i <= c) & (c <= i + width)


def _dealt_bias(bias: Tensor, rate: int, queries: int) -> Tensor:
    """The bias of the pairs that `_deal` leaves together: (..., rate, H, ⌈Lq / rate⌉ or 1, ⌈Lk / rate⌉)"""
    first = torch.arange(rate, device=bias.device)[:, None]
    rows, columns = (
        first + rate * torch.arange(-(-length // rate), device=bias.device)
        for length in (queries, bias.shape[-1])
    )
    return _bias_at(bias, rows, columns, queries)


def _cut_bias(bias: Tensor, pattern: Pattern, queries: int) -> Tensor:
    """The bias of the pairs in each block: (..., blocks, H, size or 1, span)"""
    size, before, after = block_size(pattern), int(pattern.before), int(pattern.after)
    first = torch.arange(0, queries, size, device=bias.device)[:, None]
    rows = first + torch.arange(size, device=bias.device)
    columns = torch.arange(size + before + after, device=bias.device) + first
    return _bias_at(bias, rows, columns + pattern.offset - before, queries)


def _bias_at(bias: Tensor, rows: Tensor, columns: Tensor, queries: int) -> Tensor:
    """bias (..., H, Lq or 1, Lk) at the pairs of rows (R, A) and columns (R, B) -> (..., R, H, A or 1, B)

    Beyond the keys there is anything, which no query may attend; beyond the queries there is 0.
    """
    if bias.shape[-2] == 1 and rows.numel() == queries:
        rows, beyond = torch.zeros_like(rows[:, :1]), None
    else:
        beyond = (rows >= queries)[..., None] if rows.numel() != queries else None
        rows = rows.clamp(max=bias.shape[-2] - 1)
    picked = bias[..., rows[:, :, None], columns.clamp(0, bias.shape[-1] - 1)[:, None, :]]
    return _lift(picked if beyond is None else picked.masked_fill(beyond, 0.0))


def _lengthen(x: Tensor, by: int) -> Tensor:
    """Zeros at the end of the length; nothing is copied for nothing."""
    return nn.functional.pad(x, (0, 0, 0, by)) if by else x


def _widen(x: Tensor, to: int) -> Tensor:
    """Zeros at the end of the features."""
    return nn.functional.pad(x, (0, to - x.shape[-1])) if to > x.shape[-1] else x


def _lift(x: Tensor) -> Tensor:
    return x.transpose(-3, -4) if x.dim() > 3 else x


def _key_mask(call: AttentionCall) -> Tensor:
    """Which keys exist, with as many axes as the tensors: (..., 1, Lk)."""
    mask, lead = call.limits.mask, call.lead
    if mask is None:
        mask = torch.ones(1, call.key.shape[-2], dtype=torch.bool, device=call.query.device)
    return of_rank(mask, len(lead) + 2)


def _four_axes(x: Tensor, lead: tuple[int, ...], *, keep_one: bool = False) -> Tensor:
    """(..., L, D) -> (outer, heads, L, D), broadcasting over `lead`; a mask may keep its axes of 1."""
    if len(lead) == 2 and x.dim() == 4 and (keep_one or x.shape[:2] == lead):
        return x  # as it should be: every view would have to be undone on the way back
    if len(lead) < 2:
        lead = (1,) * (2 - len(lead)) + lead
    x = of_rank(x, len(lead) + 2)
    outer, heads = lead[:-1], lead[-1]
    if keep_one:
        heads = x.shape[-3]
        outer = tuple(1 for _ in outer) if math.prod(x.shape[:-3]) == 1 else outer
    return x.expand(*outer, heads, *x.shape[-2:]).reshape(-1, heads, *x.shape[-2:])


def _fold_mask(mask: Tensor, lead: tuple[int, ...]) -> Tensor:
    """(..., L, Lk) -> (M, L, Lk) with M dividing the number of rows; trailing axes of 1 stay one."""
    mask = of_rank(mask, len(lead) + 2)
    shared = len(lead)
    while shared and mask.shape[shared - 1] == 1:
        shared -= 1
    return mask.expand(*lead[:shared], *mask.shape[shared:]).reshape(-1, *mask.shape[-2:])


def _drop(weights: Tensor, call: AttentionCall) -> Tensor:
    if not call.dropout:
        return weights
    if call.generator is None:
        return nn.functional.dropout(weights, call.dropout)
    draw = torch.rand(
        weights.shape, generator=call.generator, device=weights.device, dtype=torch.float32
    )
    return weights * (draw >= call.dropout) / (1 - call.dropout)
