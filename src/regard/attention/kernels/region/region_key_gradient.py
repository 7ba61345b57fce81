"""Gradients of keys, values and biases: a kernel that keeps a tile of keys and runs over queries.

The formulas are told at `region_query_gradient`.
"""

# ruff: noqa: N803, N806, SIM108  (constants are capitals; what is compiled out is asked first)

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
    span_of_keys,
    spoils,
    stretch_of,
    union,
    weights_of,
)


@triton.jit
def key_step(
    dk, dv, db, key, value, q, do, out, logs, delta, tile, n, start, queries, id_k, documents,
    mask, mask_m, mask_n, bias, bias_m, bias_n, keys, sq, sdo, so, D, Dv, scale, sharpness, cap,
    lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, RATE: tl.constexpr,
    EDGE: tl.constexpr, CAREFUL: tl.constexpr, ALONE: tl.constexpr, TWO: tl.constexpr,
    DOCUMENTS: tl.constexpr, MASK: tl.constexpr, BIAS: tl.constexpr, DBIAS: tl.constexpr, CAP: tl.constexpr,
    PRECISION: tl.constexpr, BM: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """One tile of queries, with the keys along the rows. ALONE: `logs` is the log-sum-exp as it is, and delta
    is computed."""
    lane = tl.arange(0, BM)
    d, dd = tl.arange(0, BD), tl.arange(0, BV)
    m = tile * BM + lane
    exists = m < queries
    if ALONE:
        log = tl.load(logs + m * RATE, mask=exists, other=float("inf"))
        log = tl.where((log - log) == 0.0, log * LOG2E, float("inf"))
        mean = log
    else:  # without a mask: there is room behind the last
        log = tl.load(logs + m)
        mean = tl.load(delta + m)
        if EDGE:
            log = tl.where(exists, log, float("inf"))
            mean = tl.where(exists, mean, 0.0)
    there = exists
    if CAREFUL:
        there = exists & (log < float("inf"))
    query = load_rows(rows_at(q, tile, sq, lane, d, BM), there, d, D, EDGE, WHOLE)
    given = load_rows(rows_at(do, tile, sdo, lane, dd, BM), exists, dd, Dv, EDGE, WHOLE)
    if ALONE:
        context = load_rows(rows_at(out, tile, so, lane, dd, BM), there, dd, Dv, True, WHOLE)
        mean = tl.sum(context.to(tl.float32) * given.to(tl.float32), 1)
        mean = tl.where(there, mean, 0.0)
    id_q = m
    if DOCUMENTS:
        id_q = tl.load(documents + m + start, mask=exists, other=-2)
    low_a, most_a = stretch_of(m, start, lo_a, hi_a, cap_a)
    low_b, most_b = stretch_of(m, start, lo_b, hi_b, cap_b)
    kq = tl.dot(key, tl.trans(query), input_precision=PRECISION)
    p, pairs, slope = weights_of(
        kq, log[None, :], n[:, None], m[None, :], queries, low_a[None, :], most_a[None, :], low_b[None, :],
        most_b[None, :], id_q[None, :], id_k[:, None], mask, mask_m, mask_n, bias, bias_m, bias_n,
        keys, scale, sharpness, cap, EDGE, CAREFUL, TWO, DOCUMENTS, MASK, BIAS, CAP,
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


@triton.jit
def key_tile(
    pid, q, k, v, out, logs, do, delta, dk, dv, dbias, earlier_dk, earlier_dv, earlier_dbias, sums,
    documents, prefix, mask, bias,
    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l, dk_b, dk_h, dk_l, dv_b,
    dv_h, dv_l,
    mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, pitch, wides,
    wide, parts,
    CAREFUL: tl.constexpr, ALONE: tl.constexpr, WIDE: tl.constexpr, RATE: tl.constexpr, GROUP: tl.constexpr,
    TWO: tl.constexpr, DOCUMENTS: tl.constexpr, PREFIX: tl.constexpr, MASK: tl.constexpr, BIAS: tl.constexpr,
    DBIAS: tl.constexpr, CAP: tl.constexpr, CARRY: tl.constexpr, PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    QL: tl.constexpr, KL: tl.constexpr, VL: tl.constexpr, GL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """A tile of keys of one class of one head, or a part of its queries -> 1 where a number was not finite,
    unless CAREFUL, else 0."""
    tiles = tl.cdiv(tl.cdiv(Lk, RATE), BN)
    part, of = 0, 1
    if WIDE:
        early, later, narrow = pid // parts, pid - wides, tl.maximum(tiles - wide, 1)
        block = tl.where(later < 0, early % wide, wide + later % narrow)
        rest = tl.where(later < 0, early // wide, later // narrow)
        part, of = tl.where(later < 0, pid % parts, 0), tl.where(later < 0, parts, 1)
    else:
        block, rest = pid % tiles, pid // tiles
    residue = rest % RATE
    shared = rest // RATE
    z, hk = (shared // (H // GROUP)).to(tl.int64), (shared % (H // GROUP)).to(tl.int64)
    first, queries, keys, start = class_of(residue, offset, Lq, Lk, RATE)
    q_l, k_l, v_l, do_l = known(q_l, QL), known(k_l, KL), known(v_l, VL), known(do_l, GL)

    k += z * k_b + hk * k_h + residue * k_l
    v += z * v_b + hk * v_h + residue * v_l
    q += z * q_b + hk * GROUP * q_h + first * q_l
    do += z * do_b + hk * GROUP * do_h + first * do_l
    if ALONE:
        out += z * o_b + hk * GROUP * o_h + first * o_l
    mask += z * mask_b + hk * GROUP * mask_h + first * mask_m + residue * mask_n
    bias += z * bias_b + hk * GROUP * bias_h + first * bias_m + residue * bias_n
    documents += z * documents_b
    mask_m, mask_n, bias_m, bias_n = mask_m * RATE, mask_n * RATE, bias_m * RATE, bias_n * RATE

    lane = tl.arange(0, BN)
    d, dd = tl.arange(0, BD), tl.arange(0, BV)
    n = block * BN + lane
    exists = n < keys
    finite = exists
    if CAREFUL:
        finite = exists & (
            bad_keys(k, v, block, exists, k_l * RATE, v_l * RATE, D, Dv, BN, BD, BV, WHOLE) == 0
        )
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

    PAIRS: tl.constexpr = 0 if MASK == 3 else MASK
    if MASK == 3:
        mine = tl.load(mask + n.to(tl.int64) * mask_n, mask=exists, other=0) != 0
    sum_k = tl.zeros([BN, BD], tl.float32)
    sum_v = tl.zeros([BN, BV], tl.float32)
    edges = (fa0 - a0) + (a1 - fa1) + (fb0 - b0) + (b1 - fb1)
    inner = (fa1 - fa0) + (fb1 - fb0)
    e0, e1 = edges * part // of, edges * (part + 1) // of
    f0, f1 = inner * part // of, inner * (part + 1) // of
    head = z * H + hk * GROUP
    sum_b = tl.zeros([BN], tl.float32)
    for g in range(GROUP):
        qg, dog, outg = q + g * q_h, do + g * do_h, out + g * o_h
        maskg, biasg = mask + g * mask_h, bias + g * bias_h
        if ALONE:
            logg = logs + (head + g) * Lq + first
        else:
            logg = logs + ((head + g) * RATE + first) * pitch
        meang = delta + ((head + g) * RATE + first) * pitch
        if DBIAS == 1:
            sum_b = tl.zeros([BN], tl.float32)
        if CAREFUL:
            for t in tl.range(0, (e1 - e0) + (f1 - f0), num_stages=1):
                tile = edge_tile(e0 + t, a0, fa0, fa1, a1, b0, fb0, fb1)
                if t >= e1 - e0:
                    tile = run_tile(f0 + t - (e1 - e0), fa0, fa1, fb0)
                sum_k, sum_v, sum_b = key_step(
                    sum_k, sum_v, sum_b, key, value, qg, dog, outg, logg, meang,
                    tile, n, start, queries, id_k, documents,
                    maskg, mask_m, mask_n, biasg, bias_m, bias_n, keys, q_l * RATE, do_l * RATE,
                    o_l * RATE, D, Dv,
                    scale, sharpness, cap, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, RATE,
                    True, True, ALONE, TWO, DOCUMENTS, PAIRS, BIAS, DBIAS, CAP, PRECISION, BM, BD, BV, WHOLE,
                )  # fmt: skip
        else:
            for t in range(e0, e1):
                sum_k, sum_v, sum_b = key_step(
                    sum_k, sum_v, sum_b, key, value, qg, dog, outg, logg, meang,
                    edge_tile(t, a0, fa0, fa1, a1, b0, fb0, fb1), n, start, queries, id_k, documents,
                    maskg, mask_m, mask_n, biasg, bias_m, bias_n, keys, q_l * RATE, do_l * RATE,
                    o_l * RATE, D, Dv,
                    scale, sharpness, cap, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, RATE,
                    True, False, ALONE, TWO, DOCUMENTS, PAIRS, BIAS, DBIAS, CAP, PRECISION, BM, BD, BV, WHOLE,
                )  # fmt: skip
            for t in range(f0, f1):
                sum_k, sum_v, sum_b = key_step(
                    sum_k, sum_v, sum_b, key, value, qg, dog, outg, logg, meang,
                    run_tile(t, fa0, fa1, fb0), n, start, queries, id_k, documents,
                    maskg, mask_m, mask_n, biasg, bias_m, bias_n, keys, q_l * RATE, do_l * RATE,
                    o_l * RATE, D, Dv,
                    scale, sharpness, cap, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, RATE,
                    False, False, ALONE, TWO, DOCUMENTS, PAIRS, BIAS, DBIAS, CAP, PRECISION, BM, BD, BV,
                    WHOLE,
                )  # fmt: skip
        if MASK == 3 and DBIAS == 1:
            sum_b = tl.where(mine, sum_b, 0.0)
        if DBIAS == 1:
            to = (head + g) * Lk + residue + n.to(tl.int64) * RATE
            total = sum_b * sharpness
            if CARRY:
                total += tl.load(earlier_dbias + to, mask=exists, other=0.0)
            tl.store(dbias + to, total, mask=exists)
    if MASK == 3:
        sum_k = tl.where(mine[:, None], sum_k, 0.0)
        sum_v = tl.where(mine[:, None], sum_v, 0.0)
    worst = 0
    if not CAREFUL:
        worst = spoils(sum_k)

    if of > 1:  # to be added up
        place = (pid * BN + lane).to(tl.int64)[:, None]
        tl.store(sums + place * (BD + BV) + d[None, :], sum_k)
        tl.store(sums + place * (BD + BV) + BD + dd[None, :], sum_v)
    else:
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
    return worst


@triton.jit(do_not_specialize=[*NUMBERS, "wides", "wide", "parts"])
def key_kernel(
    q, k, v, out, logs, do, delta, dk, dv, dbias, earlier_dk, earlier_dv, earlier_dbias, sums,
    documents, prefix, mask, bias,
    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l, dk_b, dk_h, dk_l, dv_b,
    dv_h, dv_l,
    mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, pitch, wides,
    wide, parts, many,
    WIDE: tl.constexpr, RATE: tl.constexpr, GROUP: tl.constexpr, TWO: tl.constexpr, DOCUMENTS: tl.constexpr,
    PREFIX: tl.constexpr, MASK: tl.constexpr, BIAS: tl.constexpr, DBIAS: tl.constexpr, CAP: tl.constexpr,
    CARRY: tl.constexpr, PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    QL: tl.constexpr, KL: tl.constexpr, VL: tl.constexpr, GL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """dk and dv of a tile of keys, summed over the GROUP of heads that share them, and dbias of these keys.

    MASK 3: of keys alone, the same for all heads of a group, so that their sums are 0, whatever they were.
    dbias (…, H, Lk) is one head's. CARRY: what other queries gave is added. WIDE: the first `wide` tiles of
    each head take longest; `wides` programs, begun before all others, compute them,
    `parts` for each. If these
    are more than one, `sum_kernel` adds up their `sums` (programs, BN, BD + BV).
    """
    pid = dealt_out(tl.program_id(0), tl.cdiv(tl.cdiv(Lk, RATE), BN), many)
    worst = key_tile(
        pid, q, k, v, out, logs, do, delta, dk, dv, dbias, earlier_dk, earlier_dv, earlier_dbias, sums,
        documents, prefix, mask, bias,
        q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l, dk_b, dk_h, dk_l,
        dv_b, dv_h, dv_l,
        mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
        H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, pitch,
        wides, wide, parts,
        False, False, WIDE, RATE, GROUP, TWO, DOCUMENTS, PREFIX, MASK, BIAS, DBIAS, CAP, CARRY, PRECISION,
        WHOLE,
        QL, KL, VL, GL, BM, BN, BD, BV,
    )  # fmt: skip
    if worst > 0:
        key_tile(
            again(pid, worst), q, k, v, out, logs, do, delta, dk, dv, dbias, earlier_dk, earlier_dv,
            earlier_dbias, sums,
            documents, prefix, mask, bias,
            q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l, do_b, do_h, do_l, dk_b, dk_h, dk_l,
            dv_b, dv_h, dv_l,
            mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
            H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, pitch,
            wides, wide, parts,
            True, False, WIDE, RATE, GROUP, TWO, DOCUMENTS, PREFIX, MASK, BIAS, DBIAS, CAP, CARRY,
            PRECISION, WHOLE,
            QL, KL, VL, GL, BM, BN, BD, BV,
        )  # fmt: skip


@triton.jit(do_not_specialize=["Lk", "wide", "parts"])
def sum_kernel(
    sums, dk, dv, dk_b, dk_h, dk_l, dv_b, dv_h, dv_l, heads, Lk, D, Dv, factor, wide, parts,
    BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """dk and dv of a tile that several programs have computed, each for a part of its queries."""
    pid = tl.program_id(0)
    block, shared = pid % wide, pid // wide
    z, hk = (shared // heads).to(tl.int64), (shared % heads).to(tl.int64)
    lane, d, dd = tl.arange(0, BN), tl.arange(0, BD), tl.arange(0, BV)
    exists = block * BN + lane < Lk
    sum_k = tl.zeros([BN, BD], tl.float32)
    sum_v = tl.zeros([BN, BV], tl.float32)
    for part in range(parts):
        place = ((pid * parts + part) * BN + lane).to(tl.int64)[:, None] * (BD + BV)
        sum_k += tl.load(sums + place + d[None, :])
        sum_v += tl.load(sums + place + BD + dd[None, :])
    to_k = rows_at(dk + z * dk_b + hk * dk_h, block, dk_l, lane, d, BN)
    to_v = rows_at(dv + z * dv_b + hk * dv_h, block, dv_l, lane, dd, BN)
    sum_k = (sum_k * factor).to(dk.dtype.element_ty)
    tl.store(to_k, sum_k, mask=exists[:, None] & (d < D)[None, :])
    tl.store(to_v, sum_v.to(dv.dtype.element_ty), mask=exists[:, None] & (dd < Dv)[None, :])
