"""The paths: every way in which an attention is computed. `dense` is the definition of all of them.

Legend: q (..., Lq, D) and k (..., Lk, D) are projected; v (..., Lk, Dv); the context is (..., Lq, Dv).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor, nn

from regard.attention.kernels.additive import additive_attention
from regard.attention.limits import Limits
from regard.attention.normalizers import Choice, Normalizer, Softmax, clear
from regard.attention.plan import Case, Plan, block_size, choose, sparse_parts
from regard.attention.region import Pattern
from regard.attention.regions import Fixed
from regard.attention.scores import Additive, DotLike, Score
from regard.attention.select import without
from regard.attention.shapes import at_least_single, broadcast, of_rank


@dataclass(frozen=True)
class Problem:
    """One attention to be computed: what `Case` says of it, with the tensors."""

    score: Score
    normalize: Normalizer
    q: Tensor
    k: Tensor
    v: Tensor
    limits: Limits
    factor: Tensor | None = None  # the Gaussian of a predicted window
    renormalize: bool = False
    dropout: float = 0.0  # 0 when not training
    training: bool = False
    weights: bool = False
    generator: Generator | None = None
    no_row_is_empty: bool = False  # somebody vouches for it

    @property
    def lead(self) -> tuple[int, ...]:
        shapes = [x.shape[:-2] for x in (self.q, self.k, self.v)]
        if self.limits.mask is not None:
            shapes.append(self.limits.mask.shape[:-2])
        return broadcast(*shapes)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Of a path that is only taken when the region is a union of patterns."""
        assert self.limits.patterns is not None
        return tuple(self.limits.patterns)

    def case(self) -> Case:
        patterns = self.limits.patterns
        mask = "no" if self.limits.mask is None else "keys" if self.limits.by_key else "pairs"
        return Case(
            score=self.score,
            normalize=self.normalize,
            lead=self.lead,
            queries=self.q.shape[-2],
            keys=self.k.shape[-2],
            size=self.k.shape[-1],
            value_size=self.v.shape[-1],
            dtype=self.q.dtype,
            device=self.q.device,
            patterns=None if patterns is None else tuple(patterns),
            masked=mask,
            soft_region=self.factor is not None,
            weights=self.weights,
            dropout=self.dropout,
            generator=self.generator is not None,
        )

    def smaller(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, pattern: Pattern
    ) -> Problem:
        """The same attention over rearranged tensors."""
        limits = Limits(Fixed(pattern), mask, q.shape[-2], k.shape[-2], q.device)
        return replace(self, q=q, k=k, v=v, limits=limits)


def solve(problem: Problem) -> tuple[Tensor, Tensor | None, Choice | None]:
    """Context, and the weights and the choice where they were asked for."""
    return run(choose(problem.case()), problem)


def run(plan: Plan, problem: Problem) -> tuple[Tensor, Tensor | None, Choice | None]:
    if plan.path in ("dense", "additive"):  # Additive pairs by its kernel
        return dense(problem)
    paths = {
        "one-row": one_row,
        "strided": strided,
        "blocks": blocks,
        "sparse": sparse,
        "sdpa": sdpa,
        "additive-fused": additive_fused,
    }
    return paths[plan.path](problem), None, None


def dense(problem: Problem) -> tuple[Tensor, Tensor | None, Choice | None]:
    """context = normalize(score(q, k) where allowed) @ v"""
    q, k, v = problem.q, problem.k, problem.v
    allowed = problem.limits.allowed
    if problem.normalize.needs_scores:
        scores = problem.score.pair(at_least_single(q), at_least_single(k))
    else:
        shape = broadcast(q.shape[:-2], k.shape[:-2])
        scores = at_least_single(q.new_zeros(())).expand(*shape, q.shape[-2], k.shape[-2])
    if allowed is not None and allowed.shape != scores.shape:
        scores = scores.expand(broadcast(scores.shape, allowed.shape))
    weights, choice = problem.normalize(
        scores, allowed, training=problem.training, generator=problem.generator
    )
    if problem.factor is not None:
        weights = clear(weights * problem.factor, allowed)
        if problem.renormalize:
            total = weights.sum(-1, keepdim=True)
            weights = weights / total.masked_fill(total == 0, 1.0)
    weights = weights.to(v.dtype)
    context = _drop(weights, problem) @ v
    if problem.weights:
        return context, weights.expand(*problem.lead, *weights.shape[-2:]), choice
    return context, None, choice


