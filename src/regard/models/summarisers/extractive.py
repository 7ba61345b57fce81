"""The extractive features of ABS+: how far the next word goes on as the source does.

Legend: S source positions, V tokens; f the four features.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

FEATURES = ("word", "pair", "triple", "reordered")


class ExtractiveFeatures(nn.Module):
    """score(y) = Σ_i log p(y_i) + α · f(y_i),   f four times 0 or 1:

    word        y_i is a word of the source
    pair        … and stands there after y_(i-1)
    triple      … and after y_(i-2) y_(i-1)
    reordered   y_i stands in the source before a place of y_(i-1)

    — Rush et al. 2015, https://arxiv.org/abs/1509.00685. α is not trained with the network: it weighs what a
    search finds, and 0 changes nothing. What is added to a score is at most 0, so that a search still knows
    what is bound to lose: a feature with α above 0 costs α where it is missing.
    """

    alpha: Tensor  # (4,)

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("alpha", torch.zeros(len(FEATURES)))

    def places(self, before: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """Where each feature is had by the word that stands there.

        before (..., 2): y_(i-2) and y_(i-1); source and mask (..., S) -> (..., 4, S) bool
        """
        last = (source == before[..., 1:]) & mask  # places of y_(i-1)
        pair = _after(last)
        triple = pair & _after(_after((source == before[..., :1]) & mask))
        later = last.flip(-1).cumsum(-1).flip(-1) - last.long() > 0
        return torch.stack([mask.expand_as(last), pair & mask, triple & mask, later & mask], -2)

    def features(self, before: Tensor, wanted: Tensor, source: Tensor, mask: Tensor) -> Tensor:
        """Those of wanted (...): (..., 4) of 0 and 1"""
        here = (source == wanted[..., None])[..., None, :]
        return (self.places(before, source, mask) & here).any(-1).to(self.alpha.dtype)

    def bonus(self, features: Tensor) -> Tensor:
        """(..., 4) -> (...)"""
        return (features * self.alpha).sum(-1) - self.alpha.clamp(min=0).sum()

    def every_bonus(self, before: Tensor, source: Tensor, mask: Tensor, size: int) -> Tensor:
        """Of all V words that could be the next: before (N, 2), source and mask (N, S) -> (N, V)"""
        places = self.places(before, source, mask)  # (N, 4, S)
        counts = places.new_zeros((*places.shape[:-1], size), dtype=torch.int32)
        counts = counts.scatter_add(-1, source[:, None].expand_as(places), places.int())
        had = (counts > 0).to(self.alpha.dtype)
        return self.bonus(had.movedim(-2, -1))


def _after(places: Tensor) -> Tensor:
    """The places that follow these: (..., S) -> (..., S)"""
    return torch.cat([torch.zeros_like(places[..., :1]), places[..., :-1]], -1)
