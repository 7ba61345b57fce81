"""A source in one vector, whatever was written before: the mean word, and convolutions with maxima.

Legend: B sources, S positions, D features, Q words on either side.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import pooling
from regard.layers.contracts import Encoded
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding


class WordEncoder(nn.Module):
    """states F x_j, and a vector of them if there is to be one: source, mask (B, S) -> (B, S, D)"""

    def __init__(
        self, vocabulary: int, size: int, vector: nn.Module | None = None, *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embed = TokenEmbedding(vocabulary, size)
        self.vector, self.dropout = vector, dropout

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        states = self.embed(source).masked_fill(~mask[..., None], 0.0)
        states = dropout(states, self.dropout, self.training)
        nothing = states.new_zeros(len(states), 0)
        summary = nothing if self.vector is None else self.vector(states, mask)
        return Encoded(states, mask, summary, tokens=source)


class MeanWord(nn.Module):
    """1/S Σ_j F x_j"""

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return pooling.mean(states, mask).vector


class Tdnn(nn.Module):
    """max over time of L convolutions, after each but the last x_i = tanh(max(x_2i, x_(2i+1)))

    — a time-delay network as in Rush et al. 2015, https://arxiv.org/abs/1509.00685: windows of 2 Q + 1 words.
    """

    def __init__(self, size: int, around: int, layers: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv1d(size, size, 2 * around + 1, padding=around) for _ in range(layers)
        )

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(B, S, D), (B, S) -> (B, D); 0 where nothing is real"""
        x = states
        for layer, convolution in enumerate(self.convolutions):
            if layer:
                x, mask = _halved(x, mask)
            if not x.shape[1]:
                return x.new_zeros(len(x), x.shape[-1])
            x = convolution(x.mT).mT
        every = x.masked_fill(~mask[..., None], -torch.inf).amax(1)
        return every.masked_fill(~mask.any(1)[:, None], 0.0)


def _halved(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """tanh of the larger of two neighbours, 0 where neither is real: (B, S, D) -> (B, ⌈S / 2⌉, D)"""
    x = x.masked_fill(~mask[..., None], -torch.inf)
    odd = x.shape[1] % 2
    x = F.pad(x, (0, 0, 0, odd), value=-torch.inf).unflatten(1, (-1, 2)).amax(2)
    mask = F.pad(mask, (0, odd)).unflatten(1, (-1, 2)).any(2)
    return x.masked_fill(~mask[..., None], 0.0).tanh(), mask


def smoothed(states: Tensor, mask: Tensor, around: int) -> Tensor:
    """x̄_j, the mean of the real states from j - Q to j + Q: (B, S, D)"""
    if not around or not states.shape[1]:
        return states
    real = mask[:, None].to(states.dtype)  # (B, 1, S)
    width = 2 * around + 1
    total = F.avg_pool1d(states.mT * real, width, 1, around)
    count = F.avg_pool1d(real, width, 1, around)
    return (total / count.clamp(min=0.5 / width)).mT
