"""A source in one vector for every target word: gated convolutions, or the words around one.

Legend: B sources, S positions, P = ⌈S / 2⌉ pairs of them, T target words, D features of a word, F of a
convolution, H of the words before.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import pooling
from regard.attention.pooling import AttentionPooling

WINDOW = 3  # positions that a convolution sees


class SourceVector(NamedTuple):
    """What a source is to each target word."""

    vector: Tensor  # (B, T, F)
    weights: Tensor | None = None  # (B, T, S): the share of each word; None: there are no gates


class SourceCnn(nn.Module):
    """φ(S) of four layers and a full one — Meng et al. 2015, https://arxiv.org/abs/1503.01838

        x¹_i = relu(W [x_(i-1); x_i; x_(i+1)] + b)                      a convolution
        x²_k = g_k x¹_2k + (1 - g_k) x¹_(2k+1),   g_k = σ(w · [x¹_2k; x¹_(2k+1)])       local gating
        x³_k = relu(W³ [x²_(k-1); x²_k; x²_(k+1)] + b³)
        φ    = relu(V Σ_k ω_k x³_k + c),   ω = softmax_k(u · x³_k)      global gating: attention pooling

    history: tells inCNN, which adds U h to layer 1, h the words before. tagged: tells tagCNN, whose words
    have one feature more, 1 if they are affiliated with the next target word. gate False: maxima of
    features instead of both gatings.
    """

    def __init__(
        self,
        size: int,
        features: int,
        *,
        history: int | None = None,
        tagged: bool = False,
        gate: bool = True,
    ) -> None:
        super().__init__()
        self.words = nn.Linear(WINDOW * size, features)
        self.history = None if history is None else nn.Linear(history, features, bias=False)
        self.tag = nn.Linear(WINDOW, features, bias=False) if tagged else None
        self.pairs = nn.Linear(WINDOW * features, features)
        self.local = nn.Linear(2 * features, 1) if gate else None
        self.pool = AttentionPooling(features) if gate else None
        self.full = nn.Linear(features, features)

    def forward(
        self, states: Tensor, mask: Tensor, history: Tensor, places: Tensor | None = None
    ) -> SourceVector:
        """states (B, S, D), mask (B, S), history (B, T, H), places (B, T): the affiliated words."""
        batch, targets = history.shape[:2]
        if not states.shape[1]:
            return SourceVector(
                self.full(history.new_zeros(batch, targets, len(self.full.bias))).relu()
            )
        x = self.words(_windows(states.masked_fill(~mask[..., None], 0.0)))[:, None]  # (B, 1, S, F)
        if self.history is not None:
            x = x + self.history(history)[:, :, None]
        if self.tag is not None:
            assert places is not None
            here = torch.arange(states.shape[1], device=places.device) == places[..., None]
            x = x + self.tag(_windows(here[..., None].to(x.dtype)))  # (B, T, S, F)
        real = mask[:, None].expand(x.shape[:-1])  # (B, 1 or T, S)
        x, real, gates = self._halved(x.relu().masked_fill(~real[..., None], 0.0), real)
        x = self.pairs(_windows(x)).relu().masked_fill(~real[..., None], 0.0)  # (B, 1 or T, P, F)
        pooled = (self.pool or pooling.max)(x, real)
        weights = None
        if gates is not None:
            weights = _shares_of_words(pooled.weights, gates, real, mask).expand(-1, targets, -1)
        vector = self.full(pooled.vector).relu()
        return SourceVector(vector.expand(-1, targets, -1), weights)

    def _halved(self, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """(..., S, F) -> (..., P, F); which are real; and g (..., P), 1 where a word has no neighbour."""
        odd = x.shape[-2] % 2
        pairs = F.pad(x, (0, 0, 0, odd)).unflatten(-2, (-1, 2))  # (..., P, 2, F)
        both = F.pad(real, (0, odd)).unflatten(-1, (-1, 2))
        left, right = pairs.unbind(-2)
        if self.local is None:
            return torch.maximum(left, right), both[..., 0], None  # nothing is below 0
        gates = self.local(pairs.flatten(-2)).squeeze(-1).sigmoid()
        gates = gates.masked_fill(~both[..., 1], 1.0)
        return torch.lerp(right, left, gates[..., None]), both[..., 0], gates


class SourceWindow(nn.Module):
    """φ = [x_(a-m); …; x_(a+m)] of the word a that is translated next — Devlin et al. 2014 (NNJM),
    https://aclanthology.org/P14-1129
    """

    def __init__(self, around: int) -> None:
        super().__init__()
        self.around = around

    def forward(
        self, states: Tensor, mask: Tensor, history: Tensor, places: Tensor | None = None
    ) -> SourceVector:
        assert places is not None
        beyond = self.around + (not states.shape[1])  # of no words there is one window too
        x = F.pad(states.masked_fill(~mask[..., None], 0.0), (0, 0, self.around, beyond))
        x = x.unfold(1, 2 * self.around + 1, 1).mT.flatten(-2)  # (B, S, (2 m + 1) D)
        at = places[..., None].expand(-1, -1, x.shape[-1])
        positions = torch.arange(states.shape[1], device=places.device)
        return SourceVector(x.gather(1, at), (positions == places[..., None]).to(x.dtype))


def _windows(x: Tensor) -> Tensor:
    """Each position between its neighbours, 0 beyond the ends: (..., L, F) -> (..., L, 3 F)"""
    wide = F.pad(x, (0, 0, 1, 1))
    length = x.shape[-2]
    return torch.cat([wide.narrow(-2, start, length) for start in range(WINDOW)], -1)


def _shares_of_words(omega: Tensor, gates: Tensor, real: Tensor, mask: Tensor) -> Tensor:
    """(B, T, P), (B, T, P) -> (B, T, S): how ω goes back to words, evenly among the real ones of a window."""
    pairs = _spread(omega, real)
    words = torch.stack([pairs * gates, pairs * (1 - gates)], -1).flatten(-2)
    words = words[..., : mask.shape[-1]]
    return _spread(words, mask[:, None].expand(words.shape))


def _spread(shares: Tensor, real: Tensor) -> Tensor:
    """What a position has, divided among itself and its real neighbours."""
    there = F.pad(real.to(shares.dtype), (1, 1))
    count = (there[..., :-2] + there[..., 1:-1] + there[..., 2:]).clamp(min=1)
    each = F.pad(shares / count, (1, 1))
    around = each[..., :-2] + each[..., 1:-1] + each[..., 2:]
    return around.masked_fill(~real, 0.0)
