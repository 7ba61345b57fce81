"""Gradients of the attention in a region, from its log-sum-exp: no sum is atomic, results repeat exactly.

    p = exp(sharpness · s − lse)     dp = do · vᵀ     ds = sharpness · p (dp − Σ p dp)     dv = pᵀ · do
    dq = scale · ds · slope · k      dk = scale · (ds · slope)ᵀ · q                      dbias = ds

with slope 1, or that of the cap. A row that is empty, or NaN because it may attend to a number that is not
finite, passes nothing on; such a number itself gets a gradient of 0.

This kernel keeps a tile of queries and runs over keys; that of `region_key_gradient` does it the other way.
"""

# ruff: noqa: N803  (constants are capitals)

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.kernels.region.region_forward import NUMBERS
from regard.attention.kernels.region.region_tiles import (
    _FAR,
    LOG2E,
    again,
    bad_keys,
    class_of,
    dealt_out,
    document_bounds,
    edge_tile,
    known,
    last_key,
    load_rows,
    rows_at,
    run_tile,
    span,
    spoils,
    stretch_of,
    union,
    weights_of,
)


@triton.jit
def query_step(
    dq, q, do, log, delta, k, v, tile, m, queries, low_a, most_a, low_b, most_b, id_q, documents,
    mask, mask_m, mask_n, bias, bias_m, bias_n, dbias, dbias_m, dbias_n, keys, sk, sv, D, Dv,
    scale, sharpness, cap,
    EDGE: tl.constexpr, CAREFUL: tl.constexpr, TWO: tl.constexpr, DOCUMENTS: tl.constexpr,
    MASK: tl.constexpr, BIAS: tl.constexpr, DBIAS: tl.constexpr, CAP: tl.constexpr, PRECISION: tl.constexpr,
    BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    lane = tl.arange(0, BN)
    d, dv = tl.arange(0, BD), tl.arange(0, BV)
    n = tile * BN + lane
    there = n < keys
    if CAREFUL:
        there = there & (bad_keys(k, v, tile, there, sk, sv, D, Dv, BN, BD, BV, WHOLE) == 0)
    key = load_rows(rows_at(k, tile, sk, lane, d, BN), there, d, D, EDGE, WHOLE)
    value = load_rows(rows_at(v, tile, sv, lane, dv, BN), there, dv, Dv, EDGE, WHOLE)
    id_k = n
    if DOCUMENTS:
        id_k = tl.load(documents + n, mask=n < keys, other=-1)
    qk = tl.dot(q, tl.trans(key), input_precision=PRECISION)
    p, pairs, slope = weights_of(
        qk, log[:, None], n[None, :], m[:, None], queries, low_a[:, None], most_a[:, None], low_b[:, None],
        most_b[:, None], id_q[:, None], id_k[None, :], mask, mask_m, mask_n, bias, bias_m, bias_n,
        keys, scale, sharpness, cap, EDGE, CAREFUL, TWO, DOCUMENTS, MASK, BIAS, CAP,
    )  # fmt: skip
    dp = tl.dot(do, tl.trans(value), input_precision=PRECISION)
    ds = p * (dp - delta[:, None])
    if CAREFUL:
        ds = tl.where(pairs, ds, 0.0)
    if DBIAS == 2:
        place = dbias + m[:, None].to(tl.int64) * dbias_m + n[None, :].to(tl.int64) * dbias_n
        tl.store(place, (ds * sharpness).to(dbias.dtype.element_ty), mask=pairs)
    if CAP:
        ds = ds * slope
    return tl.dot(ds.to(key.dtype), key, dq, input_precision=PRECISION)


@triton.jit
def query_tile(
    pid, q, k, v, out, lse, do, logs, delta, dq, earlier, dbias, documents, prefix, mask, bias,
    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l, dq_b, dq_h, dq_l,
    mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, pitch,
    CAREFUL: tl.constexpr, ALONE: tl.constexpr, RATE: tl.constexpr, GROUP: tl.constexpr, TWO: tl.constexpr,
    DOCUMENTS: tl.constexpr, PREFIX: tl.constexpr, MASK: tl.constexpr, BIAS: tl.constexpr,
    DBIAS: tl.constexpr, CAP: tl.constexpr, CARRY: tl.constexpr, PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    QL: tl.constexpr, KL: tl.constexpr, VL: tl.constexpr, GL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """A tile of queries of one class of one head -> 1 where a number was not finite, unless CAREFUL, else 0.

    ALONE: nothing is told to the keys.
    """
    tiles = tl.cdiv(tl.cdiv(Lq, RATE), BM)
    block = tiles - 1 - pid % tiles
    residue = pid // tiles % RATE
    head = pid // (tiles * RATE)
    z, h = (head // H).to(tl.int64), (head % H).to(tl.int64)
    first, queries, keys, start = class_of(residue, offset, Lq, Lk, RATE)
    q_l, k_l, v_l, do_l = known(q_l, QL), known(k_l, KL), known(v_l, VL), known(do_l, GL)

    q += z * q_b + h * q_h + first * q_l
    k += z * k_b + (h // GROUP) * k_h + residue * k_l
    v += z * v_b + (h // GROUP) * v_h + residue * v_l
    do += z * do_b + h * do_h + first * do_l
    mask += z * mask_b + h * mask_h + first * mask_m + residue * mask_n
    bias += z * bias_b + h * bias_h + first * bias_m + residue * bias_n
    dbias += (z * H + h) * Lq * Lk + first * Lk + residue
    documents += z * documents_b
    mask_m, mask_n, bias_m, bias_n = mask_m * RATE, mask_n * RATE, bias_m * RATE, bias_n * RATE
    sk, sv = k_l * RATE, v_l * RATE

    lane = tl.arange(0, BM)
    d, dv = tl.arange(0, BD), tl.arange(0, BV)
    m = block * BM + lane
    exists = m < queries
    query = load_rows(rows_at(q, block, q_l * RATE, lane, d, BM), exists, d, D, True, WHOLE)
    given = load_rows(rows_at(do, block, do_l * RATE, lane, dv, BM), exists, dv, Dv, True, WHOLE)
    row = (z * H + h) * Lq + first + m.to(tl.int64) * RATE
    log = tl.load(lse + row, mask=exists, other=float("inf"))
    counts = (log - log) == 0.0
    log = tl.where(counts, log * LOG2E, float("inf"))
    out += z * o_b + h * o_h + first * o_l
    context = load_rows(rows_at(out, block, o_l * RATE, lane, dv, BM), exists, dv, Dv, True, WHOLE)
    mean = tl.sum(context.to(tl.float32) * given.to(tl.float32), 1)
    mean = tl.where(counts, mean, 0.0)
    if not ALONE:
        at = ((z * H + h) * RATE + first) * pitch
        tl.store(delta + at + m, mean, mask=exists)
        tl.store(logs + at + m, log, mask=exists)

    if PREFIX:
        cap_a = tl.minimum(cap_a, tl.load(prefix + z * prefix_b))
    cap_a = last_key(cap_a, residue, keys, RATE)
    cap_b = last_key(cap_b, residue, keys, RATE)
    low_a, most_a = stretch_of(m, start, lo_a, hi_a, cap_a)
    low_b, most_b = stretch_of(m, start, lo_b, hi_b, cap_b)
    low, high, inner_low, inner_high = 0, _FAR, 0, _FAR
    id_q = m
    if DOCUMENTS:
        low, high, inner_low, inner_high = document_bounds(documents, m + start, exists, Lk)
        id_q = tl.load(documents + m + start, mask=exists, other=-2)
    one = start + block * BM
    last = tl.minimum(one + BM, start + queries) - 1
    a0, a1, fa0, fa1 = span(one, last, lo_a, hi_a, cap_a, low, high, inner_low, inner_high, BN)
    b0, b1, fb0, fb1 = a0 * 0, a0 * 0, a0 * 0, a0 * 0
    if TWO:
        b0, b1, fb0, fb1 = span(one, last, lo_b, hi_b, cap_b, low, high, inner_low, inner_high, BN)
        a0, a1, fa0, fa1, b0, b1, fb0, fb1 = union(a0, a1, fa0, fa1, b0, b1, fb0, fb1)

    acc = tl.zeros([BM, BD], tl.float32)
    if CAREFUL:
        for t in tl.range(0, (a1 - a0) + (b1 - b0), num_stages=1):
            acc = query_step(
                acc, query, given, log, mean, k, v, run_tile(t, a0, a1, b0), m, queries,
                low_a, most_a, low_b, most_b, id_q, documents, mask, mask_m, mask_n, bias, bias_m, bias_n,
                dbias, Lk * RATE, RATE, keys, sk, sv, D, Dv, scale, sharpness, cap,
                True, True, TWO, DOCUMENTS, MASK, BIAS, DBIAS, CAP, PRECISION, BN, BD, BV, WHOLE,
            )  # fmt: skip
    else:
        for t in range((fa0 - a0) + (a1 - fa1) + (fb0 - b0) + (b1 - fb1)):
            acc = query_step(
                acc, query, given, log, mean, k, v, edge_tile(t, a0, fa0, fa1, a1, b0, fb0, fb1), m, queries,
                low_a, most_a, low_b, most_b, id_q, documents, mask, mask_m, mask_n, bias, bias_m, bias_n,
                dbias, Lk * RATE, RATE, keys, sk, sv, D, Dv, scale, sharpness, cap,
                True, False, TWO, DOCUMENTS, MASK, BIAS, DBIAS, CAP, PRECISION, BN, BD, BV, WHOLE,
            )  # fmt: skip
        for t in range((fa1 - fa0) + (fb1 - fb0)):
            acc = query_step(
                acc, query, given, log, mean, k, v, run_tile(t, fa0, fa1, fb0), m, queries,
                low_a, most_a, low_b, most_b, id_q, documents, mask, mask_m, mask_n, bias, bias_m, bias_n,
                dbias, Lk * RATE, RATE, keys, sk, sv, D, Dv, scale, sharpness, cap,
                False, False, TWO, DOCUMENTS, MASK, BIAS, DBIAS, CAP, PRECISION, BN, BD, BV, WHOLE,
            )  # fmt: skip
    worst = 0
    if not CAREFUL:
        worst = spoils(acc)

    acc = acc * (scale * sharpness)
    there = exists[:, None] & (d < D)[None, :]
    if CARRY:
        acc += tl.load(earlier + row[:, None] * D + d[None, :], mask=there, other=0.0)
    dq += z * dq_b + h * dq_h + first * dq_l
    place = rows_at(dq, block, dq_l * RATE, lane, d, BM)
    tl.store(place, acc.to(dq.dtype.element_ty), mask=there)
    return worst


@triton.jit(do_not_specialize=NUMBERS)
def query_kernel(
    q, k, v, out, lse, do, logs, delta, dq, earlier, dbias, documents, prefix, mask, bias,
    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l, dq_b, dq_h, dq_l,
    mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, pitch, many,
    RATE: tl.constexpr, GROUP: tl.constexpr, TWO: tl.constexpr, DOCUMENTS: tl.constexpr,
    PREFIX: tl.constexpr, MASK: tl.constexpr, BIAS: tl.constexpr, DBIAS: tl.constexpr, CAP: tl.constexpr,
    CARRY: tl.constexpr, PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    QL: tl.constexpr, KL: tl.constexpr, VL: tl.constexpr, GL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """dq of a tile of queries, and what the keys need: delta = Σ_j p dp = do · out, and the log-sum-exp as a
    power of 2, ∞ for a row that passes nothing on: (B, H, classes, pitch), class by class.

    CARRY: dq gets what other keys gave, `earlier`, added.
    """
    pid = dealt_out(tl.program_id(0), tl.cdiv(tl.cdiv(Lq, RATE), BM), many)
    worst = query_tile(
        pid, q, k, v, out, lse, do, logs, delta, dq, earlier, dbias, documents, prefix, mask, bias,
        q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l, dq_b, dq_h, dq_l,
        mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
        H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, pitch,
        False, False, RATE, GROUP, TWO, DOCUMENTS, PREFIX, MASK, BIAS, DBIAS, CAP, CARRY, PRECISION, WHOLE,
        QL, KL, VL, GL, BM, BN, BD, BV,
    )  # fmt: skip
    if worst > 0:
        query_tile(
            again(pid, worst), q, k, v, out, lse, do, logs, delta, dq, earlier, dbias, documents, prefix,
            mask, bias,
            q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l, dq_b, dq_h, dq_l,
            mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
            H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, pitch,
            True, False, RATE, GROUP, TWO, DOCUMENTS, PREFIX, MASK, BIAS, DBIAS, CAP, CARRY, PRECISION, WHOLE,
            QL, KL, VL, GL, BM, BN, BD, BV,
        )  # fmt: skip
