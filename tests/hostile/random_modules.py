"""`Attention` and `MultiHead` drawn at random, and what their definition makes of them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import plain_attention as plain
import torch
from defined_attentions import MARGINS, Definition, expanded, in_float64, limits
from plain_regions import Tree, draw_region
from random_attentions import LARGE, SMALL, make_score, randomised
from torch import Tensor, nn

import regard


@dataclass
class Asked:
    """What a module is asked; a source of None: it attends to itself."""

    module: regard.Attention | regard.MultiHead
    query: Tensor
    source: Tensor | None
    mask: Tensor | None
    offset: int | None
    region: Tree | regard.regions.PredictedWindow
    normalizer: str
    weights: bool

    def __str__(self) -> str:
        shapes = [f"query {tuple(self.query.shape)}"]
        shapes += [] if self.source is None else [f"source {tuple(self.source.shape)}"]
        shapes += [] if self.mask is None else [f"mask {tuple(self.mask.shape)}"]
        names = (type(self.module).__name__, type(self.module.score).__name__)
        more = (self.module.region, self.normalizer, f"offset={self.offset}", self.query.dtype)
        return ", ".join([*shapes, *names, *map(str, more), f"weights={self.weights}"])

    @property
    def inputs(self) -> list[Tensor]:
        return [self.query] if self.source is None else [self.query, self.source]

    def attend(self, query: Tensor, source: Tensor | None = None) -> regard.Attended:
        asked = {"mask": self.mask, "offset": self.offset, "weights": self.weights}
        return self.module(query, source, **asked)

    def define(self) -> Definition:
        inputs = [x.detach().double().requires_grad_() for x in self.inputs]
        query, states = inputs[0], inputs[-1]
        named = in_float64(self.module)
        window = _part(named, "region.") if isinstance(self.region, nn.Module) else None
        region = self.region
        if self.offset is not None and window is None:
            region = region.at(self.offset)
        mask = self.mask
        if mask is not None and mask.dim() == states.dim() - 1:
            mask = mask[..., None, :]
        margin = MARGINS[self.query.dtype]
        score = self.module.score
        limit = limits(region, query, states.shape[-2], mask, score, window, margin)
        lead = tuple(torch.broadcast_shapes(query.shape[:-2], states.shape[:-2]))
        keys = values = states
        if isinstance(self.module, regard.MultiHead):
            limit.with_heads()
            lead = (*lead, self.module.heads)
            query, keys, values = self._projected(named, query, states)
        scores = plain.pair_scores(type(score).__name__, _part(named, "score."), query, keys)
        answer = plain.attend(
            scores,
            values,
            limit.allowed,
            self.normalizer,
            factor=limit.factor,
            renormalize=getattr(region, "renormalize", False),
            margin=margin,
        )
        defined = expanded(answer, limit, lead, [*inputs, *named.values()])
        return self._merged(named, defined)

    def _projected(self, named: plain.Parameters, query: Tensor, states: Tensor) -> list[Tensor]:
        """(..., H, L, head_size) of query, keys and values; heads of a group share the last two."""
        module = self.module
        split = []
        for name, x, heads in (
            ("query", query, module.heads),
            ("key", states, module.key_heads),
            ("value", states, module.key_heads),
        ):
            wide = x @ named[f"{name}.weight"].T + named[f"{name}.bias"]
            each = wide.unflatten(-1, (heads, module.head_size)).movedim(-2, -3)
            split.append(each.repeat_interleave(module.heads // heads, -3))
        return split

    def _merged(self, named: plain.Parameters, defined: Definition) -> Definition:
        if not isinstance(self.module, regard.MultiHead):
            return defined
        answer = defined.answer
        joined = answer.context.movedim(-3, -2).flatten(-2)
        context = joined @ named["output.weight"].T + named["output.bias"]
        # a row jumps if one of its heads does
        certain = answer.certain.all(-2)
        whole = plain.Defined(context, answer.weights, certain)
        return Definition(whole, defined.leaves, defined.reachable)


def _part(named: plain.Parameters, prefix: str) -> plain.Parameters:
    return {n.removeprefix(prefix): p for n, p in named.items() if n.startswith(prefix)}


def draw_module(draw: random.Random, kind: str) -> Asked:
    large = draw.random() < 0.1
    sizes = LARGE if large else SMALL
    numbers = torch.Generator().manual_seed(draw.getrandbits(40))
    dtype = draw.choices([torch.float32, torch.float64, torch.bfloat16], [6, 2, 2])[0]
    queries, itself = draw.choice(sizes), draw.random() < 0.4
    keys = queries if itself else draw.choice(sizes)
    heads = draw.choice([None, 1, 2, 4])
    size = draw.choice([4, 8, 12])
    key_size = size if itself or heads is None else draw.choice([3, 5, 8])
    lead = [draw.choice([1, 2, 3]) for _ in range(draw.randrange(2 if large else 4))]
    region: Any = draw_region(draw, queries, keys)
    if draw.random() < 0.12:
        region = regard.regions.PredictedWindow(draw.choice([1.5, 10.0]), size)
    normalizer = draw.choice(list(plain.NORMALIZERS))
    if normalizer == "raw" and dtype == torch.bfloat16:
        dtype = torch.float32  # weights without a bound, and four projections that round
    choices: dict[str, Any] = {
        "region": region if isinstance(region, nn.Module) else region.region(),
        "normalize": normalizer,
    }
    own = None if itself else key_size
    longest = draw.choice([1, 5, 400])
    module: regard.Attention | regard.MultiHead
    if heads is None:
        score = make_score(kind, size, key_size, longest, numbers)
        module = regard.Attention(size, own, score=score, **choices)
    else:
        wide = size // heads
        score = make_score(kind, wide, wide, longest, numbers, heads=heads)
        shared = draw.choice([n for n in (1, 2, 4) if heads % n == 0])
        module = regard.MultiHead(size, own, heads=heads, key_heads=shared, score=score, **choices)
    randomised(module, numbers).to(dtype).eval()  # nothing is drawn
    query = torch.randn(*lead, queries, size, generator=numbers).to(dtype)
    source = None
    if not itself:
        fewer = [1 if draw.random() < 0.1 else axis for axis in lead]
        source = torch.randn(*fewer, keys, key_size, generator=numbers).to(dtype)
    states = query if source is None else source
    mask = draw.choice([None, states.shape[:-1], (*lead, draw.choice([1, queries]), keys)])
    if mask is not None:
        mask = torch.rand(mask, generator=numbers) < draw.choice([0.2, 0.6, 0.9])
    offset = draw.choice([None, None, draw.randint(0, keys + 2)])
    return Asked(
        module, query, source, mask, offset, region, normalizer, weights=draw.random() < 0.4
    )
