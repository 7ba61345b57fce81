"""One query for each hypothesis of a beam, on the CPU, compiled by numba: softmax(q K^T · scale) V

Keys and values stay where they were written. A hypothesis that goes on from another one reads what that one
wrote: `ancestors` says in which row each earlier position is, so that reordering a beam copies nothing.

Legend: N hypotheses, R rows of the room (N at most), T earlier positions, B sentences, S source positions,
W = H heads · D features.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
import torch
from torch import Tensor

from regard.attention.kernels.additive_cpu import _exp
from regard.attention.kernels.compiled import kernel, part
from regard.attention.kernels.threads import TASKS, done_by_team, share, take

ROWS = 16  # hypotheses of a task
GRAIN = 1 << 16  # products that are worth a second thread


def attend_past(new: Tensor, room: Tensor, ancestors: Tensor, heads: int, scale: float) -> Tensor:
    """new (N, 3W): queries, keys and values of this position, which is written into the room (…, R, 2W) at T.

    ancestors (N, T) int32: the rows of the earlier positions -> context (N, W)
    """
    count, length = ancestors.shape
    width = new.shape[1] // 3
    out = new.new_empty(count, width)
    arrays = (x.numpy() for x in (new, room, ancestors, out))
    tasks, work = -(-count // ROWS), 2 * count * width * (length + 1)
    share(_past, tasks, 1 + work // GRAIN, *arrays, heads, np.float32(scale))
    return out


def attend_source(
    query: Tensor, keys: Tensor, values: Tensor, real: Tensor, sentences: Tensor, heads: int, scale: float
) -> Tensor:  # fmt: skip
    """query (N, W) over keys and values (B, S, W), where real (B, S) is True -> context (N, W)

    sentences (B',): that of each N // B' hypotheses side by side. Each has a real position.
    """
    out = torch.empty_like(query)
    arrays = (x.numpy() for x in (query, keys, values, real, sentences, out))
    work = 2 * query.numel() * keys.shape[1]
    share(_source, len(sentences), 1 + work // GRAIN, *arrays, heads, np.float32(scale))
    return out


def run_once() -> None:
    """So that all is compiled."""
    one, real = torch.zeros(1, 1), torch.ones(1, 1, dtype=torch.bool)
    none, first = torch.zeros(1, 0, dtype=torch.int32), torch.zeros(1, dtype=torch.long)
    attend_past(torch.zeros(1, 3), torch.zeros(1, 1, 2), none, 1, 1.0)
    attend_source(one, one[None], one[None], real, first, 1, 1.0)


# --- kernels ----------------------------------------------------------------------------------------


@part
def _dot(a, b):
    total = np.float32(0)
    for d in range(a.size):
        total += a[d] * b[d]
    return total


@part
def _add(out, weight, x):
    for d in range(out.size):
        out[d] += weight * x[d]


@part
def _normalise(weights):
    """softmax, in place"""
    least, total = np.float32(-80), np.float32(0)
    peak = weights[0]
    for j in range(1, weights.size):
        peak = max(peak, weights[j])
    for j in range(weights.size):
        x = weights[j] - peak
        x = least if x < least else x
        weights[j] = _exp(x)
        total += weights[j]
    for j in range(weights.size):
        weights[j] /= total


@kernel
def _past(plan, new, room, ancestors, out, heads, scale):
    """out[n] for tasks of some n."""
    if done_by_team(plan):
        return
    (count, length), width = ancestors.shape, out.shape[1]
    size = width // heads
    weights = np.empty(length + 1, new.dtype)
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        for n in range(task * ROWS, min(task * ROWS + ROWS, count)):
            room[length, n, :] = new[n, width:]
            out[n, :] = np.float32(0)
            for h in range(heads):
                a, z = h * size, h * size + size
                query = new[n, a:z]
                for j in range(length):
                    weights[j] = _dot(query, room[j, ancestors[n, j], a:z]) * scale
                weights[length] = _dot(query, room[length, n, a:z]) * scale
                _normalise(weights)
                context = out[n, a:z]
                a, z = a + width, z + width
                for j in range(length):
                    _add(context, weights[j], room[j, ancestors[n, j], a:z])
                _add(context, weights[length], room[length, n, a:z])


@kernel
def _source(plan, query, keys, values, real, sentences, out, heads, scale):
    """out[n] for tasks of the hypotheses of a sentence."""
    if done_by_team(plan):
        return
    width, length = out.shape[1], keys.shape[1]
    size, each = width // heads, len(query) // len(sentences)
    weights, places = np.empty(length, query.dtype), np.empty(length, np.intp)
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        b, there = sentences[task], 0
        for j in range(length):
            if real[b, j]:
                places[there] = j
                there += 1
        for h in range(heads):
            a, z = h * size, h * size + size
            for n in range(task * each, task * each + each):
                for i in range(there):
                    weights[i] = _dot(query[n, a:z], keys[b, places[i], a:z]) * scale
                _normalise(weights[:there])
                context = out[n, a:z]
                context[:] = np.float32(0)
                for i in range(there):
                    _add(context, weights[i], values[b, places[i], a:z])
