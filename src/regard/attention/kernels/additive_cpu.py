"""Additive scores on the CPU:  s_ij = Σ_d w_d tanh(q_id + k_jd), compiled by numba.

No transcendental is evaluated per pair. With E = exp(2q) and F = exp(2k), computed once per row,

    tanh(q + k) = 1 - 2r        r = 1 / (1 + E F)        tanh'(q + k) = 4 r (1 - r)

and the reciprocals of four keys' denominators d cost one division (batch inversion):

    z = 1 / (d0 d1 d2 d3)       r0 = z (d2 d3) d1       r1 = z (d2 d3) d0       r2, r3 alike

Range: a denominator is capped where tanh has long reached 1, so that the product of four is finite.
Where exp itself could leave the range of its type, the tile takes exp(2 (q + k)) of each sum instead.

Every element is computed by one task, in one order: results do not depend on the number of threads.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import functools
import math

import numpy as np
import torch
from numba import types
from numba.extending import overload
from torch import Tensor

from regard.attention.kernels import additive_torch
from regard.attention.kernels.compiled import kernel, part
from regard.attention.kernels.threads import TASKS, done_by_team, share, take

QUERIES = 64  # queries per forward task: their exponentials stay in the L2 cache
FEATURES = 128  # features per backward task, at most
GRAIN = 1 << 20  # pairs × features that are worth a second thread; an exponential counts as 4
BLOCK = 1 << 20  # pairs whose scores the attention holds at a time

# dtype: (largest |x| for which exp(2x) is taken, largest denominator 1 + exp(2x) that is told apart)
_RANGE = {
    torch.float32: (np.float32(43), np.float32(2.0**28)),
    torch.float64: (np.float64(350), np.float64(2.0**60)),
}


def scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """query (N, Lq, D), key (N, Lk, D), weight (G, D) -> (N, Lq, Lk) in the dtype of query."""
    dtype = additive_torch.compute_dtype(query)
    q, k, w = (x.to(dtype).contiguous() for x in (query, key, weight))
    out = q.new_empty(q.shape[0], q.shape[1], k.shape[1])
    if out.numel():
        tasks = q.shape[0] * -(-q.shape[1] // QUERIES)
        work = out.numel() * q.shape[2] + 4 * k.numel()
        arrays = [x.detach().numpy() for x in (q, k, w, out)]
        share(_forward, tasks, 1 + work // GRAIN, *arrays, *_RANGE[dtype])
    return out.to(query.dtype)


def scores_backward(
    grad: Tensor, query: Tensor, key: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of Σ grad · scores(query, key, weight) with respect to query, key and weight."""
    dtype = additive_torch.compute_dtype(query)
    g, q, k, w = (x.to(dtype).contiguous() for x in (grad, query, key, weight))
    rows, groups, features = len(q), *w.shape
    dq, dk, dw = torch.empty_like(q), torch.empty_like(k), q.new_empty(rows, features)
    if g.numel() and features:
        arrays = [x.detach().numpy() for x in (g, q, k, w, dq, dk, dw)]
        tasks = rows * -(-features // FEATURES)
        work = 2 * g.numel() * features + 4 * k.numel()
        share(_backward, tasks, 1 + work // GRAIN, *arrays, *_RANGE[dtype])
    else:
        dq, dk, dw = dq.zero_(), dk.zero_(), dw.zero_()
    dweight = dw.view(rows // groups, groups, features).sum(0)
    return dq.to(query.dtype), dk.to(key.dtype), dweight.to(weight.dtype)


attention = functools.partial(additive_torch.attend, scores, BLOCK)
attention_backward = functools.partial(
    additive_torch.attend_backward, scores, scores_backward, BLOCK
)


# --- kernels ----------------------------------------------------------------------------------------


def _exp(x):
    raise NotImplementedError("compiled code only")


@overload(_exp, jit_options={"fastmath": {"contract"}})  # reassociation would undo the reduction
def _exp_of_its_type(x):
    """exp for |x| < 87: in float32 by Cody-Waite reduction and a polynomial, which vectorise."""
    if x != types.float32:
        return lambda x: math.exp(x)
    one, half, log2e = np.float32(1), np.float32(0.5), np.float32(1.44269504)
    high, low = (
        np.float32(0.693359375),
        np.float32(-2.12194440e-4),
    )  # ln 2, of which n · high is exact
    c2, c3, c4 = (
        np.float32(5.0000001201e-1),
        np.float32(1.6666665459e-1),
        np.float32(4.1665795894e-2),
    )
    c5, c6, c7 = (
        np.float32(8.3334519073e-3),
        np.float32(1.3981999507e-3),
        np.float32(1.9875691500e-4),
    )

    def exp32(x):
        n = np.floor(x * log2e + half)
        t = (x - n * high) - n * low
        p = c2 + t * (c3 + t * (c4 + t * (c5 + t * (c6 + t * c7))))
        return (one + (t + t * t * p)) * np.int32((np.int32(n) + 127) << 23).view(np.float32)

    return exp32


@part
def _exponentials(x, out, limit):
    """out = exp(2x); returns how many x lie beyond ±limit or are NaN, for which out is of no use."""
    zero, one = limit - limit, limit / limit
    beyond = zero  # a count in the type of x, so that all lanes of a vector are of one width
    for d in range(x.size):
        y = limit if x[d] > limit else x[d]
        y = -limit if y < -limit else y
        beyond += zero if y == x[d] else one
        out[d] = _exp(y + y)
    return beyond


@part
def _of_exponentials(e, f):
    return e * f


@part
def _of_sum(q, k):
    """exp(2 (q + k)), for any q and k; beyond 40 tanh is 1."""
    bound = np.float32(40)
    x = q + k
    x = bound if x > bound else x
    x = -bound if x < -bound else x
    return _exp(x + x)


def _adder_of_reciprocals(product):
    @part
    def add(queries, keys, w, out, cap):
        """out[i, m] = Σ_d w_d r_imd, with r = 1 / (1 + product(queries[i], keys[m])) for four keys."""
        one = cap / cap
        k0, k1, k2, k3 = keys[0], keys[1], keys[2], keys[3]
        for i in range(queries.shape[0]):
            q = queries[i]
            s0 = s1 = s2 = s3 = one - one
            for d in range(w.size):
                d0 = one + product(q[d], k0[d])
                d1 = one + product(q[d], k1[d])
                d2 = one + product(q[d], k2[d])
                d3 = one + product(q[d], k3[d])
                d0 = cap if d0 > cap else d0
                d1 = cap if d1 > cap else d1
                d2 = cap if d2 > cap else d2
                d3 = cap if d3 > cap else d3
                d01, d23 = d0 * d1, d2 * d3
                z = w[d] / (d01 * d23)
                z01, z23 = z * d23, z * d01
                s0 += z01 * d1
                s1 += z01 * d0
                s2 += z23 * d3
                s3 += z23 * d2
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = s0, s1, s2, s3

    return add


_add_reciprocals = _adder_of_reciprocals(_of_exponentials)
_add_reciprocals_plainly = _adder_of_reciprocals(_of_sum)


@kernel
def _forward(plan, query, key, weight, out, limit, cap):
    """out[n, i, j] for tasks (n, block of queries)."""
    if done_by_team(plan):
        return
    queries, keys = query.shape[1], key.shape[1]
    groups, features = weight.shape
    blocks = (queries + QUERIES - 1) // QUERIES
    zero, one = limit - limit, limit / limit
    w = np.empty(features, query.dtype)
    exp_queries = np.empty((min(QUERIES, queries), features), query.dtype)
    four_keys = np.empty((4, features), query.dtype)
    sums = np.empty((exp_queries.shape[0], 4), query.dtype)
    poison = np.empty(4, query.dtype)  # NaN for a key with NaN: it must not reach the other three
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        n, start = task // blocks, (task % blocks) * QUERIES
        rows = min(QUERIES, queries - start)
        # Weights of at most 1, so that z does not underflow where all weights are tiny.
        peak, total = zero, zero
        for d in range(features):
            peak = max(peak, abs(weight[n % groups, d]))
        peak = one if peak == zero else peak
        for d in range(features):
            w[d] = weight[n % groups, d] / peak
            total += w[d]
        wide_queries = zero
        for i in range(rows):
            wide_queries += _exponentials(query[n, start + i], exp_queries[i], limit)
        for j in range(0, keys, 4):
            count = min(4, keys - j)
            wide = wide_queries
            for m in range(count):
                wide += _exponentials(key[n, j + m], four_keys[m], limit)
                poison[m] = zero
            for m in range(count, 4):
                for d in range(features):
                    four_keys[m, d] = zero
            if wide == zero:
                _add_reciprocals(exp_queries[:rows], four_keys, w, sums, cap)
            else:
                for m in range(count):
                    for d in range(features):
                        x = key[n, j + m, d]
                        four_keys[m, d] = x if x == x else zero
                        poison[m] += zero if x == x else x
                block = query[n, start : start + rows]
                _add_reciprocals_plainly(block, four_keys, w, sums, cap)
            for i in range(rows):
                for m in range(count):
                    score = peak * (total - (sums[i, m] + sums[i, m]))
                    out[n, start + i, j + m] = score + poison[m]


def _adder_of_gradients(product):
    @part
    def add(queries, keys, grads, width, cap):
        """With r = 1 / (1 + product(query, key)) and h = g r (1 - r), for four keys and all queries, adds

            Σ_j h to row 1 of a query       Σ_i h to rows 4…7 of keys       Σ_ij g r to row 8 of keys

        queries (Lq, 2, FEATURES) and keys (9, FEATURES), both flat: from constant distances the compiler sees
        that rows do not overlap. Row 0 of queries and rows 0…3 of keys are given; grads (Lq, 4).
        """
        one = cap / cap
        for i in range(grads.shape[0]):
            g0, g1, g2, g3 = grads[i, 0], grads[i, 1], grads[i, 2], grads[i, 3]
            row = i * 2 * FEATURES
            for d in range(width):
                q = queries[row + d]
                d0 = one + product(q, keys[d])
                d1 = one + product(q, keys[d + FEATURES])
                d2 = one + product(q, keys[d + 2 * FEATURES])
                d3 = one + product(q, keys[d + 3 * FEATURES])
                d0 = cap if d0 > cap else d0
                d1 = cap if d1 > cap else d1
                d2 = cap if d2 > cap else d2
                d3 = cap if d3 > cap else d3
                d01, d23 = d0 * d1, d2 * d3
                z = one / (d01 * d23)
                z01, z23 = z * d23, z * d01
                r0, r1, r2, r3 = z01 * d1, z01 * d0, z23 * d3, z23 * d2
                h0, h1, h2, h3 = g0 * r0, g1 * r1, g2 * r2, g3 * r3
                keys[d + 8 * FEATURES] += (h0 + h1) + (h2 + h3)
                h0, h1, h2, h3 = h0 - h0 * r0, h1 - h1 * r1, h2 - h2 * r2, h3 - h3 * r3
                keys[d + 4 * FEATURES] += h0
                keys[d + 5 * FEATURES] += h1
                keys[d + 6 * FEATURES] += h2
                keys[d + 7 * FEATURES] += h3
                queries[row + d + FEATURES] += (h0 + h1) + (h2 + h3)

    return add


_add_gradients = _adder_of_gradients(_of_exponentials)
_add_gradients_plainly = _adder_of_gradients(_of_sum)


@kernel
def _backward(plan, grad, query, key, weight, dquery, dkey, dweight, limit, cap):
    """dquery[n, :, c], dkey[n, :, c], dweight[n, c] for tasks (n, chunk c of features)."""
    if done_by_team(plan):
        return
    queries, keys = query.shape[1], key.shape[1]
    groups, features = weight.shape
    chunks = (features + FEATURES - 1) // FEATURES
    zero, one = limit - limit, limit / limit
    four = (one + one) * (one + one)
    of_queries = np.ones((queries, 2, FEATURES), query.dtype)
    of_keys = np.ones((9, FEATURES), query.dtype)
    flat_queries, flat_keys = of_queries.ravel(), of_keys.ravel()
    grads = np.empty((queries, 4), query.dtype)
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        n, start = task // chunks, (task % chunks) * FEATURES
        stop = min(start + FEATURES, features)
        w = weight[n % groups, start:stop]
        width = (w.size + 15) // 16 * 16  # whole vectors; the surplus is computed and not used
        wide_queries = zero
        for i in range(queries):
            wide_queries += _exponentials(query[n, i, start:stop], of_queries[i, 0], limit)
            for d in range(width):
                of_queries[i, 1, d] = zero
        for d in range(width):
            of_keys[8, d] = zero
        total = 0.0
        for j in range(0, keys, 4):
            count = min(4, keys - j)
            for i in range(queries):
                for m in range(4):
                    grads[i, m] = grad[n, i, j + m] if m < count else zero
                    total += grads[i, m]
            for m in range(count, 8):
                for d in range(width):
                    of_keys[m, d] = zero
            wide = wide_queries
            for m in range(count):
                wide += _exponentials(key[n, j + m, start:stop], of_keys[m], limit)
            if wide == zero:
                _add_gradients(flat_queries, flat_keys, grads, width, cap)
            else:
                for d in range(w.size):
                    for i in range(queries):
                        of_queries[i, 0, d] = query[n, i, start + d]
                    for m in range(count):
                        of_keys[m, d] = key[n, j + m, start + d]
                _add_gradients_plainly(flat_queries, flat_keys, grads, width, cap)
                for i in range(queries):
                    _exponentials(query[n, i, start:stop], of_queries[i, 0], limit)
            for m in range(count):
                for d in range(w.size):
                    dkey[n, j + m, start + d] = four * w[d] * of_keys[4 + m, d]
        for d in range(w.size):
            dweight[n, start + d] = total - 2 * of_keys[8, d]
        for i in range(queries):
            for d in range(w.size):
                dquery[n, i, start + d] = four * w[d] * of_queries[i, 1, d]
