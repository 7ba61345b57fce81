"""A prefix that every query of a sequence sees, and nothing to its right beyond it.

The lengths are a tensor, so the region has no name in the language. Leading axes are those of the attention
without its heads: (batch,) in a `MultiHead`, and (batch, 1) over (batch, heads, positions, size).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from regard.attention.region import Align, KeyStretch, Pattern, Region, check_align
from regard.attention.regions import Relative
from regard.attention.sequences.documents import whole_numbers
from regard.words import t

BOUNDS = (0, 2**31 - 1)  # of the numbers that the kernel on a GPU reads


@dataclass(frozen=True, eq=False, repr=False)
class Prefix(Relative):
    """j < length or j <= i: every query sees the whole prefix, and beyond it nothing to its right.

    lengths: whole numbers (...), one for every sequence, of which a copy is kept.
    """

    lengths: Tensor
    align: Align = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", whole_numbers(self, self.lengths, "lengths").clone())
        check_align(self)
        object.__setattr__(self, "ends", self.lengths.long().clamp(*BOUNDS).int())

    @property
    def leads(self) -> list[tuple[int, ...]]:
        return [tuple(self.lengths.shape)]

    def for_heads(self, axis: int) -> Region:
        if self.lengths.dim() == 0:
            return self
        return replace(self, lengths=self.lengths.unsqueeze(axis + 2))

    def offset(self, queries: int, keys: int) -> int:
        if self.align is None and queries != keys:
            raise ValueError(
                t(
                    "a prefix over {queries} queries and {keys} keys can be meant in two ways: "
                    "align='start' puts the first query at the first key, align='end' the last "
                    "query at the last key",
                    queries=queries,
                    keys=keys,
                )
            )
        return super().offset(queries, keys)

    def patterns(self, queries: int, keys: int) -> None:
        return None

    def stretches(self, queries: int, keys: int) -> list[KeyStretch]:
        offset = self.offset(queries, keys)
        ends: Tensor = self.ends  # type: ignore[attr-defined]
        return [
            KeyStretch(Pattern(offset=offset), ends=ends),
            KeyStretch(Pattern(after=0, offset=offset)),
        ]

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        i = torch.arange(queries, device=device)[:, None] + self.offset(queries, keys)
        j = torch.arange(keys, device=device)
        return (j <= i) | (j < self.lengths.to(device)[..., None, None])

    def __repr__(self) -> str:
        return f"Prefix(lengths={tuple(self.lengths.shape)})"
