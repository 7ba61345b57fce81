"""Which pairs of query and key are allowed, for all reasons together; and what a bad key may reach.

Legend: Lq queries, Lk keys, ... leading axes. True: the key may be attended.

Nothing here reads a number of a tensor in Python: that would stall a GPU, and a traced graph has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.attention.region import Pattern, Region
from regard.attention.scores import Score
from regard.attention.select import without
from regard.attention.shapes import of_rank


@dataclass
class Limits:
    """The region, the caller's mask (..., Lq or 1, Lk), and where a region that predicts it lies."""

    region: Region
    mask: Tensor | None
    queries: int
    keys: int
    device: torch.device
    inside: Tensor | None = None  # (..., Lq, Lk), of a region that predicts it
    factor: Tensor | None = (
        None  # (..., Lq, Lk), times the weights: the Gaussian of a predicted window
    )
    patterns: list[Pattern] | None = field(init=False)  # the region, if it is a union of patterns
    _kept: dict[str, Tensor] = field(init=False, default_factory=dict)  # several steps ask

    def __post_init__(self) -> None:
        found = self.region.patterns(self.queries, self.keys)
        self.patterns = None if found is None else [self._plain(pattern) for pattern in found]
        if self.patterns and any(self._allows_all(pattern) for pattern in self.patterns):
            self.patterns = [Pattern()]  # as one step over a memory of the past alone does

    @classmethod
    def of(
        cls,
        region: Region,
        query: Tensor,
        queries: int,
        keys: int,
        mask: Tensor | None,
        score: Score,
    ) -> Limits:
        """What restricts the keys; a region that predicts is placed by the queries, not projected."""
        mask = None if mask is None else for_every_key(mask, keys)
        if score.max_keys is not None and keys > score.max_keys:
            exists = torch.arange(keys, device=query.device)[None] < score.max_keys
            mask = exists if mask is None else mask & exists
        inside = factor = None
        if region.predicts:
            if (
                mask is not None
            ):  # a query that may attend to nothing is to reach no parameter of it
                query = without(query, ~mask.any(-1))
            inside, factor = region.place(query, keys, source_lengths(mask))
        return cls(region, mask, queries, keys, query.device, inside, factor)

    def for_heads(self, axis: int) -> Limits:
        """The same for all heads, which stand at this axis."""
        mask, inside, factor = (
            None if x is None else x.unsqueeze(axis) if x.dim() > 2 else x
            for x in (self.mask, self.inside, self.factor)
        )
        region = self.region.for_heads(axis)
        return replace(self, region=region, mask=mask, inside=inside, factor=factor)

    def _plain(self, pattern: Pattern) -> Pattern:
        """A rate beyond all distances leaves none but 0, which needs no dealing out."""
        farthest = max(pattern.offset + self.queries, self.keys - pattern.offset)
        if pattern.rate < farthest or pattern.rate == 1:
            return pattern
        return Pattern(before=0, after=0, offset=pattern.offset)

    def _allows_all(self, pattern: Pattern) -> bool:
        nearest, farthest = pattern.offset - self.keys + 1, pattern.offset + self.queries - 1
        return pattern.rate == 1 and farthest <= pattern.before and -nearest <= pattern.after

    def widen(self, rank: int) -> None:
        """Bring the masks to as many axes as the tensors have."""
        if self.mask is not None:
            self.mask = of_rank(self.mask, rank)
        if self.inside is not None:
            self.inside = of_rank(self.inside, rank)
        if self.factor is not None:
            self.factor = of_rank(self.factor, rank)

    @property
    def everywhere(self) -> bool:
        """Whether the region allows every pair, so that only the mask counts."""
        return self.patterns == [Pattern()]

    @property
    def by_key(self) -> bool:
        """Whether the mask, if there is one, says the same for every query."""
        return self.mask is None or (self.mask.shape[-2] == 1 and self.queries != 0)

    @property
    def allowed(self) -> Tensor | None:
        """Everything together, (..., Lq or 1, Lk); None: all."""
        if self.everywhere:
            return self.mask
        if "allowed" not in self._kept:
            region = self._in_region() if self.inside is None else self.inside
            self._kept["allowed"] = region if self.mask is None else region & self.mask
        return self._kept["allowed"]

    def _in_region(self) -> Tensor:
        lengths = source_lengths(self.mask) if self.region.needs_lengths else None
        return self.region.mask(self.queries, self.keys, lengths=lengths, device=self.device)

    def reached(self, flags: Tensor) -> Tensor:
        """Whether each query may attend to a flagged key: (..., Lk) -> (..., Lq or 1)."""
        if self.patterns is None or not self.by_key:
            allowed = self.allowed
            assert allowed is not None
            return (allowed & flags[..., None, :]).any(-1)
        if self.mask is not None:
            flags = flags & self.mask.squeeze(-2)
        return _reached_by_any(flags, self.patterns, self.queries)

    def spoilt(self, bad: Tensor, dtype: torch.dtype) -> Tensor:
        """NaN for the queries that may attend to a bad key, else 0: (..., Lk) -> (..., Lq or 1)."""
        nothing = torch.zeros((), dtype=dtype, device=self.device)
        return torch.where(self.reached(bad), torch.nan, nothing)

    @property
    def rows(self) -> Tensor | None:
        """Which queries may attend to some key: (..., Lq or 1); None: surely all of them."""
        if self.mask is None and self.patterns and any(map(self._fills_rows, self.patterns)):
            return None
        if "rows" not in self._kept:
            if self.patterns is None or not self.by_key or self.everywhere:
                allowed = self.allowed
                assert allowed is not None
                self._kept["rows"] = allowed.any(-1)
            else:
                self._kept["rows"] = self.reached(self._all(self.keys))
        return self._kept["rows"]

    def _fills_rows(self, pattern: Pattern) -> bool:
        """Whether a band leaves no query without a key, neither the first nor the last."""
        last = pattern.offset + self.queries - 1 - pattern.before
        return pattern.rate == 1 and pattern.offset + pattern.after >= 0 and last < self.keys

    @property
    def unseen(self) -> Tensor | None:
        """Which keys no query may attend, as padding: (..., Lk); None: surely none of them."""
        if self.queries == 0:
            return self._all(self.keys)
        if self.patterns is None or not self.by_key:
            allowed = self.allowed
            assert allowed is not None
            return ~allowed.any(-2)
        unseen = None if self.mask is None else ~self.mask.squeeze(-2)
        if any(map(self._fills_columns, self.patterns)):
            return unseen
        # a key asks as a query would: d = i + offset - j with the roles exchanged is -d
        turned = [Pattern(p.after, p.before, p.rate, -p.offset) for p in self.patterns]
        outside = ~_reached_by_any(self._all(self.queries), turned, self.keys)
        return outside if unseen is None else unseen | outside

    def _fills_columns(self, pattern: Pattern) -> bool:
        """Whether a band leaves no key without a query, neither the first nor the last."""
        last = pattern.offset + self.queries - 1 + pattern.after
        return pattern.rate == 1 and pattern.offset - pattern.before <= 0 and last >= self.keys - 1

    def _all(self, length: int) -> Tensor:
        return torch.ones(length, dtype=torch.bool, device=self.device)


