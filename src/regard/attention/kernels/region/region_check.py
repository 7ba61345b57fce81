"""Whether all numbers of a head are finite: asked once, read by kernels that then have nothing to do."""

# ruff: noqa: N803, SIM102  (constants are capitals; what is compiled out is asked first)

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.kernels.region.region_tiles import load_rows, rows_at

CHECKED_ROWS = 128  # of a program


@triton.jit(do_not_specialize=["Lq", "Lk", "checks"])
def check_kernel(
    k, v, out, lse, found, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, H, Lq, Lk, D, checks,
    ALL: tl.constexpr, BM: tl.constexpr, BD: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """found (B, H, checks): 1 where a tile of keys, values or results is not finite. What a query holds
    shows in its log-sum-exp.

    ALL: every query may attend to every key. Then what `out` and `lse` lack is written: NaN, for a query
    that is not finite, or for all of them.
    """
    pid = tl.program_id(0)
    tile, head = pid % checks, pid // checks
    z, h = (head // H).to(tl.int64), (head % H).to(tl.int64)
    lane, d = tl.arange(0, BM), tl.arange(0, BD)
    row = tile * BM + lane
    key = load_rows(
        rows_at(k + z * k_b + h * k_h, tile, k_l, lane, d, BM), row < Lk, d, D, True, WHOLE
    )
    value = load_rows(
        rows_at(v + z * v_b + h * v_h, tile, v_l, lane, d, BM), row < Lk, d, D, True, WHOLE
    )
    logs = lse + (z * H + h) * Lq
    log = tl.load(logs + row, mask=row < Lq, other=0.0)
    none = tl.sum((key * 0.0 + value * 0.0).to(tl.float32), 1)
    keys = tl.max(tl.where(none == 0.0, 0, 1), 0)
    queries = tl.max(tl.where(log * 0.0 == 0.0, 0, 1), 0)
    tl.store(found + pid, tl.maximum(keys, queries).to(tl.int8))
    if ALL:
        if tl.maximum(keys, queries) > 0:
            out += z * o_b + h * o_h
            first = tl.where(keys > 0, 0, tile)
            for turn in range(tl.where(keys > 0, tl.cdiv(Lq, BM), 1)):
                each = first + turn
                m = each * BM + lane
                log = tl.load(logs + m, mask=m < Lq, other=0.0)
                lost = (m < Lq) & ((keys > 0) | (log * 0.0 != 0.0))
                tl.store(logs + m, log * 0.0 + float("nan"), mask=lost)
                place = rows_at(out, each, o_l, lane, d, BM)
                rows = tl.full([BM, BD], float("nan"), out.dtype.element_ty)
                tl.store(place, rows, mask=lost[:, None] & (d < D)[None, :])


@triton.jit
def all_finite(found, count):
    """Whether no check of any head has found anything."""
    worst = 0
    for t in range(0, count, 1024):
        at = t + tl.arange(0, 1024)
        each = tl.load(found + at, mask=at < count, other=0).to(tl.int32)
        worst = tl.maximum(worst, tl.max(each, 0))
    return worst == 0


@triton.jit
def is_finite(found, checks):
    """Whether none of a head's checks has found anything."""
    return all_finite(found, checks)
