"""context = softmax(score(q, k) + bias, in a region) @ v: a running softmax over the tiles it opens.

    s = cap · tanh(scale · q · k / cap) + bias
    weights = exp(sharpness · s) / (exp(sink) + Σ exp(sharpness · s))

Nothing is asked of the keys: the sums say afterwards whether a number among them was not finite, and only
then the program starts again with care: such keys and values count as 0, and every query that may attend
to one becomes NaN, its log-sum-exp too. Others never notice.
"""

# ruff: noqa: N803  (constants are capitals)

from __future__ import annotations

import triton
import triton.language as tl

from regard.attention.kernels.region.region_tiles import (
    _FAR,
    LN2,
    LOG2E,
    again,
    bad_keys,
    capped,
    class_of,
    closed_keys,
    dealt_out,
    document_bounds,
    edge_tile,
    given_bias,
    given_mask,
    known,
    last_key,
    load_rows,
    open_pairs,
    rows_at,
    run_tile,
    span,
    spoils,
    stretch_of,
    union,
)

NUMBERS = ["offset", "lo_a", "hi_a", "cap_a", "lo_b", "hi_b", "cap_b", "Lq", "Lk", "checks", "many"]


@triton.jit
def forward_step(
    acc, norm, top, q, k, v, tile, m, queries, low_a, most_a, low_b, most_b, id_q, documents,
    mask, mask_m, mask_n, bias, bias_m, bias_n, keys, sk, sv, D, Dv, scale, sharpness, cap,
    EDGE: tl.constexpr, CAREFUL: tl.constexpr, TWO: tl.constexpr, DOCUMENTS: tl.constexpr,
    MASK: tl.constexpr, BIAS: tl.constexpr, CAP: tl.constexpr, PRECISION: tl.constexpr,
    BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """One tile of keys; scores are in powers of two."""
    lane = tl.arange(0, BN)
    d, dv = tl.arange(0, BD), tl.arange(0, BV)
    n = tile * BN + lane
    there = n < keys
    if CAREFUL:
        bad = bad_keys(k, v, tile, there, sk, sv, D, Dv, BN, BD, BV, WHOLE)
        there = there & (bad == 0)
    key = load_rows(rows_at(k, tile, sk, lane, d, BN), there, d, D, EDGE, WHOLE)
    qk = tl.dot(q, tl.trans(key), input_precision=PRECISION)

    factor = scale * sharpness * LOG2E
    s = qk
    if CAP:
        s, _ = capped(qk * scale, cap)
        factor = sharpness * LOG2E
    elif BIAS:
        s = qk * scale
        factor = sharpness * LOG2E
    if MASK == 1 and not (EDGE or CAREFUL or BIAS):  # all of these pairs are open but for the mask
        s = s + closed_keys(mask, n, keys, mask_n)[None, :]
    elif EDGE or MASK or BIAS:
        id_k = n
        if DOCUMENTS:
            id_k = tl.load(documents + n, mask=n < keys, other=-1)
        if EDGE:
            pairs = open_pairs(
                n[None, :], low_a[:, None], most_a[:, None], low_b[:, None], most_b[:, None],
                id_q[:, None], id_k[None, :], TWO, DOCUMENTS,
            )  # fmt: skip
            if MASK == 2 or BIAS == 2:  # which have no rows for queries that do not exist
                pairs = pairs & (m < queries)[:, None]
        else:
            pairs = (m < queries)[:, None] & (n < keys)[None, :]
        if MASK:
            pairs = given_mask(pairs, mask, m[:, None], n[None, :], keys, mask_m, mask_n, MASK)
        if BIAS:
            b = given_bias(pairs, bias, m[:, None], n[None, :], keys, bias_m, bias_n, BIAS)
            pairs = pairs & (b != -float("inf"))
            s = s + b
        if CAREFUL:
            s = s + tl.where(bad == 0, 0.0, float("nan"))[None, :]
        s = tl.where(pairs, s, -float("inf"))

    higher = tl.maximum(top, tl.max(s, 1) * factor)
    base = higher
    if EDGE or MASK or BIAS:
        base = tl.where(higher == -float("inf"), 0.0, higher)  # a row without keys so far
    p = tl.exp2(s * factor - base[:, None])
    shrink = tl.exp2(top - base)
    value = load_rows(rows_at(v, tile, sv, lane, dv, BN), there, dv, Dv, EDGE, WHOLE)
    total = p
    if not CAREFUL:
        total = p + qk * 0.0  # NaN if a score is not finite
    norm = norm * shrink + tl.sum(total, 1)
    acc = tl.dot(p.to(value.dtype), value, acc * shrink[:, None], input_precision=PRECISION)
    return acc, norm, higher


@triton.jit
def forward_tile(
    pid, q, k, v, out, lse, earlier, earlier_lse, documents, prefix, mask, bias, sink,
    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l,
    mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap,
    CAREFUL: tl.constexpr, RATE: tl.constexpr, GROUP: tl.constexpr, TWO: tl.constexpr,
    DOCUMENTS: tl.constexpr, PREFIX: tl.constexpr, MASK: tl.constexpr, BIAS: tl.constexpr,
    SINK: tl.constexpr, CAP: tl.constexpr, CARRY: tl.constexpr, PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    QL: tl.constexpr, KL: tl.constexpr, VL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """A tile of queries of a class of a head -> 1 where a number was not finite and not CAREFUL, else 0."""
    tiles = tl.cdiv(tl.cdiv(Lq, RATE), BM)
    block = tiles - 1 - pid % tiles  # a causal one has most to do at the end
    residue = pid // tiles % RATE
    head = pid // (tiles * RATE)
    z, h = (head // H).to(tl.int64), (head % H).to(tl.int64)
    first, queries, keys, start = class_of(residue, offset, Lq, Lk, RATE)
    q_l, k_l, v_l = known(q_l, QL), known(k_l, KL), known(v_l, VL)

    q += z * q_b + h * q_h + first * q_l
    k += z * k_b + (h // GROUP) * k_h + residue * k_l
    v += z * v_b + (h // GROUP) * v_h + residue * v_l
    mask += z * mask_b + h * mask_h + first * mask_m + residue * mask_n
    bias += z * bias_b + h * bias_h + first * bias_m + residue * bias_n
    documents += z * documents_b
    mask_m, mask_n, bias_m, bias_n = mask_m * RATE, mask_n * RATE, bias_m * RATE, bias_n * RATE
    sk, sv = k_l * RATE, v_l * RATE

    lane = tl.arange(0, BM)
    d, dv = tl.arange(0, BD), tl.arange(0, BV)
    m = block * BM + lane
    query = load_rows(rows_at(q, block, q_l * RATE, lane, d, BM), m < queries, d, D, True, WHOLE)

    # --- which tiles ---
    if PREFIX:
        cap_a = tl.minimum(cap_a, tl.load(prefix + z * prefix_b))
    cap_a = last_key(cap_a, residue, keys, RATE)
    cap_b = last_key(cap_b, residue, keys, RATE)
    low_a, most_a = stretch_of(m, start, lo_a, hi_a, cap_a)
    low_b, most_b = stretch_of(m, start, lo_b, hi_b, cap_b)
    low, high, inner_low, inner_high = 0, _FAR, 0, _FAR
    id_q = m
    if DOCUMENTS:
        low, high, inner_low, inner_high = document_bounds(documents, m + start, m < queries, Lk)
        id_q = tl.load(documents + m + start, mask=m < queries, other=-2)
    one = start + block * BM
    last = tl.minimum(one + BM, start + queries) - 1
    a0, a1, fa0, fa1 = span(one, last, lo_a, hi_a, cap_a, low, high, inner_low, inner_high, BN)
    b0, b1, fb0, fb1 = a0 * 0, a0 * 0, a0 * 0, a0 * 0
    if TWO:
        b0, b1, fb0, fb1 = span(one, last, lo_b, hi_b, cap_b, low, high, inner_low, inner_high, BN)
        a0, a1, fa0, fa1, b0, b1, fb0, fb1 = union(a0, a1, fa0, fa1, b0, b1, fb0, fb1)

    # --- the running softmax ---
    top = tl.full([BM], -float("inf"), tl.float32)
    norm = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, BV], tl.float32)
    if CAREFUL:
        for t in tl.range(0, (a1 - a0) + (b1 - b0), num_stages=1):
            acc, norm, top = forward_step(
                acc, norm, top, query, k, v, run_tile(t, a0, a1, b0), m, queries, low_a, most_a, low_b,
                most_b,
                id_q, documents, mask, mask_m, mask_n, bias, bias_m, bias_n, keys, sk, sv, D, Dv,
                scale, sharpness, cap, True, True, TWO, DOCUMENTS, MASK, BIAS, CAP, PRECISION, BN, BD, BV,
                WHOLE,
            )  # fmt: skip
    else:
        for t in range((fa0 - a0) + (a1 - fa1) + (fb0 - b0) + (b1 - fb1)):
            acc, norm, top = forward_step(
                acc, norm, top, query, k, v, edge_tile(t, a0, fa0, fa1, a1, b0, fb0, fb1), m, queries,
                low_a, most_a, low_b, most_b, id_q, documents, mask, mask_m, mask_n, bias, bias_m, bias_n,
                keys, sk, sv, D, Dv, scale, sharpness, cap,
                True, False, TWO, DOCUMENTS, MASK, BIAS, CAP, PRECISION, BN, BD, BV, WHOLE,
            )  # fmt: skip
        for t in range((fa1 - fa0) + (fb1 - fb0)):
            acc, norm, top = forward_step(
                acc, norm, top, query, k, v, run_tile(t, fa0, fa1, fb0), m, queries,
                low_a, most_a, low_b, most_b, id_q, documents, mask, mask_m, mask_n, bias, bias_m, bias_n,
                keys, sk, sv, D, Dv, scale, sharpness, cap,
                False, False, TWO, DOCUMENTS, MASK, BIAS, CAP, PRECISION, BN, BD, BV, WHOLE,
            )  # fmt: skip
    worst = 0
    if not CAREFUL:
        worst = tl.maximum(spoils(acc), tl.max(tl.where(norm * 0.0 == 0.0, 0, 1), 0))

    # --- what else is in the sum ---
    row = (z * H + h) * Lq + first + m.to(tl.int64) * RATE
    if SINK:
        log = tl.zeros([BM], tl.float32) + tl.load(sink + h).to(tl.float32) * LOG2E
        acc, norm, top = joined(acc, norm, top, tl.zeros([BM, BV], tl.float32), log)
    if CARRY:
        there = (m < queries)[:, None] & (dv < Dv)[None, :]
        before = tl.load(earlier + row[:, None] * Dv + dv[None, :], mask=there, other=0.0)
        log = tl.load(earlier_lse + row, mask=m < queries, other=-float("inf")) * LOG2E
        acc, norm, top = joined(acc, norm, top, before, log)
    empty = norm == 0.0
    norm = tl.where(empty, 1.0, norm)
    tl.store(
        lse + row, tl.where(empty, -float("inf"), (top + tl.log2(norm)) * LN2), mask=m < queries
    )
    out += z * o_b + h * o_h + first * o_l
    place = rows_at(out, block, o_l * RATE, lane, dv, BM)
    context = acc / norm[:, None]
    tl.store(
        place, context.to(out.dtype.element_ty), mask=(m < queries)[:, None] & (dv < Dv)[None, :]
    )
    return worst


@triton.jit(do_not_specialize=NUMBERS)
def forward_kernel(
    q, k, v, out, lse, earlier, earlier_lse, documents, prefix, mask, bias, sink,
    q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l,
    mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
    H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap, many,
    RATE: tl.constexpr, GROUP: tl.constexpr, TWO: tl.constexpr, DOCUMENTS: tl.constexpr,
    PREFIX: tl.constexpr, MASK: tl.constexpr, BIAS: tl.constexpr, SINK: tl.constexpr, CAP: tl.constexpr,
    CARRY: tl.constexpr, PRECISION: tl.constexpr, WHOLE: tl.constexpr,
    QL: tl.constexpr, KL: tl.constexpr, VL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    """A tile of queries of one class of one head. CARRY: what other keys gave is added to it."""
    pid = dealt_out(tl.program_id(0), tl.cdiv(tl.cdiv(Lq, RATE), BM), many)
    worst = forward_tile(
        pid, q, k, v, out, lse, earlier, earlier_lse, documents, prefix, mask, bias, sink,
        q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l,
        mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
        H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap,
        False, RATE, GROUP, TWO, DOCUMENTS, PREFIX, MASK, BIAS, SINK, CAP, CARRY, PRECISION, WHOLE,
        QL, KL, VL, BM, BN, BD, BV,
    )  # fmt: skip
    if worst > 0:
        forward_tile(
            again(pid, worst), q, k, v, out, lse, earlier, earlier_lse, documents, prefix, mask, bias, sink,
            q_b, q_h, q_l, k_b, k_h, k_l, v_b, v_h, v_l, o_b, o_h, o_l,
            mask_b, mask_h, mask_m, mask_n, bias_b, bias_h, bias_m, bias_n, documents_b, prefix_b,
            H, Lq, Lk, D, Dv, offset, lo_a, hi_a, cap_a, lo_b, hi_b, cap_b, scale, sharpness, cap,
            True, RATE, GROUP, TWO, DOCUMENTS, PREFIX, MASK, BIAS, SINK, CAP, CARRY, PRECISION, WHOLE,
            QL, KL, VL, BM, BN, BD, BV,
        )  # fmt: skip


@triton.jit
def joined(acc, norm, top, other, log):
    """A running softmax and another's result, of which `log` is the logarithm of the sum."""
    higher = tl.maximum(top, log)
    base = tl.where(higher == -float("inf"), 0.0, higher)
    mine, theirs = tl.exp2(top - base), tl.exp2(log - base)
    return acc * mine[:, None] + other * theirs[:, None], norm * mine + theirs, higher
