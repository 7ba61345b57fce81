"""Attention as it is defined, in float64: every pair is scored, and a matrix says which may be attended.

Nothing of regard is used but the names of scores and of their parameters.

Legend: query (..., Lq, Dq), key (..., Lk, Dk), value (..., Lk, Dv); allowed (..., Lq, Lk), bool.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

Parameters = dict[str, Tensor]


class Defined(NamedTuple):
    context: Tensor  # (..., Lq, Dv)
    weights: Tensor  # (..., Lq, Lk)
    certain: Tensor  # (..., Lq): whether a small change of the scores changes nothing by a jump


def pair_scores(kind: str, given: Parameters, query: Tensor, key: Tensor) -> Tensor:
    """The score of every pair: (..., Lq, Lk)."""
    q, k = query[..., :, None, :], key[..., None, :, :]
    match kind:
        case "Dot":
            return (q * k).sum(-1)
        case "ScaledDot":
            return (q * k).sum(-1) / math.sqrt(key.shape[-1])
        case "Bilinear":
            return ((query @ given["weight"])[..., :, None, :] * k).sum(-1)
        case "Cosine":
            lengths = torch.linalg.vector_norm(q, dim=-1) * torch.linalg.vector_norm(k, dim=-1)
            return (q * k).sum(-1) / lengths / given["log_temperature"].exp()
        case "Concat":
            return query @ given["query_weight"] + (key @ given["key_weight"]).mT
        case "Additive":
            inner = (query @ given["query_weight"])[..., :, None, :]
            inner = inner + (key @ given["key_weight"] + given["bias"])[..., None, :, :]
            return (inner.tanh() @ given["vector"][..., None, :, :]).squeeze(-1)
        case "Location":
            rows = torch.cat([given["table"], given["bias"]], -1)[..., : key.shape[-2], :]
            rows = torch.nn.functional.pad(rows, (0, 0, 0, key.shape[-2] - rows.shape[-2]))
            scores = query @ rows[..., :-1].mT + rows[..., -1][..., None, :]
            return scores.expand(torch.broadcast_shapes(scores.shape, (*key.shape[:-2], 1, 1)))
        case "Distance":
            return 1 / (1 + torch.linalg.vector_norm(q - k, dim=-1))
    raise ValueError(kind)


def softmax(scores: Tensor, allowed: Tensor) -> Tensor:
    top = scores.detach().masked_fill(~allowed, -math.inf).amax(-1, keepdim=True)
    powers = (scores - top).where(allowed, 0.0).exp().where(allowed, 0.0)
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-300)


def sparsemax(scores: Tensor, allowed: Tensor) -> Tensor:
    """max(s - t, 0), with the threshold t at which they sum to 1, halved in upon."""
    inside = scores.where(allowed, -math.inf).detach()
    high = inside.amax(-1, keepdim=True).clamp(min=-1e300)
    low = high - 1
    for _ in range(60):
        middle = (low + high) / 2
        above = (inside - middle).clamp(min=0).sum(-1, keepdim=True) >= 1
        low, high = middle.where(above, low), high.where(above, middle)
    support = inside > low
    count = support.sum(-1, keepdim=True).clamp(min=1)
    threshold = (scores.where(support, 0.0).sum(-1, keepdim=True) - 1) / count
    return (scores - threshold).where(support, 0.0)


def one_hot(scores: Tensor, allowed: Tensor) -> Tensor:
    best = scores.detach().masked_fill(~allowed, -math.inf).argmax(-1, keepdim=True)
    return torch.zeros_like(scores).scatter(-1, best, 1.0).where(allowed, 0.0)


def straight_through(scores: Tensor, allowed: Tensor, temperature: float) -> Tensor:
    soft = softmax(scores / temperature, allowed)
    return one_hot(scores, allowed) + soft - soft.detach()


def even(scores: Tensor, allowed: Tensor) -> Tensor:
    return allowed.double() / allowed.sum(-1, keepdim=True).clamp(min=1) + 0 * scores


NORMALIZERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "softmax": softmax,
    "softmax(0.5)": lambda scores, allowed: softmax(scores / 0.5, allowed),
    "sparsemax": sparsemax,
    "raw": lambda scores, allowed: scores.where(allowed, 0.0),
    "uniform": even,
    "hard": one_hot,
    "gumbel(2.0)": lambda scores, allowed: softmax(scores / 2.0, allowed),
    "gumbel(0.7, straight_through=true)": lambda s, allowed: straight_through(s, allowed, 0.7),
}


def no_jump(normalizer: str, scores: Tensor, allowed: Tensor, margin: float) -> Tensor:
    """Whether scores that are off by the margin have the same choice, or the same support: (..., Lq)."""
    every = torch.ones(scores.shape[:-1], dtype=torch.bool)
    inside = scores.detach().masked_fill(~allowed, -math.inf)
    if normalizer == "sparsemax":
        weights = sparsemax(scores.detach(), allowed)
        least = weights.where(weights > 0, math.inf).amin(-1)
        threshold = (inside - weights).where(weights > 0, -math.inf).amax(-1, keepdim=True)
        nearest = (threshold - inside).where(allowed & (weights <= 0), math.inf).amin(-1)
        return (least > margin) & (nearest > margin)
    if (normalizer == "hard" or "straight" in normalizer) and inside.shape[-1] > 1:
        best, second = inside.topk(2, -1).values.unbind(-1)
        return (best - second > margin) | (second == -math.inf)
    return every


def attend(
    scores: Tensor,
    value: Tensor,
    allowed: Tensor,
    normalizer: str,
    *,
    factor: Tensor | None = None,
    renormalize: bool = False,
    margin: float = 0.0,
) -> Defined:
    """context = normalise(scores where allowed) · factor @ value"""
    lead = torch.broadcast_shapes(scores.shape, allowed.shape)
    scores, allowed = scores.expand(lead), allowed.expand(lead)
    if 0 in lead:
        weights, certain = scores.where(allowed, 0.0), torch.ones(lead[:-1], dtype=torch.bool)
    else:
        # what is forbidden plays no part, also not by a gradient of its own
        weights = NORMALIZERS[normalizer](scores.where(allowed, 0.0), allowed)
        certain = no_jump(normalizer, scores, allowed, margin)
    if factor is not None:
        weights = weights * factor
    if renormalize:
        total = weights.sum(-1, keepdim=True)
        weights = weights / total.where(total != 0, 1.0)
    return Defined(weights @ value, weights, certain)