def _reached_by_any(flags: Tensor, patterns: list[Pattern], queries: int) -> Tensor:
    hits = [_reached(flags, pattern, queries) for pattern in patterns]
    return hits[0] if len(hits) == 1 else torch.stack(hits).any(0)


def _reached(flags: Tensor, pattern: Pattern, queries: int) -> Tensor:
    """`Limits.reached` for one pattern in O(L): differences of running counts, `rate` apart."""
    rate, keys = pattern.rate, flags.shape[-1]
    if pattern == Pattern():
        return flags.any(-1, keepdim=True)
    if pattern == Pattern(after=0) and queries == keys:
        return flags.cumsum(-1) > 0
    count = nn.functional.pad(flags.long(), (0, -keys % rate))
    count = count.unflatten(-1, (-1, rate)).cumsum(-2).flatten(-2)
    at = torch.arange(queries, device=flags.device) + pattern.offset
    first = at % rate  # of the keys a multiple of the rate away
    last = first + count.shape[-1] - rate
    low = first if pattern.before == math.inf else (at - int(pattern.before) // rate * rate)
    high = last if pattern.after == math.inf else (at + int(pattern.after) // rate * rate)
    low, high = torch.maximum(low, first), torch.minimum(high, last)
    until = count[..., high.clamp(0, count.shape[-1] - 1)]
    before = count[..., (low - rate).clamp(0, count.shape[-1] - 1)].masked_fill(low < rate, 0)
    return (until > before) & (low <= high)


def for_every_key(mask: Tensor, keys: int) -> Tensor:
    """A mask that says the same of every key, (..., 1), as one that names them all: (..., Lk)."""
    return mask if mask.shape[-1] == keys else mask.expand(*mask.shape[:-1], keys)


def source_lengths(mask: Tensor | None) -> Tensor | None:
    """Where each row's source ends: the last allowed key, counted from 1. (..., L, Lk) -> (..., L, 1)."""
    if mask is None:
        return None
    places = torch.arange(mask.shape[-1] + 1, device=mask.device)
    return (nn.functional.pad(mask, (1, 0)) * places).amax(-1, keepdim=True)


class Sheltered(NamedTuple):
    """Tensors from which nothing reaches a query that may not attend to it, whatever they held."""

    query: Tensor
    key: Tensor
    value: Tensor
    taint: Tensor | None  # (..., Lq or 1): NaN for queries that may attend to what was not finite


def shelter(
    query: Tensor, key: Tensor, value: Tensor, limits: Limits, *, uses_keys: bool = True
) -> Sheltered:
    """0 in place of keys that no query may attend, of those that are not finite, and of queries that
    may attend to none. A weight of 0 would stop neither a NaN nor the overflow of a huge number.
    """
    if limits.keys == 0:
        return Sheltered(query, key, value, None)
    unseen, same = limits.unseen, value is key
    if (
        limits.everywhere and limits.by_key and limits.queries
    ):  # what is real is seen by every query
        key = key if unseen is None else without(key, unseen)
        value = key if same else value if unseen is None else without(value, unseen)
        if same or not uses_keys:
            either = taint(value, (-2, -1))
        elif key.shape[:-2] == value.shape[:-2] and value.device.type == "cpu":
            either = (taint(value) + taint(key)).sum(-1)
        else:
            either = taint(value, (-2, -1)) + taint(key, (-2, -1))
        return Sheltered(without_empty(query, limits), key, value, either[..., None])
    of_value = taint(value)
    of_key = taint(key) if uses_keys and not same else of_value
    if of_key.shape == of_value.shape:
        bad = (of_value if of_key is of_value else of_key + of_value).isnan()
        bad_key = bad_value = bad if unseen is None else bad | unseen
    else:  # neither is to grow by the axes of the other
        bad_key, bad_value = of_key.isnan(), of_value.isnan()
        bad = bad_key | bad_value
        if unseen is not None:
            bad_key, bad_value = bad_key | unseen, bad_value | unseen
    key = without(key, bad_key)
    value = key if same else without(value, bad_value)
    tainted = limits.spoilt(bad, value.dtype) if limits.queries else None
    return Sheltered(without_empty(query, limits), key, value, tainted)


def without_spoilt(
    key: Tensor, value: Tensor, *, uses_keys: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """0 in place of the keys and values that are not finite; and which those are: (..., Lk)."""
    either, same = taint(value), value is key
    if uses_keys and not same:
        either = either + taint(key)
    bad = either.isnan()
    key = without(key, bad)
    return key, key if same else without(value, bad), bad


def taint(x: Tensor, axes: int | tuple[int, int] = -1) -> Tensor:
    """NaN where a vector is not finite, else 0: (..., L, D) -> (..., L), or (...) of all of them."""
    x = x.detach() if x.requires_grad else x
    if x.device.type == "cpu" and x.is_contiguous() and not torch.is_autocast_enabled("cpu"):
        rows = x @ x.new_zeros(x.shape[-1])  # 0 · NaN and 0 · inf are NaN: no second x is written
        return rows if axes == -1 else rows.sum(-1)
    return (x - x).sum(axes)


def without_empty(query: Tensor, limits: Limits) -> Tensor:
    """0 in place of the queries that may attend to no key: their rows are 0, whatever they hold."""
    rows = limits.rows
    return query if rows is None else without(query, ~rows)


def overflows(x: Tensor) -> Tensor:
    """Which vectors are not finite, or so large that a square is not: (..., L, D) -> (..., L)."""
    return ~(x.detach().abs().amax(-1) <= math.sqrt(torch.finfo(x.dtype).max))
