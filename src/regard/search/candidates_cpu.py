"""The best continuations of each sentence, straight from the logits, on the CPU, compiled by numba.

    log_prob = logit - max - log Σ exp(logit - max)

One pass finds the maxima of some dozen tokens each, one sums the exponentials, and only tokens whose maximum
can still be among the best are looked at: no log-probabilities of a whole vocabulary are written.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import math

import numpy as np
import torch
from torch import Tensor

from regard.attention.kernels.additive_cpu import _exp
from regard.attention.kernels.compiled import kernel, part
from regard.attention.kernels.threads import TASKS, done_by_team, share, take
from regard.search.candidates import CHUNK, Candidates

GRAIN = 1 << 15  # logits that are worth a second thread


def best_of_logits(logits: Tensor, totals: Tensor, banned: list[int], count: int) -> Candidates:
    """`best` of log_softmax(logits) with -inf at `banned`: logits (B·w, V) float32, totals (B, w)."""
    batch, size = len(totals), logits.shape[1]
    count = min(count, totals.shape[1] * size)
    parents, tokens = torch.zeros(2, batch, count, dtype=torch.long)
    log_probs, sums = torch.full((2, batch, count), -torch.inf)
    arrays = [x.numpy() for x in (logits.contiguous(), totals, parents, tokens, log_probs, sums)]
    never = np.array(banned, np.intp)
    share(_best, batch, 1 + logits.numel() // GRAIN, *arrays, never)
    return Candidates(parents, tokens, log_probs, sums)


def run_once() -> None:
    """So that all is compiled."""
    best_of_logits(torch.zeros(1, 2), torch.zeros(1, 1), [0], 1)


# --- kernels ----------------------------------------------------------------------------------------


@part
def _peak(x):
    peak = x[0]
    for i in range(1, x.size):
        peak = x[i] if x[i] > peak else peak
    return peak


@part
def _sum_of_exponentials(x, peak):
    least, total = np.float32(-80), np.float32(0)
    for i in range(x.size):
        y = x[i] - peak
        # of NaN it is NaN: neither is above the other
        y = least if y < least else y
        total += _exp(y)
    return total


@kernel
def _best(plan, logits, totals, parents, tokens, log_probs, sums, never):
    """Row b of the results, in falling order, for tasks b; of equal ones the first."""
    if done_by_team(plan):
        return
    (width, size), count = (totals.shape[1], logits.shape[1]), sums.shape[1]
    chunks = (size + CHUNK - 1) // CHUNK
    peaks = np.empty(chunks, logits.dtype)
    while True:
        b = take(plan)
        if b >= plan[TASKS]:
            return
        found = 0
        for w in range(width):
            row, total = logits[b * width + w], totals[b, w]
            for c in range(chunks):
                peaks[c] = _peak(row[c * CHUNK : min(size, c * CHUNK + CHUNK)])
            peak = _peak(peaks)
            log_sum = np.float32(math.log(_sum_of_exponentials(row, peak)))
            for c in range(chunks):
                # subtracted as below, so that rounding cannot leave out what would be taken
                most = total + ((peaks[c] - peak) - log_sum)
                if not (found < count or most > sums[b, count - 1]):
                    continue
                for token in range(c * CHUNK, min(size, c * CHUNK + CHUNK)):
                    log_prob = (row[token] - peak) - log_sum
                    value = total + log_prob
                    # nor what is -inf or NaN
                    if not value > (sums[b, count - 1] if found == count else -np.inf):
                        continue
                    allowed = True
                    for i in range(never.size):
                        allowed = allowed and token != never[i]
                    if not allowed:
                        continue
                    found = min(found + 1, count)
                    at = found - 1
                    while at > 0 and sums[b, at - 1] < value:
                        sums[b, at], log_probs[b, at] = sums[b, at - 1], log_probs[b, at - 1]
                        parents[b, at], tokens[b, at] = parents[b, at - 1], tokens[b, at - 1]
                        at -= 1
                    sums[b, at], log_probs[b, at] = value, log_prob
                    parents[b, at], tokens[b, at] = w, token
