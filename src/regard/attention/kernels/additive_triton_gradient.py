"""Gradients of additive scores on CUDA, recomputed from the inputs and summed in a fixed order.

    s_ij = Σ_d w_d tanh(x_id + y_jd) = Σ_d w_d (1 − 2r),    r = 1 / (1 + e^{2x} e^{2y})
    d tanh = 4 r (1 − r)

One kernel serves both sides, x and y being query and key or key and query: a thread keeps its x, runs
over the y, and gets two r for one reciprocal, r0 = u1 / (u0 u1) and r1 = u0 / (u0 u1).
"""

# ruff: noqa: N803, N806  (sizes and compile-time constants are capitals)

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.attention.kernels.additive_triton_tiles import (
    _BITS,
    _BLOCK,
    _HIGHEST,
    _TWO_LOG2E,
    BLOCK,
    Exponentials,
    fraction,
    reciprocal,
)

PROGRAMS = 1024  # fills a large GPU: 8 blocks of 128 threads on each of 132 processors


@triton.jit
def window_of(first, last, before, after, offset, start, end):
    """The positions [low, high) inside [start, end) that some row of first..last may reach."""
    low = tl.where(before >= 0, tl.maximum(first + offset - before, start), start)
    high = tl.where(after >= 0, tl.minimum(last + offset + after + 1, end), end)
    return low, tl.maximum(low, high)


@triton.jit
def share(low, high, part, parts, SIZE: tl.constexpr):
    """The part-th of parts equal runs of SIZE-blocks that cover [low, high)."""
    first = low // SIZE
    count = tl.where(high > low, tl.cdiv(high, SIZE) - first, 0)
    each = tl.cdiv(count, parts)
    begin = first + tl.minimum(part * each, count)
    return begin * SIZE, tl.minimum(begin + each, first + count) * SIZE


