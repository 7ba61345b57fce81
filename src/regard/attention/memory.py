"""What an attention remembers of its source, from one step to the next.

Legend: Lk keys, H heads, ... leading axes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from regard.attention.module import AttentionModule


@dataclass(frozen=True)
class Memory:
    """What an attention remembers of its source: keys projected once, values, and which are real.

    It is never changed: `append` and `select` give a new one.
    """

    attention: AttentionModule
    keys: Tensor  # (..., Lk, D), with heads (..., H, Lk, D)
    values: Tensor
    mask: Tensor | None  # (..., Lk); None: all are real
    start: int = 0  # the position of the first key: those before it have been forgotten
    spoilt: Tensor | None = (
        None  # (..., Lk): which were not finite, and are 0 now; None: not checked
    )

    @property
    def length(self) -> int:
        return self.keys.shape[-2]

    def append(
        self, states: Tensor, mask: Tensor | None = None, *, values: Tensor | None = None
    ) -> Memory:
        """With more states at the end: the next steps of incremental decoding."""
        new = self.attention.remember(states, mask, values=values, start=self.start + self.length)
        if self.mask is None and new.mask is None:
            joined = None
        else:
            masks = (m.mask if m.mask is not None else m._all_real(states) for m in (self, new))
            joined = torch.cat(list(masks), -1)
        keys = torch.cat([self.keys, new.keys], -2)
        values = torch.cat([self.values, new.values], -2)
        spoilt = None
        if self.spoilt is not None and new.spoilt is not None:
            spoilt = torch.cat([self.spoilt, new.spoilt], -1)
        return replace(self, keys=keys, values=values, mask=joined, spoilt=spoilt)

    def advance(self, states: Tensor) -> Memory:
        """`append`, without the keys that no query at one of the new states or later can see."""
        memory, reach = self.append(states), self.attention.reach
        past = memory.length - states.shape[-2] - reach
        if past <= 0:
            return memory
        first = int(past)
        return replace(
            memory,
            keys=memory.keys[..., first:, :],
            values=memory.values[..., first:, :],
            mask=None if memory.mask is None else memory.mask[..., first:],
            spoilt=None if memory.spoilt is None else memory.spoilt[..., first:],
            start=memory.start + first,
        )

    def select(self, rows: Tensor) -> Memory:
        """With its batch rows (the first axis) reordered, repeated or dropped: what a beam needs."""
        keys, values = self.keys.index_select(0, rows), self.values.index_select(0, rows)
        mask, spoilt = (
            None if x is None else x.index_select(0, rows) for x in (self.mask, self.spoilt)
        )
        return replace(self, keys=keys, values=values, mask=mask, spoilt=spoilt)

    def _all_real(self, states: Tensor) -> Tensor:
        return torch.ones(*states.shape[:-2], self.length, dtype=torch.bool, device=states.device)
