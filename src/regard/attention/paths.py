"""The paths: every way in which an attention is computed. `dense` is the definition of all of them.

Legend: query (..., Lq, D) and key (..., Lk, D) are projected; value (..., Lk, Dv); context (..., Lq, Dv).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention.kernels.additive import additive_attention
from regard.attention.limits import taint
from regard.attention.normalizers import HardChoice, clear
from regard.attention.plans.plan import BY_DEFINITION, Plan
from regard.attention.rearrange import (
    collect,
    cut_bias,
    cut_queries,
    deal,
    dealt_bias,
    join,
    key_mask,
    span_mask,
    spans,
)
from regard.attention.region import Pattern
from regard.attention.select import is_at_hand, without
from regard.attention.shapes import as_summed, at_least_single, broadcast, of_rank
from regard.attention.weights.asked_weights import WeightSummary

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall
    from regard.attention.scores import Additive, DotLike

Computed = tuple[
    Tensor, Tensor | WeightSummary | None, HardChoice | None
]  # context, weights and choice where asked for


BATCHED = 400  # numbers of a row's keys from which torch hands batched products to its library


def run(plan: Plan, call: AttentionCall) -> Computed:
    if plan.path in BY_DEFINITION:  # Additive pairs by its kernel
        return dense(call)
    paths = {
        "one-row": one_row,
        "strided": strided,
        "blocks": blocks,
        "sparse": sparse,
        "sdpa": sdpa,
        "additive-fused": additive_fused,
        "region-fused": by_kernel,
        "sdpa-checked": by_kernel,
    }
    return paths[plan.path](call), None, None


def taints(plan: Plan, call: AttentionCall) -> bool:
    """Whether the path of a plan adds the call's own taint, so that nobody else has to."""
    return plan.path == "sdpa" and call.query.device.type == "cpu"


def dense(call: AttentionCall) -> Computed:
    """context = normalize(score(q, k) + bias where allowed) @ v"""
    weights, choice, spoilt, allowed = weigh(call)
    context = mix(call, weights, spoilt)
    if not call.weights:
        return context, None, choice
    weights = weights.to(call.value.dtype)
    if spoilt is not None:
        weights = clear(weights + spoilt.to(weights.dtype), allowed)
    return context, weights.expand(*call.lead, *weights.shape[-2:]), choice


class DefinedWeights(NamedTuple):
    """The weights of a call by the definition, and what their rows still lack."""

    weights: Tensor  # (..., Lq, Lk), float32 at least
    choice: HardChoice | None
    spoilt: Tensor | None  # (..., Lq or 1, 1): NaN for rows that a bias spoils, else 0
    allowed: Tensor | None  # (..., Lq or 1, Lk): by mask, region and bias; None: all


def weigh(call: AttentionCall) -> DefinedWeights:
    """normalize(score(q, k) + bias where allowed)"""
    q, k = call.query, call.key
    allowed, bias, spoilt = call.limits.allowed, call.bias, None
    if bias is not None:
        bias, allowed, spoilt = split_bias(bias, allowed)
    if call.normalize.needs_scores:
        if call.score.kernel == "dot":  # with a query of -inf a row could seem to be without keys
            q = q + taint(q)[..., None]
        scores = _capped(call.score.pair(at_least_single(q), at_least_single(k)), call.cap)
        scores = scores if bias is None else scores + bias
    else:
        shape = broadcast(q.shape[:-2], k.shape[:-2])
        scores = at_least_single(q.new_zeros(())).expand(*shape, q.shape[-2], k.shape[-2])
    if allowed is not None and allowed.shape != scores.shape:
        scores = scores.expand(broadcast(scores.shape, allowed.shape))
    weights, choice = _normalized(call, scores, allowed)
    if call.limits.factor is not None:
        weights = clear(weights * call.limits.factor, allowed)
        if call.limits.region.renormalize:
            total = weights.sum(-1, keepdim=True)
            weights = weights / total.masked_fill(total == 0, 1.0)
    return DefinedWeights(weights, choice, spoilt, allowed)


def _capped(scores: Tensor, cap: float) -> Tensor:
    """cap · tanh(score / cap), which never passes ± cap; 0: no cap"""
    return cap * torch.tanh(scores / cap) if cap else scores