@triton.jit
def gradient_kernel(
    grad, x, y, weight, power_x, power_y, peak_x, peak_y, out, out_weight,
    Lx, Ly, D, Lxp, Lyp, Dp, G, N, x_start, x_count, y_start, y_count, before, after, offset,
    grad_batch, grad_x, grad_y, parts,
    CHECKED: tl.constexpr, WEIGHT: tl.constexpr, ROWS: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    """out[p,n,i,d] = 4 w_d Σ_j grad_ij r (1 − r),  out_weight[p,n,block,d] = Σ_ij grad_ij (1 − 2r),

    r = 1 / (1 + e^{2x_i} e^{2y_j}); (x, y) is (query, key) or (key, query), p a part of the y's.
    grad holds rows x_start.. and columns y_start.. alone.
    """
    pid = tl.program_id(0)
    d = (pid % (Dp // FEATURES)) * FEATURES + tl.arange(0, FEATURES)
    pid //= Dp // FEATURES
    blocks = tl.cdiv(x_count, ROWS)
    block = pid % blocks
    part = pid // blocks % parts
    n = (pid // (blocks * parts)).to(tl.int64)
    i0 = x_start + block * ROWS
    i = i0 + tl.arange(0, ROWS)
    x_end = tl.minimum(x_start + x_count, Lx)
    y_end = tl.minimum(y_start + y_count, Ly)
    last = tl.minimum(i0 + ROWS, x_end) - 1
    low, high = window_of(i0, last, before, after, offset, y_start, y_end)
    low, high = share(low, high, part, parts, _BLOCK)

    x += n * Lx * D + i[:, None] * D + d[None, :]
    y += n * Ly * D + d
    power_y += n * Lyp * Dp + d
    grad += n * grad_batch + (i - x_start).to(tl.int64) * grad_x
    own = tl.load(power_x + n * Lxp * Dp + i[:, None] * Dp + d[None, :])
    high_own = tl.load(peak_x + (n * (Lxp // _BLOCK) + i0 // _BLOCK) * Dp + d)
    reach = tl.where(i < x_end, y_end, 0)  # a padded row reaches nothing
    total = tl.zeros([ROWS, FEATURES], tl.float32)  # Σ_j grad r (1 − r)
    total_r = tl.zeros([ROWS, FEATURES], tl.float32)
    total_grad = tl.zeros([ROWS], tl.float32)
    for j0 in range(low, high, _BLOCK):
        near = grad + (j0 - y_start).to(tl.int64) * grad_y
        high_other = tl.load(peak_y + (n * (Lyp // _BLOCK) + j0 // _BLOCK) * Dp + d)
        bits = tl.maximum((high_own + high_other) * _TWO_LOG2E, 0.0) + 1.0
        bits = tl.where(tl.maximum(high_own, high_other) <= _HIGHEST, bits, 1000.0)
        if 2.0 * tl.max(bits, 0) < _BITS:
            for j in range(j0, j0 + _BLOCK, 2):
                x0 = tl.fma(own, tl.load(power_y + j * Dp)[None, :], 1.0)
                x1 = tl.fma(own, tl.load(power_y + j * Dp + Dp)[None, :], 1.0)
                both = reciprocal(x0 * x1)
                r0 = both * x1
                r1 = both * x0
                place = near + (j - j0) * grad_y
                if CHECKED:
                    g0 = tl.load(place, mask=j < reach, other=0.0)
                    g1 = tl.load(place + grad_y, mask=j + 1 < reach, other=0.0)
                else:
                    g0 = tl.load(place)
                    g1 = tl.load(place + grad_y)
                g0, g1 = g0.to(tl.float32), g1.to(tl.float32)
                total = tl.fma(g0[:, None], r0 - r0 * r0, total)
                total = tl.fma(g1[:, None], r1 - r1 * r1, total)
                if WEIGHT:
                    total_r = tl.fma(g1[:, None], r1, tl.fma(g0[:, None], r0, total_r))
                    total_grad += g0 + g1
        else:
            raw = tl.load(x, mask=(i < x_end)[:, None] & (d < D)[None, :], other=0.0).to(tl.float32)
            for j in range(j0, tl.minimum(j0 + _BLOCK, y_end)):
                other = tl.load(y + j * D, mask=d < D, other=0.0).to(tl.float32)
                r = fraction(raw + other[None, :])
                g = tl.load(near + (j - j0) * grad_y, mask=j < reach, other=0.0).to(tl.float32)
                total = tl.fma(g[:, None], r - r * r, total)
                if WEIGHT:
                    total_r = tl.fma(g[:, None], r, total_r)
                    total_grad += g
    inside = (i < x_end)[:, None] & (d < D)[None, :]
    w = tl.load(weight + (n % G) * D + d, mask=d < D, other=0.0).to(tl.float32)
    place = out + ((part * N + n) * x_count + (i - x_start)[:, None]) * D + d[None, :]
    tl.store(place, total * (4.0 * w)[None, :], mask=inside)
    if WEIGHT:
        tanh = tl.sum(total_grad, 0) - 2.0 * tl.sum(total_r, 0)
        tl.store(out_weight + ((part * N + n) * blocks + block) * D + d, tanh, mask=d < D)


class Tile(NamedTuple):
    """What one block of threads holds of x."""

    rows: int = 64
    features: int = 32
    warps: int = 4
    registers: int | None = 128


WITH_WEIGHT = Tile(64, 64, 4, None)  # twice the sums: more registers win over more warps


class Band(NamedTuple):
    """Rows [start, start + count) of one sequence, the last of which may be padding."""

    start: int
    length: int

    def inside(self, length: int) -> slice:
        return slice(self.start, min(self.start + self.length, length))


class KernelWindow(NamedTuple):
    """i + offset − before <= j <= i + offset + after; −1 leaves a side open."""

    before: int = -1
    after: int = -1
    offset: int = 0

    def swapped(self) -> KernelWindow:
        """The same window seen from the keys."""
        return KernelWindow(self.after, self.before, -self.offset)


EVERYWHERE = KernelWindow()


def gradient(
    grad: Tensor,
    x: Tensor,
    y: Tensor,
    weight: Tensor,
    E: Exponentials,
    F: Exponentials,
    *,
    xs: Band,
    ys: Band,
    window: KernelWindow = EVERYWHERE,
    with_weight: bool = False,
    tile: Tile | None = None,
) -> tuple[Tensor, Tensor]:
    """d/dx of Σ_ij grad[n,i,j] · s[n,i,j] for rows xs of x against rows ys of y; and d/dweight.

    grad (N, xs.length, ys.length) -> (N, xs.length, D) and, with_weight, (G, D), both float32
    """
    (N, Lx, D), Ly, G = x.shape, y.shape[1], weight.shape[0]
    tile = tile or (WITH_WEIGHT if with_weight else Tile())
    blocks = triton.cdiv(xs.length, tile.rows)
    programs = N * blocks * (E.Dp // tile.features)
    parts = min(triton.cdiv(ys.length, BLOCK), max(1, PROGRAMS // programs))
    out = x.new_empty((parts, N, xs.length, D), dtype=torch.float32)
    out_weight = x.new_empty((parts, N, blocks, D) if with_weight else 1, dtype=torch.float32)
    gradient_kernel[(programs * parts,)](
        grad, x, y, weight, E.power, F.power, E.peak, F.peak, out, out_weight,
        Lx, Ly, D, E.Lp, F.Lp, E.Dp, G, N, *xs, *ys, *window, *grad.stride(), parts,
        CHECKED=bool(grad.shape[1] % BLOCK or grad.shape[2] % BLOCK), WEIGHT=with_weight,
        ROWS=tile.rows, FEATURES=tile.features, num_warps=tile.warps, maxnreg=tile.registers,
    )  # fmt: skip
    if with_weight:
        out_weight = out_weight.view(parts, N // G, G, blocks, D).sum((0, 1, 3))
    return out.sum(0) if parts > 1 else out[0], out_weight
