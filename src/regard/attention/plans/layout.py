"""The shapes of a call: all that a plan asks about, and what rearranging queries and keys makes of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from regard.attention.region import Pattern

TILE = {"cpu": 2**20}  # weights of a tile: on a CPU as many as a cache holds
LARGE_TILE = 2**24  # elsewhere


class BiasLayout(NamedTuple):
    """A bias without its numbers."""

    shape: tuple[int, ...]  # (..., Lq or 1, Lk)
    dtype: torch.dtype
    learns: bool  # a gradient is wanted

    @property
    def per_key(self) -> bool:
        """Whether it says the same to every query."""
        return self.shape[-2] == 1


class Layout(NamedTuple):
    """The shapes of a call, which rearranging its queries and keys changes: a call without its tensors."""

    lead: tuple[int, ...]
    queries: int
    keys: int
    size: int  # of the projected queries and keys
    value_size: int
    dtype: torch.dtype
    device: torch.device
    patterns: tuple[Pattern, ...] | None = (
        Pattern(),
    )  # None: a region that is no union of patterns
    masked: str = "no"  # "no", "keys" (the same for every query) or "pairs"
    masks: int = 1  # how many masks (queries, keys) there are
    bias: BiasLayout | None = None

    @property
    def scores(self) -> int:
        """Bytes of all the scores."""
        each = max(torch.finfo(self.dtype).bits // 8, 4)
        return math.prod(self.lead) * self.queries * self.keys * each

    @property
    def pattern(self) -> Pattern | None:
        """The one pattern that the region is, if it is one."""
        return self.patterns[0] if self.patterns is not None and len(self.patterns) == 1 else None

    def strided(self, pattern: Pattern) -> Layout:
        """What is left to do once queries and keys are dealt out `rate` ways."""
        rate = pattern.rate
        queries, keys = -(-self.queries // rate), -(-self.keys // rate)
        return self._replace(
            lead=(*self.lead, rate),
            queries=queries,
            keys=keys,
            patterns=(pattern.strided(),),
            masked="keys" if self.masked == "keys" or self.keys % rate else "no",
            bias=self._bias_of(rate, queries, keys),
        )

    def blocked(self, pattern: Pattern) -> Layout:
        """What is left to do once the band is cut into blocks of queries and the keys they see."""
        size = block_size(pattern)
        blocks, span = -(-self.queries // size), size + int(pattern.before + pattern.after)
        return self._replace(
            lead=(*self.lead, blocks),
            queries=size,
            keys=span,
            patterns=(Pattern(),),
            masked="pairs",
            masks=self.masks * blocks,
            bias=self._bias_of(blocks, size, span),
        )

    def _bias_of(self, parts: int, queries: int, keys: int) -> BiasLayout | None:
        """The bias of the pairs that are left in each part."""
        if self.bias is None:
            return None
        rows = 1 if self.bias.per_key and parts * queries == self.queries else queries
        return self.bias._replace(shape=(*self.bias.shape[:-2], parts, rows, keys))


def block_size(pattern: Pattern) -> int:
    """Blocks half as long as the band is wide: two thirds of the work inside one is then of use."""
    return max(32, -(-int(pattern.before + pattern.after) // 64) * 32)


def sparse_parts(layout: Layout) -> tuple[Layout, Layout]:
    """The near band in blocks, and the spread keys dealt out by the rate."""
    assert layout.patterns is not None
    near, far = layout.patterns
    return layout.blocked(near), layout.strided(far)


def tile_rows(layout: Layout) -> int:
    """Of how many queries the weights are computed at one time."""
    most = _most(layout) // max(1, math.prod(layout.lead) * layout.keys)
    return max(1, min(layout.queries, most))


def _most(layout: Layout) -> int:
    """Weights of a tile."""
    return TILE.get(layout.device.type, LARGE_TILE)


class TilePlace(NamedTuple):
    """Queries from `start` before `end`, and the keys from `first` before `last` that they may see."""

    start: int
    end: int
    first: int
    last: int

    @property
    def pairs(self) -> int:
        return (self.end - self.start) * (self.last - self.first)


def weight_tiles(
    layout: Layout, pairwise: bool, largest: int = 1, blocks: int = 1
) -> list[TilePlace]:
    """All queries, some at a time. pairwise: a score that keys alone can be left out of.

    Keys begin where one of the `blocks` does, and there are `largest` of them, however few are seen.
    """
    keys, patterns = layout.keys, layout.patterns
    if not pairwise or not patterns or patterns == (Pattern(),):
        rows = tile_rows(layout)
        starts = range(0, max(layout.queries, 1), rows)
        return [TilePlace(a, min(a + rows, layout.queries), 0, keys) for a in starts]
    low = min([p.offset - p.before for p in patterns])  # of the query at 0
    high = max([p.offset + p.after for p in patterns])
    fewest, heads = tile_rows(layout), math.prod(layout.lead)
    rows = tile_rows(layout._replace(keys=int(min(keys, high - low + 1))))
    while rows > fewest and heads * rows * min(keys, high - low + rows) > _most(layout):
        rows = max(fewest, rows * 3 // 4)
    tiles = []
    for start in range(0, layout.queries, rows):
        end = min(start + rows, layout.queries)
        last = int(min(max(high + end, largest, 1), keys))
        first = int(max(min(low + start, last - largest, last - 1), 0)) // blocks * blocks
        tiles.append(TilePlace(start, end, first, last))
    return tiles