def one_row(problem: Problem) -> Tensor:
    """A score in which the query cancels: the query 0 stands for all, and each may spoil its own row."""
    q, size = problem.q, problem.score.query_size
    assert size is not None
    nobody = problem.score.project_query(q.new_zeros(*(1,) * (q.dim() - 2), 1, size))
    row = problem.smaller(
        of_rank(nobody, q.dim()), problem.k, problem.v, problem.limits.mask, Pattern()
    )
    spoilt = (q - q).sum(-1, keepdim=True)  # 0, as is its gradient, or NaN
    if (rows := problem.limits.rows) is not None:
        spoilt = spoilt.masked_fill(~rows[..., None], 0.0)
    return solve(row)[0] + spoilt


def sdpa(problem: Problem) -> Tensor:
    """softmax(scale · q · k) @ v by torch's fused kernels."""
    q, k, v, lead = problem.q, problem.k, problem.v, problem.lead
    assert isinstance(problem.score, DotLike)
    assert isinstance(problem.normalize, Softmax)
    scale = problem.score.scale(k.shape[-1]) / problem.normalize.temperature
    value_width = v.shape[-1]
    width = max(k.shape[-1], value_width)  # the fused kernels want one for keys and values
    q, k, v = (_widen(x, width) for x in (q, k, v))
    causal = problem.limits.mask is None and problem.limits.patterns == [Pattern(after=0)]
    allowed = None if causal else problem.limits.allowed
    empty = None
    if allowed is not None and not problem.no_row_is_empty:
        rows = problem.limits.rows
        empty = None if rows is None else ~rows
    if allowed is not None and empty is not None:
        # inside the kernel no row is empty: its query is 0 and looks everywhere, to no effect
        allowed = allowed | empty[..., None]
    if allowed is not None:
        allowed = _four_axes(allowed, lead, keep_one=True)
    q, k, v = (_four_axes(x, lead) for x in (q, k, v))
    context = nn.functional.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=allowed,
        dropout_p=problem.dropout,
        is_causal=causal,
        scale=scale,
    )
    if width > value_width:
        context = context[..., :value_width]
    if len(lead) != 2:
        context = context.reshape(*lead, *context.shape[-2:])
    context = context if empty is None else without(context, empty)
    if (
        context.device.type == "cpu"
    ):  # with few keys, torch's kernel answers 0 to a query that is NaN
        asked = problem.q.detach()
        context = context + (asked - asked).sum(-1, keepdim=True)
    return context


def additive_fused(problem: Problem) -> Tensor:
    """softmax(v · tanh(q + k)) @ v without ever holding Lq × Lk scores."""
    assert isinstance(problem.score, Additive)
    assert isinstance(problem.normalize, Softmax)
    lead, pattern, mask = problem.lead, problem.patterns[0], problem.limits.mask
    count = math.prod(lead)
    q, k, v = (
        x.expand(*lead, *x.shape[-2:]).reshape(count, *x.shape[-2:])
        for x in (problem.q, problem.k, problem.v)
    )
    if mask is not None:
        mask = _fold_mask(mask, lead)
    context, _ = additive_attention(
        q,
        k,
        v,
        problem.score.rows,
        mask=mask,
        scale=1.0 / problem.normalize.temperature,
        before=-1 if pattern.before == math.inf else int(pattern.before),
        after=-1 if pattern.after == math.inf else int(pattern.after),
        offset=pattern.offset,
    )
    return context.reshape(*lead, *context.shape[-2:])


def strided(problem: Problem) -> Tensor:
    """(i - j) mod rate = 0: deal queries and keys out `rate` ways, attend, collect. O(L² / rate)"""
    pattern, queries, keys = problem.patterns[0], problem.q.shape[-2], problem.k.shape[-2]
    mask = _key_mask(problem) if problem.limits.mask is not None or keys % pattern.rate else None
    dealt = problem.smaller(
        _deal(problem.q, pattern.rate),
        _deal(problem.k, pattern.rate),
        _deal(problem.v, pattern.rate),
        None if mask is None else _deal(mask.mT, pattern.rate).mT,
        pattern.strided(),
    )
    return _collect(solve(dealt)[0], pattern.rate, queries)


