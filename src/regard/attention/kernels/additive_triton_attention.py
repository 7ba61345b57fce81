"""Additive attention on CUDA in linear memory:  context_i = Σ_j softmax_j(scale · s_ij) value_j.

Both ways go by bands of queries, so that no more than a bounded number of scores exist at a time. Scores
and their softmax are two kernels: together they need so many registers that each slows the other down.

Forward: a band's scores, then one pass over its keys with a running maximum, sum and context.
Backward, from lse_i = log Σ_j e^{scale · s_ij}:

    p = e^{scale · s − lse}            dvalue = pᵀ · dcontext
    dp = dcontext · valueᵀ             ds = scale · p (dp − Σ_j p dp)

and ds goes on to the gradients of the scores.

query (N, Lq, D), key (N, Lk, D), value (N, Lk, Dv), weight (G, D); mask bool (M, 1 or Lq, Lk), row n uses
mask[n // (N / M)]. Key j is open to query i if the mask says so and
i + offset − before <= j <= i + offset + after, −1 for no bound. What a mask hides from all may be NaN.
"""

# ruff: noqa: N803, N806  (sizes and compile-time constants are capitals)

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.attention.kernels import additive_torch
from regard.attention.kernels.additive_triton_gradient import (
    PROGRAMS,
    Band,
    KernelWindow,
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

BAND = 1 << 26  # pairs of a band: 256 MB of scores; backward, of p and of ds

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
        place += j.to(tl.int64) * mask_column
        allowed = allowed & (tl.load(place, mask=allowed, other=0) != 0)
    return allowed


@triton.jit
def values_kernel(
    scores, v, context, lse, Lq, Lk, Dv, N, x_start, x_count, y_start, y_count, before, after, offset, parts,
    ROWS: tl.constexpr, KEYS: tl.constexpr, VALUES: tl.constexpr,
):  # fmt: skip
    """context[p,n,i] = softmax of a band's scores @ value, and its lse, over the p-th part of the keys.

    One pass with a running maximum and sum, in powers of two.
    """
    rows = tl.cdiv(x_count, ROWS)
    pid = tl.program_id(0)
    d = (pid % tl.cdiv(Dv, VALUES)) * VALUES + tl.arange(0, VALUES)
    pid //= tl.cdiv(Dv, VALUES)
    x = (pid % rows) * ROWS + tl.arange(0, ROWS)
    part = pid // rows % parts
    n = (pid // (rows * parts)).to(tl.int64)
    i0 = x_start + (pid % rows) * ROWS
    last = tl.minimum(i0 + ROWS, Lq) - 1
    low, high = window_of(
        i0, last, before, after, offset, y_start, tl.minimum(y_start + y_count, Lk)
    )
    low, high = share(low, high, part, parts, KEYS)

    top = tl.full([ROWS], -float("inf"), tl.float32)
    norm = tl.zeros([ROWS], tl.float32)
    out = tl.zeros([ROWS, VALUES], tl.float32)
    for j0 in range(low, high, KEYS):
        y = j0 - y_start + tl.arange(0, KEYS)
        place = scores + (n * x_count + x[:, None]) * y_count + y[None, :]
        s = tl.load(place, mask=(x < x_count)[:, None], other=-float("inf")) * _LOG2E
        higher = tl.maximum(top, tl.max(s, 1))
        base = tl.where(higher == -float("inf"), 0.0, higher)  # a row without keys so far
        p = tl.exp2(s - base[:, None])
        shrink = tl.exp2(top - base)
        norm = norm * shrink + tl.sum(p, 1)
        j = j0 + tl.arange(0, KEYS)
        place = v + (n * Lk + j[:, None]) * Dv + d[None, :]
        value = tl.load(place, mask=(j < Lk)[:, None] & (d < Dv)[None, :], other=0.0)
        value = value.to(tl.float32)
        out = tl.dot(p, value, out * shrink[:, None], input_precision="tf32x3")
        top = higher
    empty = norm == 0.0
    norm = tl.where(empty, 1.0, norm)
    row = (part * N + n) * x_count + x
    log = tl.where(empty, -float("inf"), (top + tl.log2(norm)) * _LN2)
    tl.store(lse + row, log, mask=x < x_count)
    place = context + row[:, None] * Dv + d[None, :]
    tl.store(place, out / norm[:, None], mask=(x < x_count)[:, None] & (d < Dv)[None, :])


@triton.jit
def band_kernel(
    q, k, w, power_q, power_k, peak_q, peak_k, level, total, mask, lse, delta, ds, weights,
    Lq, Lk, D, Lqp, Lkp, Dp, G, x_start, x_count, y_start, y_count, scale, before, after, offset,
    mask_each, mask_batch, mask_row, mask_column,
    MASKED: tl.constexpr, BACKWARD: tl.constexpr,
    RM: tl.constexpr, RN: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """For queries from x_start and keys from y_start, both bands padded to whole tiles:

    forward: weights = scale · s, −∞ where closed; a tile wholly outside the window is left alone
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
            n, n % G, i0, j0, Lq, Lk, D, Lqp, Lkp, Dp, RM, RN, TM, TN, UNROLL,
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
    elif BACKWARD:
        nothing = tl.zeros([TM * RM, TN * RN], tl.float32)
        tl.store(weights + place, nothing)
        tl.store(ds + place, nothing)


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
    window: KernelWindow

    @classmethod
    def prepare(cls, query, key, weight, mask, scale, window) -> Scores:
        key = key if mask is None else additive_torch.hide(key, mask)
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
        return (
            len(self.query) // len(self.mask),
            batch,
            row if self.mask.shape[1] > 1 else 0,
            column,
        )

    def bands(self) -> Iterator[tuple[Band, Band]]:
        """Bands of queries with the keys in their reach, starts and counts in whole blocks."""
        N, Lq, _ = self.query.shape
        Lk, (before, after, offset) = self.key.shape[1], self.window
        size = max(1, BAND // (N * Lk * BLOCK)) * BLOCK
        tile = patch_for(Lq).rows
        for first in range(0, Lq, size):
            last = min(first + size, Lq) - 1
            low = max(0, first + offset - before) if before >= 0 else 0
            high = min(Lk, last + offset + after + 1) if after >= 0 else Lk
            low = low // BLOCK * BLOCK
            queries = Band(first, round_up(last + 1 - first, tile))
            if high > low:
                yield queries, Band(low, round_up(high - low, BLOCK))

    def band(self, xs: Band, ys: Band, lse=None, delta=None, ds=None) -> Tensor:
        """(N, xs.length, ys.length): scaled scores, −∞ where closed; given lse, weights, and ds in place."""
        N = len(self.query)
        weights = self.query.new_empty((N, xs.length, ys.length), dtype=torch.float32)
        patch = patch_for(self.query.shape[1])
        backward = lse is not None
        band_kernel[(N * (xs.length // patch.rows) * (ys.length // patch.columns),)](
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
    if query.dtype == torch.float64:
        band = before, after, offset
        return additive_torch.attention(query, key, value, weight, mask, scale, *band)
    (N, Lq, _), (Lk, Dv) = query.shape, value.shape[1:]
    context = value.new_zeros((N, Lq, Dv))
    lse = value.new_full((N, Lq), -torch.inf, dtype=torch.float32)
    if lse.numel() == 0 or Lk == 0 or Dv == 0:
        return context, lse
    prepared = Scores.prepare(query, key, weight, mask, scale, KernelWindow(before, after, offset))
    value = (value if mask is None else additive_torch.hide(value, mask)).contiguous()
    for xs, ys in prepared.bands():
        rows = xs.inside(Lq)
        band_context, band_lse = weighted_values(prepared, value, xs, ys)
        context[:, rows] = band_context[:, : rows.stop - rows.start]
        lse[:, rows] = band_lse[:, : rows.stop - rows.start]
    return context, lse


def weighted_values(prepared: Scores, value: Tensor, xs: Band, ys: Band) -> tuple[Tensor, Tensor]:
    """context (N, xs.length, Dv) and lse (N, xs.length) of a band, in float32"""
    N, Lk, Dv = value.shape
    rows, widths = min(32, xs.length), min(64, max(16, triton.next_power_of_2(Dv)))
    programs = N * triton.cdiv(xs.length, rows) * triton.cdiv(Dv, widths)
    parts = min(triton.cdiv(ys.length, BLOCK), max(1, PROGRAMS // programs))
    context = value.new_empty((parts, N, xs.length, Dv), dtype=torch.float32)
    lse = value.new_empty((parts, N, xs.length), dtype=torch.float32)
    values_kernel[(programs * parts,)](
        prepared.band(xs, ys), value, context, lse, prepared.query.shape[1], Lk, Dv, N, *xs, *ys,
        *prepared.window, parts, ROWS=rows, KEYS=32, VALUES=widths, num_warps=2, num_stages=2,
    )  # fmt: skip
    if parts == 1:
        return context[0], lse[0]
    whole = lse.logsumexp(0)
    finite = whole.clamp_min(torch.finfo(torch.float32).min)  # −∞ − −∞ is no number
    part_weight = torch.exp(lse - finite)
    return context.mul_(part_weight[..., None]).sum(0), whole


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
    if query.dtype == torch.float64:
        inputs = query, key, value, weight, mask, context, lse, scale, before, after, offset
        return additive_torch.attention_backward(grad_context, *inputs)
    gradients = [
        torch.zeros_like(x, dtype=torch.float32, memory_format=torch.contiguous_format)
        for x in (query, key, value, weight)
    ]
    if lse.numel() and key.shape[1]:
        prepared = Scores.prepare(
            query, key, weight, mask, scale, KernelWindow(before, after, offset)
        )
        hidden = value if mask is None else additive_torch.hide(value, mask)
        grad, value32 = grad_context.float(), hidden.float()
        delta = (grad * context).sum(-1)
        with torch.autocast(query.device.type, enabled=False):
            add_gradients(prepared, value32, grad, lse.contiguous(), delta, *gradients)
    d_query, d_key, d_value, d_weight = gradients
    return (
        d_query.to(query.dtype), d_key.to(key.dtype), d_value.to(value.dtype), d_weight.to(weight.dtype),
    )  # fmt: skip


def add_gradients(
    prepared: Scores,
    value: Tensor,
    grad: Tensor,
    lse: Tensor,
    delta: Tensor,
    d_query: Tensor,
    d_key: Tensor,
    d_value: Tensor,
    d_weight: Tensor,
) -> None:
    """Adds each band's share; delta_i = Σ_j p_ij dp_ij = dcontext_i · context_i."""
    query, key, weight, window = prepared.query, prepared.key, prepared.weight, prepared.window
    E, F = exponentials(query, row_major=True), exponentials(key, row_major=True)
    for xs, ys in prepared.bands():
        rows, columns = xs.inside(query.shape[1]), ys.inside(key.shape[1])
        m, n = rows.stop - rows.start, columns.stop - columns.start
        ds = grad[:, rows] @ value[:, columns].mT
        if (m, n) != (xs.length, ys.length):
            ds = torch.nn.functional.pad(ds, (0, ys.length - n, 0, xs.length - m))
        p = prepared.band(xs, ys, lse, delta, ds)
        d_value[:, columns] += p[:, :m, :n].mT @ grad[:, rows]
        del p
        of_query, of_weight = gradient(
            ds, query, key, weight, E, F, xs=xs, ys=ys, window=window, with_weight=True
        )
        d_query[:, rows] += of_query[:, :m]
        d_weight += of_weight
        of_key, _ = gradient(ds.mT, key, query, weight, F, E, xs=ys, ys=xs, window=window.swapped())
        d_key[:, columns] += of_key[:, :n]
