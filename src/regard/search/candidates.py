"""Which tokens could come next: the most probable, or drawn ones.

Legend: B sentences, w open hypotheses of each, V tokens, C candidates of each sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.search.settings import Search

CHUNK = 64  # tokens whose maximum is taken together; a multiple of the vector width


class Candidates(NamedTuple):
    """Hypotheses extended by one token, (B, C) each; a total of -inf marks an unused place."""

    parents: Tensor  # the open hypothesis, 0 … w - 1, that it continues
    tokens: Tensor
    log_probs: Tensor  # of that token
    totals: Tensor  # of the whole, with what it is ranked by beside them

    def with_chances(self, log_probs: Tensor) -> Candidates:
        """The same, with the log-probabilities (B·w, V) of their tokens and nothing beside them."""
        batch, size = len(self.parents), log_probs.shape[1]
        places = self.parents * size + self.tokens
        return self._replace(log_probs=log_probs.view(batch, -1).gather(1, places))


def largest(values: Tensor, count: int) -> Tensor:
    """Indices (R, count) of the largest of float32 values (R, n), in order; of equal ones the first.

    torch.topk promises nothing about equal values, so it is given integers that are never equal.
    The values are logarithms, at most 0: the bits of |value| grow as it falls, above the index.
    """
    bits, index = (
        values.abs().view(torch.int32),
        torch.arange(values.shape[1], device=values.device),
    )
    keys = torch.add(index, bits, alpha=1 << 32)
    return keys.topk(min(count, values.shape[1]), largest=False).indices


def best(log_probs: Tensor, totals: Tensor, count: int) -> Candidates:
    """The `count` best continuations: log_probs (B·w, V), totals (B, w). Equal: lower w, lower token.

    The best `count` tokens lie in the `count` chunks with the highest maxima, so only those chunks
    are searched: exact, and several times faster than a top-k over all w · V.
    """
    (batch, width), size = totals.shape, log_probs.shape[1]
    whole = size // CHUNK
    peaks = log_probs[:, : whole * CHUNK].unflatten(1, (whole, CHUNK)).amax(-1)
    if whole * CHUNK < size:
        peaks = torch.cat([peaks, log_probs[:, whole * CHUNK :].amax(-1, keepdim=True)], 1)
    chunks = peaks.shape[1]
    peaks = peaks.view(batch, width, chunks) + totals[..., None]
    chosen = largest(peaks.flatten(1), count).sort().values  # of one w side by side, in their order

    parents, chunk = chosen // chunks, chosen % chunks
    tokens = chunk[..., None] * CHUNK + torch.arange(CHUNK, device=chosen.device)
    outside = tokens >= size  # of the last chunk
    tokens = tokens.clamp_(max=size - 1)
    places = (parents[..., None] * size + tokens).flatten(1)
    values = log_probs.view(batch, -1).gather(1, places).view_as(tokens)
    sums = (values + totals.gather(1, parents)[..., None]).masked_fill_(outside, -torch.inf)
    pick = largest(sums.flatten(1), count)
    return Candidates(
        parents.gather(1, pick // CHUNK),
        *(x.flatten(1).gather(1, pick) for x in (tokens, values, sums)),
    )


def uniforms(settings: Search, numbers: Sequence[int], steps: int) -> Tensor:
    """A number in [0, 1) for every draw, (B, nbest, steps), by seed, sentence, sample and step alone."""
    drawn = [
        [np.random.default_rng((settings.seed, number, sample)).random(steps, dtype=np.float32)
         for sample in range(settings.nbest)]
        for number in numbers
    ]  # fmt: skip
    return torch.from_numpy(np.array(drawn))


def draw(log_probs: Tensor, totals: Tensor, uniform: Tensor, settings: Search) -> Candidates:
    """One continuation for each uniform number (B, C), by inversion of the distribution function.

    log_probs (B·w, V), totals (B, w): w = 1 at the first step, when all draws share a hypothesis, or C.
    """
    (batch, width), each = totals.shape, uniform.shape[1] // totals.shape[1]
    scores, tokens = log_probs / settings.temperature, None
    if settings.top_k or settings.top_p < 1:
        tokens = largest(scores, settings.top_k or scores.shape[1])
        scores = scores.gather(1, tokens)
    probs = scores.softmax(-1)
    if settings.top_p < 1:
        probs = probs.masked_fill(probs.cumsum(-1) - probs >= settings.top_p, 0.0)
    mass = probs.cumsum(-1)
    aim = uniform.reshape(batch * width, each) * mass[:, -1:]
    drawn = torch.searchsorted(mass, aim, right=True).clamp(max=mass.shape[1] - 1)
    drawn = drawn if tokens is None else tokens.gather(1, drawn)
    values = log_probs.gather(1, drawn).view(batch, -1)
    parents = torch.arange(width, device=drawn.device).repeat_interleave(each).expand(batch, -1)
    return Candidates(parents, drawn.view(batch, -1), values, totals.gather(1, parents) + values)
