"""What the kernels of a region share: which tiles a tile can reach, and which pairs in them are open.

A region is a union of at most two stretches, A and B. Query i stands at position p = i + offset, and key j
lies in a stretch if  lo <= j - p <= hi  and  j < cap. A rate splits queries and keys into classes that never
meet, (p - j) mod rate = 0: a program works on one class, counts in steps of the rate, and moves no row.

Of the tiles that a stretch meets, those wholly inside need no test of their pairs ("inner"), the others do
("edge"). Each tile is visited once, whatever A and B have in common.

Legend: m queries and n keys of a class, counted in steps; documents (5, L) int32: id, [first, last + 1) of
all positions with the id, [first, last + 1) of those around a position without a gap.
"""

# ruff: noqa: N803  (sizes and compile-time constants are capitals)

from __future__ import annotations

import math

import triton
import triton.language as tl

from regard.attention.kernels.region.region_passes import FAR

_FAR = tl.constexpr(FAR)
LOG2E = tl.constexpr(1 / math.log(2))
LN2 = tl.constexpr(math.log(2))


@triton.jit
def class_of(residue, offset, Lq, Lk, RATE: tl.constexpr):
    """The keys residue, residue + RATE, … and the queries that may meet them.

    -> the first of these queries, how many they are, how many keys; where the first stands, in steps.
    """
    first = (residue - offset % RATE + 2 * RATE) % RATE
    queries = tl.maximum(Lq - first + RATE - 1, 0) // RATE
    keys = tl.maximum(Lk - residue + RATE - 1, 0) // RATE
    return first, queries, keys, (first + offset - residue) // RATE


