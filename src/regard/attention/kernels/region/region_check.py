"""Whether all numbers of a head are finite: asked once, read by kernels that then have nothing to do."""

# ruff: noqa: N803  (sizes and compile-time constants are capitals)

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.kernels.region.region_tiles import load_rows, rows_at

CHECKED_ROWS = 128  # of a program


@triton.jit
def spoilt_rows(x, tile, stride, L, D, BM: tl.constexpr, BD: tl.constexpr, WHOLE: tl.constexpr):
    """0 if a tile of rows is finite, else NaN."""
    lane, d = tl.arange(0, BM), tl.arange(0, BD)
    rows = load_rows(rows_at(x, tile, stride, lane, d, BM), tile * BM + lane < L, d, D, True, WHOLE)
    return tl.sum(tl.sum((rows * 0.0).to(tl.float32), 1), 0)


@triton.jit(do_not_specialize=["Lq", "Lk", "checks"])
def check_kernel(
    q, k, v, found, q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, H, Lq, Lk, D, Dv, checks,
    BM: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """found (B, H, checks): 1 where a tile of queries, keys or values is not finite."""
    pid = tl.program_id(0)
    tile, head = pid % checks, pid // checks
    z, h = (head // H).to(tl.int64), (head % H).to(tl.int64)
    total = spoilt_rows(q + z * q_b + h * q_h, tile, q_l, Lq, D, BM, BD, WHOLE)
    total += spoilt_rows(k + z * k_b + h * k_h, tile, k_l, Lk, D, BM, BD, WHOLE)
    total += spoilt_rows(v + z * v_b + h * v_h, tile, v_l, Lk, Dv, BM, BV, WHOLE)
    tl.store(found + pid, tl.where(total == 0.0, 0, 1).to(tl.int8))


@triton.jit
def is_finite(found, checks):
    """Whether none of a head's checks has found anything."""
    worst = 0
    for t in range(0, checks, 128):
        at = t + tl.arange(0, 128)
        each = tl.load(found + at, mask=at < checks, other=0).to(tl.int32)
        worst = tl.maximum(worst, tl.max(each, 0))
    return worst == 0
