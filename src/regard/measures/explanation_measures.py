"""How far attention weights explain an answer: what they are, what agrees with them, what could replace them.

All are functions of tensors. Weights are (..., K) over the keys, 0 at keys that may not be attended to;
logarithms are natural, so that a divergence is at most ln 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from regard.attention.normalizers import masked_softmax
from regard.words import t

MOST_PAIRS = 2**22  # of keys that are compared at once: memory


def entropy(weights: Tensor) -> Tensor:
    """H = -Σ_j p_j ln p_j, p = weights / Σ weights: (..., K) -> (...); NaN where all are 0"""
    p = weights / weights.sum(-1, keepdim=True)
    return -torch.xlogy(p, p).sum(-1)


def effective_width(weights: Tensor) -> Tensor:
    """exp H: as many keys, read evenly, have this entropy."""
    return entropy(weights).exp()


def missing_mass(weights: Tensor) -> Tensor:
    """1 - Σ_j w_j: what went to no key, as with attention sinks and predicted windows."""
    return 1 - weights.sum(-1)


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """TVD = ½ Σ |p - q|, between 0 and 1: (..., V), (..., V) -> (...)"""
    return (p - q).abs().sum(-1) / 2


def jensen_shannon(p: Tensor, q: Tensor) -> Tensor:
    """JSD = ½ KL(p ‖ m) + ½ KL(q ‖ m), m = ½ (p + q), between 0 and ln 2: (..., K), (..., K) -> (...)"""
    tiny = torch.finfo(p.dtype).tiny  # 0 ln 0 = 0, and its gradient is finite
    log_m = ((p + q) / 2).clamp(min=tiny).log()
    parts = p * (p.clamp(min=tiny).log() - log_m) + q * (q.clamp(min=tiny).log() - log_m)
    return parts.sum(-1).clamp(min=0) / 2


def kendall_tau(a: Tensor, b: Tensor, mask: Tensor | None = None) -> Tensor:
    """τ_b = (C - D) / √((n - n_a)(n - n_b)) of the pairs: (..., K), (..., K) -> (...)

    C are ordered alike by both, D the other way; n_a of all n are ties in a. mask (..., K): which count.
    NaN where one of them orders nothing: a row of equal numbers, or of fewer than two.
    """
    if a.dim() > 1 and a.shape[-1] ** 2 * len(a) > MOST_PAIRS:  # a row at a time
        masks = [None] * len(a) if mask is None else mask.expand(a.shape)
        return torch.stack([kendall_tau(*rows) for rows in zip(a, b, masks, strict=True)])
    order_a, order_b = (torch.sign(x[..., :, None] - x[..., None, :]) for x in (a, b))
    if mask is not None:
        pairs = mask[..., :, None] & mask[..., None, :]
        order_a, order_b = order_a.where(pairs, 0), order_b.where(pairs, 0)
    both = (order_a * order_b).sum((-1, -2))
    return both / ((order_a**2).sum((-1, -2)) * (order_b**2).sum((-1, -2))).sqrt()


def rollout(weights: Sequence[Tensor] | Tensor) -> Tensor:
    """R^l = Â^l R^(l-1), R^0 = I, Â = rows of ½ (mean over heads of A + I) made to sum to 1

    — Abnar and Zuidema 2020, https://arxiv.org/abs/2005.00928, for stacks of self-attention with a
    residual path. A layer is (..., H, L, L), the first layer first -> (..., L, L): what each position of
    the last has of each of the input.
    """
    rolled: Tensor | None = None
    for layer in weights:
        mean = layer.mean(-3)
        mixed = mean + torch.eye(mean.shape[-1], dtype=mean.dtype, device=mean.device)
        mixed = mixed / mixed.sum(-1, keepdim=True)
        rolled = mixed if rolled is None else mixed @ rolled
    if rolled is None:
        raise ValueError(t("a rollout needs the weights of at least one layer"))
    return rolled


def evenly(weights: Tensor, allowed: Tensor) -> Tensor:
    """The mass of each row, the same for every allowed key: (..., K)"""
    count = allowed.sum(-1, keepdim=True).clamp(min=1)
    return (weights.sum(-1, keepdim=True) / count).where(allowed, 0.0)


def permuted(weights: Tensor, allowed: Tensor, times: int, *, seed: int = 0) -> Tensor:
    """The weights of each row in other orders, drawn among its allowed keys: (times, ..., K)"""
    allowed = allowed.expand(weights.shape)
    draws = torch.rand(times, *weights.shape, generator=Generator().manual_seed(seed))
    draws = draws.to(weights.device).masked_fill(~allowed, math.inf)
    new = draws.argsort(dim=-1, stable=True)
    old = (~allowed).byte().argsort(dim=-1, stable=True).expand(new.shape)  # the allowed ones first
    values = weights.expand(new.shape).gather(-1, new)
    return torch.zeros_like(values).scatter(-1, old, values)


class Adversarial(NamedTuple):
    """For each item, the weights furthest from its own that give the same answer."""

    weights: Tensor  # (N, ..., K); its own where none were found
    divergence: Tensor  # (N,) JSD between the two, 0 where none were found
    change: Tensor  # (N,) TVD of the answers


def adversarial_attention(
    predict: Callable[[Tensor], Tensor],
    weights: Tensor,
    allowed: Tensor,
    *,
    tolerance: float = 0.01,
    restarts: int = 5,
    steps: int = 250,
    rate: float = 0.15,
    seed: int = 0,
) -> Adversarial:
    """max over α' of JSD(α', α)  where  TVD(predict(α'), predict(α)) <= tolerance

    — Jain and Wallace 2019, https://arxiv.org/abs/1902.10186. weights (N, ..., K): N items, each
    with one row or with several (heads, layers), whose divergences are averaged. predict: of weights
    (R, N, ..., K) the answers (R, N, V), distributions. α' = softmax(z) over the allowed keys, with the
    mass of α; `restarts` of them go down -JSD + 500 relu(TVD - tolerance) less the JSD among themselves
    by Adam, and of all that were met on the way the furthest is kept. All begin at z ~ N(0, 3²), as
    published, but one near α, so that small changes are found where no large one is. Half the published
    500 steps, with a larger rate that falls to 0: a page waits for it.
    """
    allowed, mass = allowed.expand(weights.shape), weights.sum(-1, keepdim=True)
    own = weights / mass.clamp(min=torch.finfo(weights.dtype).tiny)
    with torch.no_grad():
        answer = predict(weights[None])
    logits = _starts(own, restarts, seed).requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=rate)
    best = Adversarial(weights, *weights.new_zeros(2, len(weights)).unbind())
    for left in range(steps, -1, -1):
        with torch.enable_grad():
            tried = masked_softmax(logits, allowed)
            change = total_variation(predict(tried * mass), answer)
            apart = _over_rows(jensen_shannon(tried, own), 2)
            loss = 500 * torch.relu(change - tolerance) - apart - _from_the_others(tried)
            total = loss.sum()
        best = _better(best, tried * mass, apart, change <= tolerance, change)
        if left:
            optimizer.param_groups[0]["lr"] = rate * left / steps
            (logits.grad,) = torch.autograd.grad(total, logits)
            optimizer.step()
    return best


def _starts(own: Tensor, restarts: int, seed: int) -> Tensor:
    """(R, N, ..., K): anywhere, and the first near what the model does itself."""
    noise = torch.randn(restarts, *own.shape, generator=Generator().manual_seed(seed)).to(own)
    near = own.clamp(min=1e-6).log() + 0.3 * noise[:1]
    return torch.cat([near, 3 * noise[1:]])


def _from_the_others(tried: Tensor) -> Tensor:
    """The mean JSD of each of R from the R - 1 others: (R, N, ..., K) -> (R, N)"""
    count = len(tried)
    if count == 1:
        return tried.new_zeros(tried.shape[:2])
    return _over_rows(jensen_shannon(tried[:, None], tried), 3).sum(1) / (count - 1)


def _over_rows(divergences: Tensor, items: int) -> Tensor:
    """Averaged over all axes after the first `items`."""
    return divergences.reshape(*divergences.shape[:items], -1).mean(-1)


@torch.no_grad()
def _better(
    best: Adversarial, tried: Tensor, apart: Tensor, feasible: Tensor, change: Tensor
) -> Adversarial:
    """What was best before, or the furthest of those tried that give the same answer."""
    found, number = apart.where(feasible, -1.0).max(0)
    items = torch.arange(len(number), device=number.device)
    new = found > best.divergence
    here = new.view(-1, *(1,) * (tried.dim() - 2))
    return Adversarial(
        torch.where(here, tried[number, items], best.weights),
        torch.where(new, found, best.divergence),
        torch.where(new, change[number, items], best.change),
    )
