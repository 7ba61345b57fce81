"""Regions drawn at random, each twice: as regard has it, and as a matrix of distances."""

from __future__ import annotations

import math
import operator
import random
from dataclasses import dataclass, replace

import torch
from torch import Tensor

import regard

Align = str | int | None
JOINED = {"&": operator.and_, "|": operator.or_}


@dataclass(frozen=True)
class Leaf:
    """everywhere, causal, window, atrous or sparse; `numbers` as its constructor takes them."""

    name: str
    numbers: tuple[int, ...] = ()
    align: Align = None
    clamp: bool = False

    def region(self) -> regard.regions.Region:
        kind = getattr(regard.regions, self.name.capitalize())
        placed = {} if self.align is None else {"align": self.align}
        return kind(*self.numbers, **placed, **({"clamp": True} if self.clamp else {}))

    def aligns(self) -> set[Align]:
        return {self.align} - {None}

    def aligned(self, align: Align) -> Leaf:
        free = self.align is None and self.name != "everywhere"
        return replace(self, align=align) if free else self

    def at(self, offset: int) -> Leaf:
        return self if self.name == "everywhere" else replace(self, align=offset)

    def refuses(self, queries: int, keys: int) -> bool:
        return self.name == "causal" and self.align is None and queries != keys

    def matrix(self, queries: int, keys: int, lengths: Tensor) -> Tensor:
        first = {"end": keys - queries, "start": 0, None: 0}.get(self.align, self.align)
        at, j = torch.arange(queries)[:, None] + first, torch.arange(keys)
        if self.clamp:
            at = torch.minimum(at, lengths - 1)
        distance = at - j
        match self.name:
            case "everywhere":
                return distance == distance
            case "causal":
                return distance >= 0
            case "window":
                before, after = self.numbers
                return (distance <= before) & (distance >= -after)
            case "atrous":
                return distance % self.numbers[0] == 0
            case "sparse":
                (rate,) = self.numbers
                return (distance.abs() <= rate) | (distance % rate == 0)
        raise ValueError(self.name)


@dataclass(frozen=True)
class Joined:
    """left & right, left | right, or ~left. Parts that name no alignment take the one that is named."""

    sign: str
    parts: tuple[Tree, ...]

    def region(self) -> regard.regions.Region:
        parts = [part.region() for part in self.parts]
        return ~parts[0] if self.sign == "~" else JOINED[self.sign](*parts)

    def aligns(self) -> set[Align]:
        return set().union(*(part.aligns() for part in self.parts))

    def aligned(self, align: Align) -> Joined:
        return replace(self, parts=tuple(part.aligned(align) for part in self.parts))

    def at(self, offset: int) -> Joined:
        return replace(self, parts=tuple(part.at(offset) for part in self.parts))

    def refuses(self, queries: int, keys: int) -> bool:
        return any(part.refuses(queries, keys) for part in settled(self).parts)

    def matrix(self, queries: int, keys: int, lengths: Tensor) -> Tensor:
        parts = [part.matrix(queries, keys, lengths) for part in settled(self).parts]
        return ~parts[0] if self.sign == "~" else JOINED[self.sign](*parts)


Tree = Leaf | Joined


def settled(tree: Joined) -> Joined:
    """With the alignments that its parts take from each other, the inner ones first."""
    parts = tuple(settled(part) if isinstance(part, Joined) else part for part in tree.parts)
    tree = replace(tree, parts=parts)
    named = tree.aligns()
    return tree.aligned(named.pop()) if len(named) == 1 else tree


def draw_region(draw: random.Random, queries: int, keys: int) -> Tree:
    """One that can be placed: causal refuses to guess where."""
    while True:
        tree = _tree(draw, queries, keys, depth=draw.choice([0, 0, 0, 1, 1, 2]))
        if not tree.refuses(queries, keys):
            return tree


def _tree(draw: random.Random, queries: int, keys: int, depth: int) -> Tree:
    if depth == 0:
        return _leaf(draw, queries, keys)
    sign = draw.choice("&&||~")
    count = 1 if sign == "~" else 2
    parts = (_tree(draw, queries, keys, draw.randrange(depth)) for _ in range(count))
    return Joined(sign, tuple(parts))


def _leaf(draw: random.Random, queries: int, keys: int) -> Leaf:
    name = draw.choice(["everywhere", "causal", "causal", "window", "window", "atrous", "sparse"])
    align = draw.choice([None, None, "start", "end", draw.randint(-3, keys + 3)])
    wide = draw.choice([3, 3, 8, max(3, math.isqrt(keys + 1))])
    match name:
        case "everywhere":
            return Leaf(name)
        case "causal":
            return Leaf(name, align=align)
        case "window":
            sides = draw.randint(0, wide), draw.randint(0, wide)
            return Leaf(name, sides, align, clamp=draw.random() < 0.2)
    return Leaf(name, (draw.randint(1, wide + 1),), align)
