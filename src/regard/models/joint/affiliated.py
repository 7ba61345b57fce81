"""Which source word each target token comes of, while a target is being written.

Legend: N hypotheses of B sentences (N = B · k), S source positions, V tokens of the target vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import torch
from torch import Tensor

from regard.layers.contracts import Encoded

NOWHERE = -1  # of a token that comes of no word, and before the first


@dataclass(frozen=True)
class Affiliated(Encoded):
    """A source that was encoded, and where every token that could be said would come from."""

    first: Tensor = field(kw_only=True)  # (B, V): where its source word stands first, or NOWHERE

    @classmethod
    def of(cls, encoded: Encoded, first: Tensor) -> Affiliated:
        return cls(**vars(encoded), first=first)

    def select(self, sentences: Tensor) -> Self:
        return replace(super().select(sentences), first=self.first.index_select(0, sentences))

    def nearest(self, last: Tensor) -> Tensor:
        """Of each place, that of the same word that is nearest to the one behind `last`: (B, k) -> (B, k, S)

        Of two that are as near it is the first.
        """
        assert self.tokens is not None
        same = self.tokens[:, :, None] == self.tokens[:, None]  # (B, S, S)
        same = same & self.mask[:, None]
        positions = torch.arange(self.tokens.shape[1], device=last.device)
        distance = (positions - last[..., None] - 1).abs()  # (B, k, S)
        far = len(positions) + distance.amax() + 1
        return torch.where(same[:, None], distance[:, :, None], far).argmin(-1)

    def places(self, last: Tensor) -> Tensor:
        """Where each token would come from, after one that came from `last`: (B, k) -> (B, k, V)"""
        first = self.first[:, None].expand(-1, last.shape[1], -1)
        known = self.nearest(last).gather(-1, first.clamp(min=0))
        return torch.where(first == NOWHERE, last.clamp(min=0)[..., None], known)

    def after(self, tokens: Tensor, last: Tensor) -> Tensor:
        """Where tokens (B, k) come from, after ones that came from last (B, k): (B, k)"""
        first = self.first.gather(1, tokens)
        known = self.nearest(last).gather(-1, first.clamp(min=0)[..., None]).squeeze(-1)
        return torch.where(first == NOWHERE, last.clamp(min=0), known)
