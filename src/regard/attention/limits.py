"""Which pairs of query and key are allowed, all reasons taken together; and what a bad key may reach.

Legend: Lq queries, Lk keys, ... leading axes. True: the key may be attended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from regard.attention.region import Pattern, Region
from regard.attention.regions import Mask


@dataclass
class Limits:
    """The region, the caller's mask (..., Lq or 1, Lk), and where a predicted window lies."""

    region: Region
    mask: Tensor | None
    queries: int
    keys: int
    device: torch.device
    inside: Tensor | None = None  # (..., Lq, Lk), of a predicted window
    patterns: list[Pattern] | None = field(init=False)  # the region, if it is a union of patterns
    _allowed: Tensor | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.patterns = None
        if isinstance(self.region, Mask):
            self.patterns = self.region.patterns(self.queries, self.keys)
        if self.patterns and any(self._allows_all(pattern) for pattern in self.patterns):
            self.patterns = [Pattern()]  # as one step over a memory of the past alone does

    def _allows_all(self, pattern: Pattern) -> bool:
        nearest, farthest = pattern.offset - self.keys + 1, pattern.offset + self.queries - 1
        return pattern.rate == 1 and farthest <= pattern.before and -nearest <= pattern.after

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
        if self._allowed is None:  # kept: several steps ask
            region = self._in_region() if self.inside is None else self.inside
            self._allowed = region if self.mask is None else region & self.mask
        return self._allowed

    def _in_region(self) -> Tensor:
        assert isinstance(self.region, Mask)
        lengths = source_lengths(self.mask) if self.region.needs_lengths else None
        return self.region.mask(self.queries, self.keys, lengths=lengths, device=self.device)

    def reached(self, flags: Tensor) -> Tensor:
        """Whether each query may attend to a flagged key: (..., Lk) -> (..., Lq)."""
        if self.patterns is None or not self.by_key:
            allowed = self.allowed
            assert allowed is not None
            return (allowed & flags[..., None, :]).any(-1)
        if self.mask is not None:
            flags = flags & self.mask.squeeze(-2)
        hits = [_reached(flags, pattern, self.queries) for pattern in self.patterns]
        return torch.stack(hits).any(0)


def _reached(flags: Tensor, pattern: Pattern, queries: int) -> Tensor:
    """`Limits.reached` for one pattern in O(L): differences of running counts, `rate` apart."""
    rate, keys = pattern.rate, flags.shape[-1]
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


def source_lengths(mask: Tensor | None) -> Tensor | None:
    """Where each row's source ends: the last allowed key, counted from 1. (..., L, Lk) -> (..., L, 1)."""
    if mask is None:
        return None
    places = torch.arange(1, mask.shape[-1] + 1, device=mask.device)
    return (mask * places).amax(-1, keepdim=True)


def select(
    key: Tensor, value: Tensor, limits: Limits, *, uses_keys: bool = True
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Keys and values from which NaN and inf cannot reach a query that may not attend to them.

    A weight of 0 does not stop a NaN, so what is forbidden is replaced, not multiplied. The third
    result says which queries (..., Lq) may attend to a key that is not finite, and so must be NaN.
    """
    same = value is key
    free = limits.mask is None and limits.everywhere
    if free or 0 in (limits.queries, limits.keys):
        return key, value, None
    if limits.everywhere and limits.by_key:
        assert limits.mask is not None
        bad = ~limits.mask.mT  # (..., Lk, 1)
        key = key.masked_fill(bad, 0.0)
        return key, key if same else value.masked_fill(bad, 0.0), None
    if _surely_finite(value) and (same or not uses_keys or _surely_finite(key)):
        return key, value, None
    finite = _finite(value)
    if uses_keys and not same:
        finite = finite & _finite(key)
    bad = ~finite
    key = key.masked_fill(bad[..., None], 0.0)
    return key, key if same else value.masked_fill(bad[..., None], 0.0), limits.reached(bad)


def can_look(x: Tensor) -> bool:
    """Whether Python may look at its numbers: on a GPU that halts it, in a graph or vmap there are none."""
    return (
        x.device.type == "cpu"
        and not torch.compiler.is_compiling()
        and not torch._C._functorch.is_functorch_wrapped_tensor(x)
    )


def _surely_finite(x: Tensor) -> bool:
    """Whether a look at the sum settles it, which costs one pass."""
    return can_look(x) and math.isfinite(x.detach().sum().item())


def _finite(x: Tensor) -> Tensor:
    """Whether every feature is finite: (..., L, D) -> (..., L), in one pass."""
    if x.shape[-1] == 0:
        return torch.ones(x.shape[:-1], dtype=torch.bool, device=x.device)
    return torch.linalg.vector_norm(x.detach(), ord=math.inf, dim=-1).isfinite()
