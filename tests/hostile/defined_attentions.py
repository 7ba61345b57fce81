"""What the definition makes of a problem, in float64."""

from __future__ import annotations

from dataclasses import dataclass

import plain_attention as plain
import torch
from plain_regions import Tree
from random_attentions import Problem
from torch import Tensor, nn

import regard

TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 6e-2}
MARGINS = {torch.float64: 1e-9, torch.float32: 1e-3, torch.bfloat16: 0.25}  # of scores, of places


def in_float64(module: nn.Module) -> plain.Parameters:
    """Leaves of their own, by the names that the module has for them."""
    return {n: p.detach().double().requires_grad_() for n, p in module.named_parameters()}


@dataclass
class Limits:
    """Which keys may be attended, in float64: (..., Lq, Lk); and the Gaussian of a predicted window."""

    allowed: Tensor
    factor: Tensor | None = None
    certain: Tensor | None = None  # (..., Lq): no key lies on the edge of a predicted window
    perhaps: Tensor | None = None  # allowed, with those on the edge

    def with_heads(self) -> None:
        """The same for every head: an axis of 1 before those of query and key."""
        self.allowed = self.allowed.unsqueeze(-3)
        if self.factor is not None:
            self.factor, self.perhaps = self.factor.unsqueeze(-3), self.perhaps.unsqueeze(-3)
            self.certain = self.certain.unsqueeze(-2)


def limits(
    region: Tree | regard.regions.PredictedWindow,
    query: Tensor,
    keys: int,
    mask: Tensor | None,
    score: regard.scores.Score,
    window: plain.Parameters | None,
    margin: float,
) -> Limits:
    """query in float64; `window` are the parameters of a predicted window."""
    queries = query.shape[-2]
    if mask is not None:
        mask = mask.expand(torch.broadcast_shapes(mask.shape, (1, keys)))
    table = getattr(score, "table", None)
    if table is not None and table.shape[-2] < keys:  # what has no row cannot be attended
        exists = torch.arange(keys)[None] < table.shape[-2]
        mask = exists if mask is None else mask & exists
    lengths = torch.tensor(keys)
    if mask is not None:  # where each source ends
        ends = mask * torch.arange(1, keys + 1)
        lengths = nn.functional.pad(ends, (1, 0)).amax(-1, keepdim=True)
    if window is None:
        inside = region.matrix(queries, keys, lengths)
        return Limits(inside if mask is None else inside & mask)
    place = torch.tanh(query @ window["weight"]) @ window["vector"]
    distance = torch.arange(keys) - lengths * torch.sigmoid(place)
    inside, near = (distance.abs() <= region.width + more for more in (0, margin))
    sure = ((distance.detach().abs() - region.width).abs() > margin).all(-1)
    factor = torch.exp(-(distance**2) / (2 * (region.width / 2) ** 2))
    allowed, perhaps = ((x if mask is None else x & mask) for x in (inside, near))
    return Limits(allowed, factor, sure, perhaps)


@dataclass
class Definition:
    """The answer in float64, its leading axes expanded, and the leaves that it can be differentiated by."""

    answer: plain.Defined
    leaves: list[Tensor]  # query, key, and value if there is one of its own; then the parameters
    reachable: Tensor  # (..., Lq, Lk): what may be attended, or may be by a rounding


def expanded(
    answer: plain.Defined, limit: Limits, lead: tuple[int, ...], leaves: list[Tensor]
) -> Definition:
    queries, keys = answer.weights.shape[-2:]
    certain = answer.certain if limit.certain is None else answer.certain & limit.certain
    reachable = limit.allowed if limit.perhaps is None else limit.perhaps
    whole = plain.Defined(
        answer.context.expand(*lead, queries, answer.context.shape[-1]),
        answer.weights.expand(*lead, queries, keys),
        certain.expand(*lead, queries),
    )
    return Definition(whole, leaves, reachable.expand(*lead, queries, keys))


def define(problem: Problem) -> Definition:
    margin = MARGINS[problem.query.dtype]
    inputs = [x.detach().double().requires_grad_() for x in problem.inputs]
    query, key, value = *inputs[:2], inputs[-1]
    window = in_float64(problem.region) if isinstance(problem.region, nn.Module) else None
    named = in_float64(problem.score)
    limit = limits(
        problem.region, query, key.shape[-2], problem.mask, problem.score, window, margin
    )
    scores = plain.pair_scores(type(problem.score).__name__, named, query, key)
    answer = plain.attend(
        scores,
        value,
        limit.allowed,
        problem.normalizer,
        factor=limit.factor,
        renormalize=getattr(problem.region, "renormalize", False),
        margin=margin,
    )
    return expanded(
        answer, limit, problem.lead, [*inputs, *named.values(), *(window or {}).values()]
    )