@triton.jit
def last_key(cap, residue, keys, RATE: tl.constexpr):
    """`cap` in steps of a class: keys from it on are closed."""
    return tl.minimum(tl.maximum(cap - residue + RATE - 1, 0) // RATE, keys)


@triton.jit
def document_bounds(documents, at, exists, L):
    """What a tile of positions says together: the hull of what any may reach, the core that all may."""
    low = tl.min(tl.load(documents + L + at, mask=exists, other=_FAR), 0)
    high = tl.max(tl.load(documents + 2 * L + at, mask=exists, other=0), 0)
    inner_low = tl.max(tl.load(documents + 3 * L + at, mask=exists, other=0), 0)
    inner_high = tl.min(tl.load(documents + 4 * L + at, mask=exists, other=_FAR), 0)
    return low, high, inner_low, inner_high


@triton.jit
def span(first, last, lo, hi, end, low, high, inner_low, inner_high, BLOCK: tl.constexpr):
    """Tiles [t0, t1) that some row of first..last reaches, and [f0, f1) in which every row reaches all."""
    low = tl.maximum(low, tl.maximum(first + lo, 0))
    high = tl.minimum(high, tl.minimum(last + hi + 1, end))
    inner_low = tl.maximum(inner_low, tl.maximum(last + lo, 0))
    inner_high = tl.minimum(inner_high, tl.minimum(first + hi + 1, end))
    some = low < high
    t0 = tl.where(some, low // BLOCK, 0)
    t1 = tl.where(some, tl.cdiv(high, BLOCK), 0)
    f0 = tl.minimum(tl.maximum(tl.cdiv(inner_low, BLOCK), t0), t1)
    f1 = tl.maximum(tl.minimum(tl.maximum(inner_high, 0) // BLOCK, t1), f0)
    return t0, t1, f0, f1


@triton.jit
def span_of_keys(
    first, last, lo, hi, cap, start, queries, low, high, inner_low, inner_high, BLOCK: tl.constexpr
):
    """The same from the side of the keys first..last: tiles of the queries that reach them."""
    inside = tl.minimum(last, cap - 1)
    t0, t1, f0, f1 = span(
        first - start, inside - start, 0 - hi, 0 - lo, queries,
        low - start, high - start, inner_low - start, inner_high - start, BLOCK,
    )  # fmt: skip
    none = inside < first
    t0, t1 = tl.where(none, 0, t0), tl.where(none, 0, t1)
    f0 = tl.where(none, 0, f0)
    f1 = tl.where(none | (inside < last), f0, f1)
    return t0, t1, f0, f1


@triton.jit
def union(a0, a1, fa0, fa1, b0, b1, fb0, fb1):
    """Both spans with no tile in common: the first to begin is A, and B begins where A has ended."""
    swap = b0 < a0
    c0, c1 = tl.where(swap, b0, a0), tl.where(swap, b1, a1)
    fc0, fc1 = tl.where(swap, fb0, fa0), tl.where(swap, fb1, fa1)
    d0, d1 = tl.where(swap, a0, b0), tl.where(swap, a1, b1)
    fd0, fd1 = tl.where(swap, fa0, fb0), tl.where(swap, fa1, fb1)
    d0 = tl.maximum(d0, c1)
    d1 = tl.maximum(d1, d0)
    fd0 = tl.minimum(tl.maximum(fd0, d0), d1)
    fd1 = tl.minimum(tl.maximum(fd1, fd0), d1)
    return c0, c1, fc0, fc1, d0, d1, fd0, fd1


@triton.jit
def edge_tile(t, a0, fa0, fa1, a1, b0, fb0, fb1):
    """The t-th of the tiles [a0, fa0), [fa1, a1), [b0, fb0), [fb1, …)."""
    n1 = fa0 - a0
    n2 = n1 + a1 - fa1
    n3 = n2 + fb0 - b0
    left = tl.where(t < n1, a0 + t, fa1 + t - n1)
    right = tl.where(t < n3, b0 + t - n2, fb1 + t - n3)
    return tl.where(t < n2, left, right)


@triton.jit
def run_tile(t, a0, a1, b0):
    """The t-th of the tiles [a0, a1), [b0, …)."""
    return tl.where(t < a1 - a0, a0 + t, b0 + t - (a1 - a0))


@triton.jit
def known(stride, STRIDE: tl.constexpr):
    """A stride as the number that it was compiled for, if it was: then addresses take no registers."""
    if STRIDE:
        stride = STRIDE
    return stride


@triton.jit
def rows_at(base, tile, stride, lane, d, BLOCK: tl.constexpr):
    """Addresses of a tile of rows: (BLOCK, features)."""
    start = tile.to(tl.int64) * BLOCK * stride
    return base + start + lane[:, None] * stride + d[None, :]


@triton.jit
def load_rows(place, exists, d, D, BOUNDED: tl.constexpr, WHOLE: tl.constexpr):
    """Rows and features that do not exist are 0; WHOLE: all features of a tile exist."""
    if BOUNDED and WHOLE:
        rows = tl.load(place, mask=exists[:, None], other=0.0)
    elif BOUNDED:
        rows = tl.load(place, mask=exists[:, None] & (d < D)[None, :], other=0.0)
    elif WHOLE:
        rows = tl.load(place)
    else:
        rows = tl.load(place, mask=(d < D)[None, :], other=0.0)
    return rows


@triton.jit
def bad_keys(
    k, v, tile, exists, sk, sv, D, Dv,
    BN: tl.constexpr, BD: tl.constexpr, BV: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """1 for the keys that hold a number that is not finite, or whose values do: (BN,)"""
    lane, d, dv = tl.arange(0, BN), tl.arange(0, BD), tl.arange(0, BV)
    key = load_rows(rows_at(k, tile, sk, lane, d, BN), exists, d, D, True, WHOLE)
    value = load_rows(rows_at(v, tile, sv, lane, dv, BN), exists, dv, Dv, True, WHOLE)
    none = tl.sum((key * 0.0).to(tl.float32), 1) + tl.sum((value * 0.0).to(tl.float32), 1)
    return tl.where(none == 0.0, 0, 1)


@triton.jit
def spoils(x):
    """Whether any number of a matrix is not finite, as one number."""
    return tl.max(tl.where(tl.sum(x * 0.0, 1) == 0.0, 0, 1), 0)


@triton.jit
def dealt_out(pid, tiles, many):
    """Which tile a program has: if `many` is 0, one head comes after the other.

    Else the first tiles of all heads come first, which take longest. So many programs begin at a time, one on
    each multiprocessor; every other time they are dealt out backwards, so that all have as much to do.
    """
    if many > 0:
        turn, at = pid // many, pid % many
        if turn % 2 == 1 and (turn + 1) * many <= tl.num_programs(0):
            at = many - 1 - at
        heads = tl.num_programs(0) // tiles
        at += turn * many
        pid = at % heads * tiles + at // heads
    return pid


@triton.jit
def again(pid, worst):
    """`pid`, as a number that the compiler does not know: so nothing is kept in registers, during the loops
    that all tiles go through, for those that few must go through again. worst: 1."""
    return pid + worst - 1


@triton.jit
def stretch_of(m, start, lo, hi, cap):
    """The first key that each query may attend, and how many; what a query that is none may, is no matter."""
    low = m + start + lo
    return low, tl.maximum(tl.minimum(m + start + hi + 1, cap) - low, 0).to(tl.uint32)


@triton.jit
def open_pairs(
    n, low_a, most_a, low_b, most_b, id_q, id_k, TWO: tl.constexpr, DOCUMENTS: tl.constexpr
):
    """Bool for pairs of a tile; all are broadcast: queries stand along one axis, keys along the other."""
    pairs = (n - low_a).to(tl.uint32) < most_a
    if TWO:
        pairs = pairs | ((n - low_b).to(tl.uint32) < most_b)
    if DOCUMENTS:
        pairs = pairs & (id_q == id_k)
    return pairs


@triton.jit
def closed_keys(mask, n, keys, mask_n):
    """−∞ for the keys that are closed to all queries, else 0: to be added."""
    given = tl.load(mask + n.to(tl.int64) * mask_n, mask=n < keys, other=0)
    return tl.where(given != 0, 0.0, -float("inf"))


@triton.jit
def given_mask(pairs, mask, m, n, keys, mask_m, mask_n, MASK: tl.constexpr):
    """`pairs` as far as the caller's mask agrees. MASK: 1 for keys alone, 2 for pairs."""
    if MASK == 1:
        given = tl.load(mask + n.to(tl.int64) * mask_n, mask=n < keys, other=0)
    else:
        place = mask + m.to(tl.int64) * mask_m + n.to(tl.int64) * mask_n
        given = tl.load(place, mask=pairs, other=0)
    return pairs & (given != 0)


@triton.jit
def given_bias(pairs, bias, m, n, keys, bias_m, bias_n, BIAS: tl.constexpr):
    """The bias of the pairs, 0 where there are none. BIAS: 1 for keys alone, 2 for pairs."""
    if BIAS == 1:
        given = tl.load(bias + n.to(tl.int64) * bias_n, mask=n < keys, other=0.0)
    else:
        place = bias + m.to(tl.int64) * bias_m + n.to(tl.int64) * bias_n
        given = tl.load(place, mask=pairs, other=0.0)
    return given.to(tl.float32)


@triton.jit
def capped(x, cap):
    """cap · tanh(x / cap), and its slope."""
    t = 1.0 - 2.0 / (1.0 + tl.exp2(x * (2.0 * LOG2E / cap)))
    return cap * t, 1.0 - t * t


@triton.jit
def weights_of(
    qk, log, n, m, queries, low_a, most_a, low_b, most_b, id_q, id_k,
    mask, mask_m, mask_n, bias, bias_m, bias_n, keys, scale, sharpness, cap,
    EDGE: tl.constexpr, CAREFUL: tl.constexpr, TWO: tl.constexpr, DOCUMENTS: tl.constexpr,
    MASK: tl.constexpr, BIAS: tl.constexpr, CAP: tl.constexpr,
):  # fmt: skip
    """p of a tile, its open pairs and the slope of the cap; all are broadcast, as in `open_pairs`."""
    factor = scale * sharpness * LOG2E
    s, slope = qk, qk
    if CAP:
        s, slope = capped(qk * scale, cap)
        factor = sharpness * LOG2E
    elif BIAS:
        s = qk * scale
        factor = sharpness * LOG2E
    pairs = qk == qk
    if MASK == 1 and not (EDGE or CAREFUL or BIAS):
        s = s + closed_keys(mask, n, keys, mask_n)
    elif EDGE or MASK or BIAS:
        if EDGE:
            pairs = open_pairs(n, low_a, most_a, low_b, most_b, id_q, id_k, TWO, DOCUMENTS)
            if MASK == 2 or BIAS == 2:  # which have no rows for queries that do not exist
                pairs = pairs & (m < queries)
        else:
            pairs = (m < queries) & (n < keys)
        if MASK:
            pairs = given_mask(pairs, mask, m, n, keys, mask_m, mask_n, MASK)
        if BIAS:
            b = given_bias(pairs, bias, m, n, keys, bias_m, bias_n, BIAS)
            pairs = pairs & (b != -float("inf"))
            s = s + tl.where((b - b) == 0.0, b, 0.0)
        s = tl.where(pairs, s, -float("inf"))
    return tl.exp2(s * factor - log), pairs, slope