def _normalized(
    call: AttentionCall, scores: Tensor, allowed: Tensor | None
) -> tuple[Tensor, HardChoice | None]:
    """Weights of (..., Lq, Lk): exp(s) / (exp(sink) + Σ exp(s)), if a sink takes its part of each row."""
    sinks, drawn = call.sinks, {"training": call.training, "generator": call.generator}
    if sinks is None:
        return call.normalize(scores, allowed, **drawn)  # type: ignore[arg-type]
    temperature = call.normalize.softmax_temperature
    assert temperature is not None
    lead = broadcast(scores.shape[:-1], sinks.shape[:-1])
    sinks = (sinks * temperature).to(scores.dtype).expand(*lead, 1)
    scores = torch.cat([scores.expand(*lead, scores.shape[-1]), sinks], -1)
    if allowed is not None:
        allowed = nn.functional.pad(allowed, (0, 1), value=True)
    weights, choice = call.normalize(scores, allowed, **drawn)  # type: ignore[arg-type]
    return weights[..., :-1], choice


def mix(call: AttentionCall, weights: Tensor, spoilt: Tensor | None) -> Tensor:
    """weights @ value"""
    context = _drop(weights.to(call.value.dtype), call) @ call.value
    return context if spoilt is None else context + spoilt.to(context.dtype)


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
    if call.bias is not None:  # a row of -inf alone is an empty row
        spoilt = spoilt.masked_fill((call.bias == -math.inf).all(-1, keepdim=True), 0.0)
    return row.compute()[0] + spoilt


def sdpa(call: AttentionCall) -> Tensor:
    """softmax(scale · q · k + bias) @ v by torch's fused kernels."""
    q, k, v, lead = call.query, call.key, call.value, call.lead
    temperature = call.normalize.softmax_temperature
    assert temperature is not None
    scale = cast("DotLike", call.score).scale(k.shape[-1]) / temperature
    value_width = v.shape[-1]
    width = max(k.shape[-1], value_width)  # the fused kernels want one for keys and values
    if k.shape[-1] != value_width:
        q, k, v = (_widen(x, width) for x in (q, k, v))
    mask, causal, empty, spoilt = _kernel_mask(call, temperature)
    if mask is not None:
        mask = _four_axes(mask, lead, keep_one=True)
    q, k, v = (_four_axes(x, lead) for x in (q, k, v))
    if mask is None and not (causal or call.dropout) and _is_a_step(q, k, v):
        context = _step(q, k, v, scale)
    else:
        context = nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, dropout_p=call.dropout, is_causal=causal, scale=scale
        )
    if width > value_width:
        context = context[..., :value_width]
    if len(lead) != 2:
        context = context.reshape(*lead, *context.shape[-2:])
    if (
        context.device.type == "cpu" and not call.no_row_is_empty
    ):  # which promises finite states too
        # with few keys, torch's kernel answers 0 to a query that is NaN
        bad = taint(call.query)
        if call.taint is not None and empty is None:
            bad = bad + call.taint
        bad = bad[..., None].to(context.dtype)
        fresh = not context.requires_grad and is_at_hand(context) and is_at_hand(bad)
        context = context.add_(bad) if fresh else context + bad  # fresh memory costs as much again
    if empty is not None:  # by a bias too, which keeps no NaN away: the taint comes after it
        context = without(context, empty)
        if call.taint is not None and context.device.type == "cpu":
            context = context + call.taint[..., None].to(context.dtype)
    return context if spoilt is None else context + spoilt.to(context.dtype)


def _is_a_step(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """One query for each row, as in a search on the CPU, for keys enough, and nobody learns from it."""
    return (
        q.shape[-2] == 1
        and q.device.type == "cpu"
        and k.shape[-2] * k.shape[-1] >= BATCHED
        and not (torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v)))
        and is_at_hand(q)
    )


