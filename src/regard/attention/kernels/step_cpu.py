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


# Numbers are found in flat arrays by where they begin: a slice would be counted, by all threads in one place.
# A place without a sign is never one from the end, which numba would ask each time.


@part
def _dot(x, at, y, its, size):
    total, at, its = np.float32(0), np.uintp(at), np.uintp(its)
    for d in range(np.uintp(size)):
        total += x[at + d] * y[its + d]
    return total


@part
def _add(out, at, weight, x, its, size):
    at, its = np.uintp(at), np.uintp(its)
    for d in range(np.uintp(size)):
        out[at + d] += weight * x[its + d]


@part
def _normalise(weights, at, count):
    """softmax of so many, in place"""
    least, total = np.float32(-80), np.float32(0)
    peak = weights[at]
    for j in range(at + 1, at + count):
        peak = max(peak, weights[j])
    for j in range(at, at + count):
        x = weights[j] - peak
        x = least if x < least else x
        weights[j] = _exp(x)
        total += weights[j]
    for j in range(at, at + count):
        weights[j] /= total


@kernel
def _past(plan, new, room, ancestors, out, heads, scale):
    """out[n] for tasks of some n."""
    if done_by_team(plan):
        return
    (count, length), width, rows = ancestors.shape, out.shape[1], room.shape[1]
    size, each = width // heads, length + 1
    weights, places = np.empty(heads * each, new.dtype), np.empty(each, np.intp)
    queries, known, found = new.reshape(new.size), room.reshape(room.size), out.reshape(out.size)
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        for n in range(task * ROWS, min(task * ROWS + ROWS, count)):
            for j in range(length):
                places[j] = (j * rows + ancestors[n, j]) * 2 * width
            places[length] = (length * rows + n) * 2 * width
            for d in range(2 * width):
                known[places[length] + d] = queries[n * 3 * width + width + d]
            for j in range(each):
                for h in range(heads):
                    at, its = n * 3 * width + h * size, places[j] + h * size
                    weights[h * each + j] = _dot(queries, at, known, its, size) * scale
            for h in range(heads):
                _normalise(weights, h * each, each)
            for d in range(width):
                found[n * width + d] = np.float32(0)
            for j in range(each):
                for h in range(heads):
                    at, its = n * width + h * size, places[j] + width + h * size
                    _add(found, at, weights[h * each + j], known, its, size)


@kernel
def _source(plan, query, keys, values, real, sentences, out, heads, scale):
    """out[n] for tasks of the hypotheses of a sentence."""
    if done_by_team(plan):
        return
    width, length = out.shape[1], keys.shape[1]
    size, each = width // heads, len(query) // len(sentences)
    weights, places = np.empty(heads * length, query.dtype), np.empty(length, np.intp)
    queries, found = query.reshape(query.size), out.reshape(out.size)
    of_keys, of_values = keys.reshape(keys.size), values.reshape(values.size)
    while True:
        task = take(plan)
        if task >= plan[TASKS]:
            return
        b, there = sentences[task], 0
        for j in range(length):
            if real[b, j]:
                places[there] = (b * length + j) * width
                there += 1
        for n in range(task * each, task * each + each):
            for i in range(there):
                for h in range(heads):
                    at, its = n * width + h * size, places[i] + h * size
                    weights[h * there + i] = _dot(queries, at, of_keys, its, size) * scale
            for h in range(heads):
                _normalise(weights, h * there, there)
            for d in range(width):
                found[n * width + d] = np.float32(0)
            for i in range(there):
                for h in range(heads):
                    at, its = n * width + h * size, places[i] + h * size
                    _add(found, at, weights[h * there + i], of_values, its, size)
