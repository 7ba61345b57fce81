"""Gradients of keys, values and biases: a kernel that keeps a tile of keys and runs over queries.

The formulas are told at `region_query_gradient`.
"""

# ruff: noqa: N803, SIM102  (constants are capitals; what is compiled out is asked first)

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.kernels.region.region_check import is_finite
from regard.attention.kernels.region.region_forward import NUMBERS
from regard.attention.kernels.region.region_tiles import (
    _FAR,
    bad_keys,
    class_of,
    document_bounds,
    edge_tile,
    high_of,
    last_key,
    load_rows,
    rows_at,
    run_tile,
    span_of_keys,
    spoils,
    union,
    weights_of,
)


@triton.jit
def key_step(
    dk, dv, db, key, value, q, do, logs, delta, row, tile, n, start, queries, id_k, documents,
    mask, mask_m, mask_n, bias, bias_m, bias_n, keys, sq, sdo, D, Dv, scale, sharpness, cap,
    lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, RATE: tl.constexpr,
    EDGE: tl.constexpr, CAREFUL: tl.constexpr, TWO: tl.constexpr, DOCUMENTS: tl.constexpr,
    MASK: tl.constexpr, BIAS: tl.constexpr, DBIAS: tl.constexpr, CAP: tl.constexpr, PRECISION: tl.constexpr,
    BM: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """One tile of queries, with the keys along the rows."""
    lane = tl.arange(0, BM)
    d, dd = tl.arange(0, BD), tl.arange(0, BV)
    m = tile * BM + lane
    exists = m < queries
    at = row + m.to(tl.int64) * RATE
    if EDGE:
        log = tl.load(logs + at, mask=exists, other=float("inf"))
        mean = tl.load(delta + at, mask=exists, other=0.0)
    else:
        log = tl.load(logs + at)
        mean = tl.load(delta + at)
    there = exists
    if CAREFUL:
        there = exists & (log < float("inf"))
    query = load_rows(rows_at(q, tile, sq, lane, d, BM), there, d, D, EDGE, WHOLE)
    given = load_rows(rows_at(do, tile, sdo, lane, dd, BM), exists, dd, Dv, EDGE, WHOLE)
    id_q = m
    if DOCUMENTS:
        id_q = tl.load(documents + m + start, mask=exists, other=-2)
    low_a = m + start + lo_a
    low_b = m + start + lo_b
    high_a = high_of(m, queries, start, hi_a, cap_a)
    high_b = high_of(m, queries, start, hi_b, cap_b)
    kq = tl.dot(key, tl.trans(query), input_precision=PRECISION)
    p, pairs, slope = weights_of(
        kq, log[None, :], n[:, None], m[None, :], queries, low_a[None, :], high_a[None, :], low_b[None, :],
        high_b[None, :], id_q[None, :], id_k[:, None], mask, mask_m, mask_n, bias, bias_m, bias_n,
        keys, scale, sharpness, cap, EDGE, TWO, DOCUMENTS, MASK, BIAS, CAP,
    )  # fmt: skip
    dv = tl.dot(p.to(given.dtype), given, dv, input_precision=PRECISION)
    dp = tl.dot(value, tl.trans(given), input_precision=PRECISION)
    ds = p * (dp - mean[None, :])
    if CAREFUL:
        ds = tl.where(pairs, ds, 0.0)
    if DBIAS == 1:
        db += tl.sum(ds, 1)
    if CAP:
        ds = ds * slope
    dk = tl.dot(ds.to(query.dtype), query, dk, input_precision=PRECISION)
    return dk, dv, db


@triton.jit(do_not_specialize=[*NUMBERS, "wide"])
def key_kernel(
    q, k, v, logs, do, delta, dk, dv, dbias, earlier_dk, earlier_dv, earlier_dbias,
    documents, prefix, mask, bias, found,
    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, do_b, do_h, do_l, dk_b, dk_h, dk_l, dv_b, dv_h, dv_l,
    mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, checks, wide,
    RATE: tl.constexpr, GROUP: tl.constexpr, TWO: tl.constexpr, DOCUMENTS: tl.constexpr,
    PREFIX: tl.constexpr, MASK: tl.constexpr, BIAS: tl.constexpr, DBIAS: tl.constexpr, CAP: tl.constexpr,
    CARRY: tl.constexpr, CHECKED: tl.constexpr, PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """dk and dv of a tile of keys, summed over the GROUP of heads that share them, and dbias of these keys.

    dbias (…, H, Lk) is one head's. CARRY: what other queries gave is added. The first `wide` tiles of each
    head, which take longest, are all begun before the others.
    """
    tiles = tl.cdiv(tl.cdiv(Lk, RATE), BN)
    pid = tl.program_id(0)
    wides = tl.num_programs(0) // tiles * wide
    narrow = tl.maximum(tiles - wide, 1)
    later = pid - wides
    block = tl.where(pid < wides, pid % tl.maximum(wide, 1), wide + later % narrow)
    rest = tl.where(pid < wides, pid // tl.maximum(wide, 1), later // narrow)
    residue = rest % RATE
    shared = rest // RATE
    if CHECKED:
        if is_finite(found + shared * checks, checks):
            return
    z, hk = (shared // (H // GROUP)).to(tl.int64), (shared % (H // GROUP)).to(tl.int64)
    first, queries, keys, start = class_of(residue, offset, Lq, Lk, RATE)

    k += z * k_b + hk * k_h + residue * k_l
    v += z * v_b + hk * v_h + residue * v_l
    q += z * q_b + hk * GROUP * q_h + first * q_l
    do += z * do_b + hk * GROUP * do_h + first * do_l
    mask += z * mask_b + hk * GROUP * mask_h + first * mask_m + residue * mask_n
    bias += z * bias_b + hk * GROUP * bias_h + first * bias_m + residue * bias_n
    documents += z * documents_b
    mask_m, mask_n, bias_m, bias_n = mask_m * RATE, mask_n * RATE, bias_m * RATE, bias_n * RATE

    lane = tl.arange(0, BN)
    d, dd = tl.arange(0, BD), tl.arange(0, BV)
    n = block * BN + lane
    exists = n < keys
    bad = bad_keys(k, v, block, exists, k_l * RATE, v_l * RATE, D, Dv, BN, BD, BV, WHOLE)
    finite = exists & (bad == 0)
    key = load_rows(rows_at(k, block, k_l * RATE, lane, d, BN), finite, d, D, True, WHOLE)
    value = load_rows(rows_at(v, block, v_l * RATE, lane, dd, BN), finite, dd, Dv, True, WHOLE)

    if PREFIX:
        cap_a = tl.minimum(cap_a, tl.load(prefix + z * prefix_b))
    cap_a = last_key(cap_a, residue, keys, RATE)
    cap_b = last_key(cap_b, residue, keys, RATE)
    low, high = start * 0 - _FAR, start * 0 + _FAR
    inner_low, inner_high = low, high
    id_k = n
    if DOCUMENTS:
        low, high, inner_low, inner_high = document_bounds(documents, n, exists, Lk)
        id_k = tl.load(documents + n, mask=exists, other=-1)
    one = block * BN
    last = tl.minimum(one + BN, keys) - 1
    a0, a1, fa0, fa1 = span_of_keys(
        one, last, lo_a, hi_a, cap_a, start, queries, low, high, inner_low, inner_high, BM
    )
    b0, b1, fb0, fb1 = a0 * 0, a0 * 0, a0 * 0, a0 * 0
    if TWO:
        b0, b1, fb0, fb1 = span_of_keys(
            one, last, lo_b, hi_b, cap_b, start, queries, low, high, inner_low, inner_high, BM
        )
        a0, a1, fa0, fa1, b0, b1, fb0, fb1 = union(a0, a1, fa0, fa1, b0, b1, fb0, fb1)

    sum_k = tl.zeros([BN, BD], tl.float32)
    sum_v = tl.zeros([BN, BV], tl.float32)
    edges = (fa0 - a0) + (a1 - fa1) + (fb0 - b0) + (b1 - fb1)
    inner = (fa1 - fa0) + (fb1 - fb0)
    every = (a1 - a0) + (b1 - b0)
    head = z * H + hk * GROUP
    sum_b = tl.zeros([BN], tl.float32)
    for g in range(GROUP):
        qg, dog = q + g * q_h, do + g * do_h
        maskg, biasg = mask + g * mask_h, bias + g * bias_h
        row = (head + g) * Lq + first
        if DBIAS == 1:
            sum_b = tl.zeros([BN], tl.float32)
        for t in range(edges):
            sum_k, sum_v, sum_b = key_step(
                sum_k, sum_v, sum_b, key, value, qg, dog, logs, delta, row,
                edge_tile(t, a0, fa0, fa1, a1, b0, fb0, fb1), n, start, queries, id_k, documents,
                maskg, mask_m, mask_n, biasg, bias_m, bias_n, keys, q_l * RATE, do_l * RATE, D, Dv,
                scale, sharpness, cap, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, RATE,
                True, False, TWO, DOCUMENTS, MASK, BIAS, DBIAS, CAP, PRECISION, BM, BD, BV, WHOLE,
            )  # fmt: skip
        for t in range(inner):
            sum_k, sum_v, sum_b = key_step(
                sum_k, sum_v, sum_b, key, value, qg, dog, logs, delta, row,
                run_tile(t, fa0, fa1, fb0), n, start, queries, id_k, documents,
                maskg, mask_m, mask_n, biasg, bias_m, bias_n, keys, q_l * RATE, do_l * RATE, D, Dv,
                scale, sharpness, cap, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, RATE,
                False, False, TWO, DOCUMENTS, MASK, BIAS, DBIAS, CAP, PRECISION, BM, BD, BV, WHOLE,
            )  # fmt: skip
        if DBIAS == 1:
            to = (head + g) * Lk + residue + n.to(tl.int64) * RATE
            total = sum_b * sharpness
            if CARRY:
                total += tl.load(earlier_dbias + to, mask=exists, other=0.0)
            tl.store(dbias + to, total, mask=exists)
    if spoils(sum_k) > 0:
        sum_k = tl.zeros([BN, BD], tl.float32)
        sum_v = tl.zeros([BN, BV], tl.float32)
        for g in range(GROUP):
            qg, dog = q + g * q_h, do + g * do_h
            maskg, biasg = mask + g * mask_h, bias + g * bias_h
            row = (head + g) * Lq + first
            if DBIAS == 1:
                sum_b = tl.zeros([BN], tl.float32)
            for t in tl.range(0, every, num_stages=1):
                sum_k, sum_v, sum_b = key_step(
                    sum_k, sum_v, sum_b, key, value, qg, dog, logs, delta, row,
                    run_tile(t, a0, a1, b0), n, start, queries, id_k, documents,
                    maskg, mask_m, mask_n, biasg, bias_m, bias_n, keys, q_l * RATE, do_l * RATE, D, Dv,
                    scale, sharpness, cap, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, RATE,
                    True, True, TWO, DOCUMENTS, MASK, BIAS, DBIAS, CAP, PRECISION, BM, BD, BV, WHOLE,
                )  # fmt: skip
            if DBIAS == 1:
                to = (head + g) * Lk + residue + n.to(tl.int64) * RATE
                total = sum_b * sharpness
                if CARRY:
                    total += tl.load(earlier_dbias + to, mask=exists, other=0.0)
                tl.store(dbias + to, total, mask=exists)

    sum_k = sum_k * (scale * sharpness)
    place = ((z * (H // GROUP) + hk) * Lk + residue + n.to(tl.int64) * RATE)[:, None]
    there_k = exists[:, None] & (d < D)[None, :]
    there_v = exists[:, None] & (dd < Dv)[None, :]
    if CARRY:
        sum_k += tl.load(earlier_dk + place * D + d[None, :], mask=there_k, other=0.0)
        sum_v += tl.load(earlier_dv + place * Dv + dd[None, :], mask=there_v, other=0.0)
    dk += z * dk_b + hk * dk_h + residue * dk_l
    dv += z * dv_b + hk * dv_h + residue * dv_l
    to_k, to_v = (
        rows_at(dk, block, dk_l * RATE, lane, d, BN),
        rows_at(dv, block, dv_l * RATE, lane, dd, BN),
    )
    tl.store(to_k, sum_k.to(dk.dtype.element_ty), mask=there_k)
    tl.store(to_v, sum_v.to(dv.dtype.element_ty), mask=there_v)
