"""What a region is, and the patterns of keys that the fast paths understand."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, NoReturn

from torch import Tensor


class Pattern(NamedTuple):
    """d mod rate = 0 and -after <= d <= before, for d = i + offset - j. Infinite: no bound."""

    before: float = math.inf
    after: float = math.inf
    rate: int = 1
    offset: int = 0

    def strided(self) -> Pattern:
        """The same keys counted in steps of `rate`; the offset must be a multiple of it."""
        before, after = (
            side if side == math.inf else side // self.rate for side in (self.before, self.after)
        )
        return Pattern(before, after, 1, self.offset // self.rate)

    def meet(self, other: Pattern, offset: int) -> Pattern:
        """Both at once, for queries that stand at `offset`."""
        before, after = min(self.before, other.before), min(self.after, other.after)
        return Pattern(before, after, math.lcm(self.rate, other.rate), offset)

    def holds(self, distance: Tensor) -> Tensor:
        allowed = distance % self.rate == 0
        if self.before != math.inf:
            allowed = allowed & (distance <= self.before)
        if self.after != math.inf:
            allowed = allowed & (distance >= -self.after)
        return allowed


class Region:
    """Which keys a query may look at. `attend(..., region=...)` takes one, or its name."""

    def at(self, offset: int) -> Region:
        """The same region with the first query at position `offset` of the keys (one decoding step)."""
        return self


def refuse_to_compose(given: Any) -> NoReturn:
    raise TypeError(
        f"{type(given).__name__} is not a mask, so &, | and ~ do not apply to it"
        + ("; pass what else restricts it as mask=" if isinstance(given, Region) else "")
    )
