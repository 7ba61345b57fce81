"""Additive attention on CUDA in linear memory:  context_i = Σ_j softmax_j(scale · s_ij) value_j.

Forward: one pass over the keys with a running maximum and sum. Few queries or wide values go by bands of
queries instead: a band's scores, their softmax, a matrix product.

Backward, by bands of queries, from lse_i = log Σ_j e^{scale · s_ij}:

    p = e^{scale · s − lse}    dp = dcontext · valueᵀ    ds = scale · p (dp − Σ_j p dp)    dvalue = pᵀ dcontext

and ds goes on to the gradients of the scores. A band holds p and ds of a bounded number of pairs.

query (N, Lq, D), key (N, Lk, D), value (N, Lk, Dv), weight (G, D); mask bool (M, 1 or Lq, Lk), row n uses
mask[n // (N / M)]. Key j is open to query i if the mask says so and
i + offset − before <= j <= i + offset + after, −1 for no bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.attention.kernels.additive_triton_gradient import (
    PROGRAMS,
    Band,
    Window,
    gradient,
    share,
    window_of,
)
from regard.attention.kernels.additive_triton_tiles import (
    BLOCK,
    Exponentials,
    Folded,
    exponentials,
    fold_weights,
    patch_for,
    round_up,
    score_tile,
)

BAND = 1 << 24  # pairs of a band: 64 MB for each of p and ds
WIDEST = 128  # values wider than this leave the one-pass kernel too few registers

_LOG2E = tl.constexpr(1 / math.log(2))
_LN2 = tl.constexpr(math.log(2))


@triton.jit
def open_pairs(
    mask, n, i, j, Lq, Lk, before, after, offset, mask_each, mask_batch, mask_row, mask_column,
    MASKED: tl.constexpr,
):  # fmt: skip
    """(rows, columns) bool: which of the keys j each query i may attend to."""
    low = tl.where(before >= 0, i + offset - before, 0)
    high = tl.where(after >= 0, tl.minimum(i + offset + after + 1, Lk), Lk)
    high = tl.where(i < Lq, high, 0)
    j = j[None, :]
    allowed = (j >= low[:, None]) & (j < high[:, None])
    if MASKED:
        place = mask + (n // mask_each) * mask_batch + i[:, None].to(tl.int64) * mask_row
        allowed = allowed & (tl.load(place + j * mask_column, mask=allowed, other=0) != 0)
    return allowed


@triton.jit
def attention_kernel(
    q, k, w, power_q, power_k, peak_q, peak_k, level, total, v, mask, context, lse,
    Lq, Lk, D, Lqp, Lkp, Dp, G, Dv, N, scale, before, after, offset,
    mask_each, mask_batch, mask_row, mask_column, parts,
    MASKED: tl.constexpr, VALUES: tl.constexpr,
    RM: tl.constexpr, RN: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr,
):  # fmt: skip
    """context[p,n,i] and lse[p,n,i] over the p-th part of the keys."""
    rows = tl.cdiv(Lq, TM * RM)
    i0 = (tl.program_id(0) % rows) * (TM * RM)
    part = tl.program_id(0) // rows % parts
    n = (tl.program_id(0) // (rows * parts)).to(tl.int64)
    i = i0 + tl.arange(0, TM * RM)
    d = tl.arange(0, VALUES)
    last = tl.minimum(i0 + TM * RM, Lq) - 1
    low, high = window_of(i0, last, before, after, offset, 0, Lk)
    low, high = share(low, high, part, parts, TN * RN)

    top = tl.full([TM * RM], -float("inf"), tl.float32)  # in powers of two, like all that follows
    norm = tl.zeros([TM * RM], tl.float32)
    out = tl.zeros([TM * RM, VALUES], tl.float32)
    for j0 in range(low, high, TN * RN):
        s = score_tile(
            q, k, w, power_q, power_k, peak_q, peak_k, level, total,
            n, n % G, i0, j0, Lq, Lk, D, Lqp, Lkp, Dp, RM, RN, TM, TN,
        )  # fmt: skip
        j = j0 + tl.arange(0, TN * RN)
        allowed = open_pairs(
            mask, n, i, j, Lq, Lk, before, after, offset,
            mask_each, mask_batch, mask_row, mask_column, MASKED,
        )  # fmt: skip
        s = tl.where(allowed, s * (scale * _LOG2E), -float("inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        base = tl.where(higher == -float("inf"), 0.0, higher)  # a row without keys so far
        p = tl.exp2(s - base[:, None])
        shrink = tl.exp2(top - base)
        norm = norm * shrink + tl.sum(p, 1)
        place = v + n * Lk * Dv + j[:, None].to(tl.int64) * Dv + d[None, :]
        value = tl.load(place, mask=(j < Lk)[:, None] & (d < Dv)[None, :], other=0.0)
        p = p.to(value.dtype)
        out = tl.dot(p, value, out * shrink[:, None], input_precision="tf32x3")
        top = higher
    empty = norm == 0.0
    norm = tl.where(empty, 1.0, norm)
    row = (part * N + n) * Lq + i
    tl.store(lse + row, tl.where(empty, -float("inf"), (top + tl.log2(norm)) * _LN2), mask=i < Lq)
    place = context + row[:, None] * Dv + d[None, :]
    out = (out / norm[:, None]).to(context.dtype.element_ty)
    tl.store(place, out, mask=(i < Lq)[:, None] & (d < Dv)[None, :])


@triton.jit
def band_kernel(
    q, k, w, power_q, power_k, peak_q, peak_k, level, total, mask, lse, delta, ds, weights,
    Lq, Lk, D, Lqp, Lkp, Dp, G, x_start, x_count, y_start, y_count, scale, before, after, offset,
    mask_each, mask_batch, mask_row, mask_column,
    MASKED: tl.constexpr, BACKWARD: tl.constexpr,
    RM: tl.constexpr, RN: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr,
):  # fmt: skip
    """For queries from x_start and keys from y_start, both bands padded to whole tiles:

    forward: weights = scale · s, −∞ where closed
    backward: weights = p, and ds, which holds dp on entry
    """
    columns = y_count // (TN * RN)
    rows = x_count // (TM * RM)
    n = (tl.program_id(0) // (columns * rows)).to(tl.int64)
    x0 = (tl.program_id(0) // columns % rows) * (TM * RM)
    y0 = (tl.program_id(0) % columns) * (TN * RN)
    i0 = x_start + x0
    j0 = y_start + y0
    i = i0 + tl.arange(0, TM * RM)
    j = j0 + tl.arange(0, TN * RN)
    column = tl.arange(0, TN * RN)[None, :]
    place = (n * x_count + x0 + tl.arange(0, TM * RM)[:, None]) * y_count + y0 + column
    low, high = window_of(i0, i0 + TM * RM - 1, before, after, offset, 0, Lk)
    if (j0 < high) & (j0 + TN * RN > low):
        s = scale * score_tile(
            q, k, w, power_q, power_k, peak_q, peak_k, level, total,
            n, n % G, i0, j0, Lq, Lk, D, Lqp, Lkp, Dp, RM, RN, TM, TN,
        )  # fmt: skip
        allowed = open_pairs(
            mask, n, i, j, Lq, Lk, before, after, offset,
            mask_each, mask_batch, mask_row, mask_column, MASKED,
        )  # fmt: skip
        if BACKWARD:
            row = n * Lq + i
            log = tl.load(lse + row, mask=i < Lq, other=0.0)[:, None]
            mean = tl.load(delta + row, mask=i < Lq, other=0.0)[:, None]
            p = tl.where(allowed, tl.exp2((s - log) * _LOG2E), 0.0)
            dp = tl.load(ds + place, mask=allowed, other=0.0)
            tl.store(weights + place, p)
            tl.store(ds + place, scale * p * (dp - mean))
        else:
            tl.store(weights + place, tl.where(allowed, s, -float("inf")))
    else:
        nothing = tl.zeros([TM * RM, TN * RN], tl.float32)
        if BACKWARD:
            tl.store(weights + place, nothing)
            tl.store(ds + place, nothing)
        else:
            tl.store(weights + place, nothing - float("inf"))


class Scores(NamedTuple):
    """All that decides the scores, prepared once for the bands."""

    query: Tensor
    key: Tensor
    weight: Tensor
    folded: Folded
    E: Exponentials
    F: Exponentials
    mask: Tensor | None
    scale: float
    window: Window

    @classmethod
    def prepare(cls, query, key, weight, mask, scale, window) -> Scores:
        query, key, weight = query.contiguous(), key.contiguous(), weight.contiguous()
        folded = fold_weights(weight)
        E, F = exponentials(query, folded=folded), exponentials(key)
        return cls(query, key, weight, folded, E, F, mask, scale, window)

    @property
    def pointers(self) -> tuple[Tensor, ...]:
        E, F, folded = self.E, self.F, self.folded
        return (
            self.query, self.key, self.weight,
            E.power, F.power, E.peak, F.peak, folded.level, folded.total,
        )  # fmt: skip

    @property
    def sizes(self) -> tuple[int, ...]:
        E, F = self.E, self.F
        (_, Lq, D), Lk, G = self.query.shape, self.key.shape[1], self.weight.shape[0]
        return Lq, Lk, D, E.Lp, F.Lp, E.Dp, G

    @property
    def mask_bytes(self) -> Tensor:
        """Any pointer will do where there is no mask."""
        return self.query if self.mask is None else self.mask.view(torch.uint8)

    @property
    def mask_strides(self) -> tuple[int, int, int, int]:
        """Rows of the batch to a mask, and the mask's strides; 0 for a row that all queries share."""
        if self.mask is None:
            return 1, 0, 0, 0
        batch, row, column = self.mask.stride()
        return len(self.query) // len(self.mask), batch, row if self.mask.shape[1] > 1 else 0, column

    def bands(self) -> Iterator[tuple[Band, Band]]:
        """Bands of queries with the keys in their reach, starts and counts in whole blocks."""
        N, Lq, _ = self.query.shape
        Lk, (before, after, offset) = self.key.shape[1], self.window
        size = max(1, BAND // (N * Lk * BLOCK)) * BLOCK
        for first in range(0, Lq, size):
            last = min(first + size, Lq) - 1
            low = max(0, first + offset - before) if before >= 0 else 0
            high = min(Lk, last + offset + after + 1) if after >= 0 else Lk
            low = low // BLOCK * BLOCK
            queries = Band(first, round_up(last + 1 - first, BLOCK))
            if high > low:
                yield queries, Band(low, round_up(high - low, BLOCK))

    def band(self, xs: Band, ys: Band, lse=None, delta=None, ds=None) -> Tensor:
        """(N, xs.count, ys.count): scaled scores, −∞ where closed; or, given lse, the weights, and ds in place."""
        N = len(self.query)
        weights = self.query.new_empty((N, xs.count, ys.count), dtype=torch.float32)
        patch = patch_for(xs.count)
        backward = lse is not None
        band_kernel[(N * (xs.count // patch.rows) * (ys.count // patch.columns),)](
            *self.pointers, self.mask_bytes, *((lse, delta, ds) if backward else [weights] * 3), weights,
            *self.sizes, *xs, *ys, self.scale, *self.window, *self.mask_strides,
            MASKED=self.mask is not None, BACKWARD=backward, **patch.constants,
        )  # fmt: skip
        return weights


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor,
    mask: Tensor | None,
    scale: float,
    before: int,
    after: int,
    offset: int,
) -> tuple[Tensor, Tensor]:
    """context = softmax_j(scale · s) @ value over the open keys,  lse = log Σ_j e^{scale · s}

    -> context (N, Lq, Dv) in the dtype of value, lse (N, Lq) in float32; without open keys 0 and −∞
    """
    (N, Lq, D), (Lk, Dv) = query.shape, value.shape[1:]
    context = value.new_zeros((N, Lq, Dv))
    lse = value.new_full((N, Lq), -torch.inf, dtype=torch.float32)
    if lse.numel() == 0 or Lk == 0:
        return context, lse
    prepared = Scores.prepare(query, key, weight, mask, scale, Window(before, after, offset))
    if Lq < 16 or Dv > WIDEST or Dv == 0:
        return in_bands(prepared, value, context, lse)
    return in_one_pass(prepared, value.contiguous())


def in_one_pass(prepared: Scores, value: Tensor) -> tuple[Tensor, Tensor]:
    (N, Lq, _), (Lk, Dv) = prepared.query.shape, value.shape[1:]
    patch = patch_for(Lq)
    programs = N * triton.cdiv(Lq, patch.rows)
    parts = min(triton.cdiv(Lk, BLOCK), max(1, PROGRAMS // programs))
    context = value.new_empty((parts, N, Lq, Dv), dtype=torch.float32 if parts > 1 else None)
    lse = value.new_empty((parts, N, Lq), dtype=torch.float32)
    attention_kernel[(programs * parts,)](
        *prepared.pointers, value, prepared.mask_bytes, context, lse, *prepared.sizes, Dv, N,
        prepared.scale, *prepared.window, *prepared.mask_strides, parts,
        MASKED=prepared.mask is not None, VALUES=max(16, triton.next_power_of_2(Dv)),
        **patch.constants,
    )  # fmt: skip
    if parts == 1:
        return context[0], lse[0]
    whole = lse.logsumexp(0)
    part_weight = torch.exp(lse - whole.clamp_min(torch.finfo(torch.float32).min))  # −∞ − −∞ is no number
    return (part_weight[..., None] * context).sum(0).to(value.dtype), whole


def in_bands(
    prepared: Scores, value: Tensor, context: Tensor, lse: Tensor
) -> tuple[Tensor, Tensor]:
    for xs, ys in prepared.bands():
        rows, columns = xs.inside(context.shape[1]), ys.inside(value.shape[1])
        s = prepared.band(xs, ys)[:, : rows.stop - rows.start, : columns.stop - columns.start]
        log = s.logsumexp(-1)
        p = torch.exp(s - log.clamp_min(torch.finfo(torch.float32).min)[..., None])
        context[:, rows] = (p @ value[:, columns].float()).to(context.dtype)
        lse[:, rows] = log
    return context, lse


def attention_backward(
    grad_context: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor,
    mask: Tensor | None,
    context: Tensor,
    lse: Tensor,
    scale: float,
    before: int,
    after: int,
    offset: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of `attention`'s context -> as query, key, value, weight; 0 for a query without open keys"""
    d_query, d_key, d_value, d_weight = (
        torch.zeros_like(x, dtype=torch.float32, memory_format=torch.contiguous_format)
        for x in (query, key, value, weight)
    )
    if lse.numel() and key.shape[1]:
        all_open = Window(before, after, offset)
        prepared = Scores.prepare(query, key, weight, mask, scale, all_open)
        query_, key_, weight_ = prepared.query, prepared.key, prepared.weight
        E, F = exponentials(query_, row_major=True), exponentials(key_, row_major=True)
        lse, grad = lse.contiguous(), grad_context.float()
        delta = (grad * context).sum(-1)
        for xs, ys in prepared.bands():
            rows, columns = xs.inside(query.shape[1]), ys.inside(key.shape[1])
            ds = query.new_empty((len(query), xs.count, ys.count), dtype=torch.float32)
            ds[:, : rows.stop - rows.start, : columns.stop - columns.start] = (
                grad[:, rows] @ value[:, columns].float().mT
            )
            p = prepared.band(xs, ys, lse, delta, ds)
            p = p[:, : rows.stop - rows.start, : columns.stop - columns.start]
            d_value[:, columns] += p.mT @ grad[:, rows]
            del p
            of_query, of_weight = gradient(
                ds, query_, key_, weight_, E, F, xs=xs, ys=ys, window=all_open, with_weight=True
            )
            of_key, _ = gradient(
                ds.mT, key_, query_, weight_, F, E, xs=ys, ys=xs, window=all_open.swapped()
            )
            d_query[:, rows] = of_query[:, : rows.stop - rows.start]
            d_key[:, columns] += of_key[:, : columns.stop - columns.start]
            d_weight += of_weight
    return (
        d_query.to(query.dtype), d_key.to(key.dtype), d_value.to(value.dtype), d_weight.to(weight.dtype),
    )  # fmt: skip