def blocks(problem: Problem) -> Tensor:
    """-after <= i - j <= before: blocks of queries, each with the span of keys it can see. O(L · w)"""
    (pattern,), queries = problem.patterns, problem.q.shape[-2]
    cut = problem.smaller(
        _cut_queries(problem.q, pattern),
        _spans(problem.k, pattern, queries),
        _spans(problem.v, pattern, queries),
        _span_mask(problem, pattern),
        Pattern(),
    )
    return _join(solve(cut)[0], queries)


def sparse(problem: Problem) -> Tensor:
    """Near keys in blocks and spread keys dealt out, under one normaliser. O(L · (w + L / rate))"""
    near, far = problem.patterns
    queries, keys, rate = problem.q.shape[-2], problem.k.shape[-2], far.rate
    near_case, _ = sparse_parts(problem.case())
    q, k = at_least_single(problem.q), at_least_single(problem.k)
    near_scores = _join(
        problem.score.pair(_cut_queries(q, near), _spans(k, near, queries)), queries
    )
    far_scores = _collect(problem.score.pair(_deal(q, rate), _deal(k, rate)), rate, queries)

    # the spread keys of query i stand at j = (i + offset) mod rate, + rate, + 2 rate, ...
    at = torch.arange(queries, device=q.device) + far.offset
    column = torch.arange(far_scores.shape[-1], device=q.device)
    place = at[:, None] % rate + rate * column
    far_allowed = far.holds(at[:, None] - place) & ~near.holds(at[:, None] - place)
    mask = nn.functional.pad(_key_mask(problem).squeeze(-2), (0, -keys % rate))  # (..., keys)
    far_allowed = far_allowed & mask[..., place]

    near_allowed = _join(_span_mask(problem, near), queries)
    lead = broadcast(near_allowed.shape[:-1], far_allowed.shape[:-1])
    allowed = torch.cat([x.expand(*lead, x.shape[-1]) for x in (near_allowed, far_allowed)], -1)
    scores = torch.cat([near_scores, far_scores], -1)
    scores = scores.expand(broadcast(scores.shape, allowed.shape))
    weights, _ = problem.normalize(scores, allowed)
    weights = _drop(weights.to(problem.v.dtype), problem)
    near_weights, far_weights = weights.split([near_case.keys, far_scores.shape[-1]], -1)
    from_near = _cut_queries(near_weights, near) @ _spans(problem.v, near, queries)
    from_far = _deal(far_weights, rate) @ _deal(problem.v, rate)
    return _join(from_near, queries) + _collect(from_far, rate, queries)


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


def _span_mask(problem: Problem, pattern: Pattern) -> Tensor:
    """(..., blocks, H or 1, size, span): the band inside a block, and which keys exist."""
    size, width = block_size(pattern), int(pattern.before + pattern.after)
    i = torch.arange(size, device=problem.q.device)[:, None]
    c = torch.arange(size + width, device=problem.q.device)
    exists = _spans(_key_mask(problem).mT, pattern, problem.q.shape[-2]).mT
    return exists & (i <= c) & (c <= i + width)


def _lengthen(x: Tensor, by: int) -> Tensor:
    """Zeros at the end of the length; nothing is copied for nothing."""
    return nn.functional.pad(x, (0, 0, 0, by)) if by else x


def _widen(x: Tensor, to: int) -> Tensor:
    """Zeros at the end of the features."""
    return nn.functional.pad(x, (0, to - x.shape[-1])) if to > x.shape[-1] else x


def _lift(x: Tensor) -> Tensor:
    return x.transpose(-3, -4) if x.dim() > 3 else x


def _key_mask(problem: Problem) -> Tensor:
    """Which keys exist, with as many axes as the tensors: (..., 1, Lk)."""
    mask, lead = problem.limits.mask, problem.lead
    if mask is None:
        mask = torch.ones(1, problem.k.shape[-2], dtype=torch.bool, device=problem.q.device)
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


def _drop(weights: Tensor, problem: Problem) -> Tensor:
    if not problem.dropout:
        return weights
    if problem.generator is None:
        return nn.functional.dropout(weights, problem.dropout)
    draw = torch.rand(
        weights.shape, generator=problem.generator, device=weights.device, dtype=torch.float32
    )
    return weights * (draw >= problem.dropout) / (1 - problem.dropout)