def _step(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """The same as two batched products: torch's fused kernel is made for many queries to a row."""
    shape = q.shape
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    weights = torch.bmm(q * scale, k.mT).softmax(-1)
    return torch.bmm(weights, v).view(*shape[:-1], v.shape[-1])


class KernelMask(NamedTuple):
    """What the kernel is told, and what is done to its rows afterwards."""

    mask: Tensor | None  # bool, or added to the scores
    causal: bool
    empty: Tensor | None  # (..., Lq or 1): rows that become 0
    spoilt: Tensor | None  # (..., Lq or 1, 1): NaN for the rows that become NaN, else 0


def _kernel_mask(call: AttentionCall, temperature: float) -> KernelMask:
    """Inside the kernel no row is empty: its query is 0, or it looks everywhere, to no effect."""
    limits, bias = call.limits, call.bias
    patterns = limits.patterns or []
    causal = bias is None and limits.mask is None and len(patterns) == 1 and patterns[0].is_causal
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
        # a NaN inside the kernel would reach the gradients of all keys: 0 times NaN is NaN
        nothing = (empty | spoilt.isnan())[..., None]
        ours = allowed is not None and is_at_hand(bias) and is_at_hand(nothing)
        bias = bias.masked_fill_(nothing, 0.0) if ours else bias.masked_fill(nothing, 0.0)
        return KernelMask(bias, causal, empty, spoilt[..., None])
    if allowed is None or call.no_row_is_empty or (rows := limits.rows) is None:
        return KernelMask(allowed, causal, None, None)
    empty = ~rows
    return KernelMask(allowed | empty[..., None], causal, empty, None)


def by_kernel(call: AttentionCall) -> Tensor:
    """The fused kernel of a region, or torch's with ours in reserve."""
    taken = call.for_kernel
    assert taken is not None
    return taken.run(call.query, call.key, call.value, call.limits.mask, call.bias, call.sinks)[0]


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
    mask = key_mask(call) if call.limits.mask is not None or keys % pattern.rate else None
    dealt = call.rearranged(
        deal(call.query, pattern.rate),
        deal(call.key, pattern.rate),
        deal(call.value, pattern.rate),
        None if mask is None else deal(mask.mT, pattern.rate).mT,
        pattern.strided(),
        None if call.bias is None else dealt_bias(call.bias, pattern.rate, queries),
    )
    return collect(dealt.compute()[0], pattern.rate, queries)


def blocks(call: AttentionCall) -> Tensor:
    """-after <= i - j <= before: blocks of queries, each with the span of keys it can see. O(L · w)"""
    (pattern,), queries = call.patterns, call.query.shape[-2]
    cut = call.rearranged(
        cut_queries(call.query, pattern),
        spans(call.key, pattern, queries),
        spans(call.value, pattern, queries),
        span_mask(call, pattern),
        Pattern(),
        None if call.bias is None else cut_bias(call.bias, pattern, queries),
    )
    return join(cut.compute()[0], queries)


def sparse(call: AttentionCall) -> Tensor:
    """Near keys in blocks and spread keys dealt out, under one normaliser. O(L · (w + L / rate))"""
    near, far = call.patterns
    queries, keys, rate = call.query.shape[-2], call.key.shape[-2], far.rate
    q, k = at_least_single(call.query), at_least_single(call.key)
    near_scores = join(call.score.pair(cut_queries(q, near), spans(k, near, queries)), queries)
    far_scores = collect(call.score.pair(deal(q, rate), deal(k, rate)), rate, queries)
    near_scores, far_scores = _capped(near_scores, call.cap), _capped(far_scores, call.cap)

    # the spread keys of query i stand at j = (i + offset) mod rate, + rate, + 2 rate, ...
    at = torch.arange(queries, device=q.device) + far.offset
    column = torch.arange(far_scores.shape[-1], device=q.device)
    place = at[:, None] % rate + rate * column
    far_allowed = far.holds(at[:, None] - place) & ~near.holds(at[:, None] - place)
    mask = nn.functional.pad(key_mask(call).squeeze(-2), (0, -keys % rate))  # (..., keys)
    far_allowed = far_allowed & mask[..., place]

    near_allowed = join(span_mask(call, near), queries)
    lead = broadcast(near_allowed.shape[:-1], far_allowed.shape[:-1])
    allowed = torch.cat([x.expand(*lead, x.shape[-1]) for x in (near_allowed, far_allowed)], -1)
    scores, spoilt = torch.cat([near_scores, far_scores], -1), None
    if call.bias is not None:
        rows = call.bias.expand(*call.bias.shape[:-2], queries, keys)
        parts = (
            join(cut_bias(rows, near, queries), queries),
            collect(dealt_bias(rows, rate, queries), rate, queries),
        )
        bias, allowed, spoilt = split_bias(torch.cat(parts, -1), allowed)
        scores = scores + bias
    scores = scores.expand(broadcast(scores.shape, allowed.shape))
    weights, _ = _normalized(call, scores, allowed)
    weights = _drop(weights.to(call.value.dtype), call)
    near_weights, far_weights = weights.split([near_scores.shape[-1], far_scores.shape[-1]], -1)
    from_near = cut_queries(near_weights, near) @ spans(call.value, near, queries)
    from_far = deal(far_weights, rate) @ deal(call.value, rate)
    context = join(from_near, queries) + collect(from_far, rate, queries)
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


def _widen(x: Tensor, to: int) -> Tensor:
    """Zeros at the end of the features."""
    return nn.functional.pad(x, (0, to - x.shape[-1])) if to > x.shape[-1] else x


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
