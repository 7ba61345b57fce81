"""BCNN and ABCNN: convolutions over two texts that attend to each other.

— Yin et al. 2016, https://arxiv.org/abs/1512.05193

Legend: B pairs, L words of the first text, M of the second, D features, w the width of a convolution, whose
output has L + w - 1 columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import pooling
from regard.attention.module import Attention
from regard.models.pairs.pair_model import ComparedPair, PairedText
from regard.models.pairs.pair_options import Abcnn, Bcnn


class FeatureMap(NamedTuple):
    """One text of each pair: a column for each word, or for each place of a convolution."""

    columns: Tensor  # (B, L, D), 0 where a column is not real
    mask: Tensor  # (B, L)


class PairAttention(Attention):
    """A[i, j] = 1 / (1 + ‖x_i - y_j‖), 0 where either is padding; not normalised"""

    def __init__(self, size: int) -> None:
        super().__init__(size, size, score="distance", normalize="raw")

    def between(self, x: FeatureMap, y: FeatureMap) -> Tensor:
        """(B, L, M)"""
        memory = self.remember(y.columns, y.mask)
        weights = self(x.columns, memory, mask=x.mask[..., None], weights=True).weights
        assert weights is not None
        return weights


class InputAttention(nn.Module):
    """F_a = A W, F'_a = Aᵀ W: a second map beside that of each text (ABCNN-1)

    W (positions, D) has a row for each place of the other text, the same for both; what stands behind its
    end is not seen.
    """

    def __init__(self, size: int, positions: int) -> None:
        super().__init__()
        self.attention = PairAttention(size)
        self.table = nn.Parameter(torch.empty(positions, size))
        nn.init.xavier_uniform_(self.table)

    def forward(self, x: FeatureMap, y: FeatureMap) -> tuple[FeatureMap, FeatureMap]:
        weights = self.attention.between(x, y)
        return self._beside(x, weights), self._beside(y, weights.mT)

    def _beside(self, x: FeatureMap, weights: Tensor) -> FeatureMap:
        seen = weights[..., : len(self.table)]
        attended = seen @ self.table[: seen.shape[-1]].to(seen)
        return FeatureMap(torch.cat([x.columns, attended], -1), x.mask)


class ConvolutionBlock(nn.Module):
    """A wide convolution and its pooling over windows, which gives as many columns as there were.

    column_t = tanh(W [x_(t-w+1); …; x_t] + b)      with 0 before the first word and behind the last
    w-ap     = the mean of w columns; ABCNN-2: Σ a_k column_k, a the row sums of A between the columns of both
    all-ap   = the mean of all; ABCNN-2: Σ a_k column_k / Σ a_k
    """

    def __init__(self, size: int, options: Bcnn) -> None:
        super().__init__()
        self.width, variant = options.width, options.variant if isinstance(options, Abcnn) else 0
        self.input_attention = self.pool_attention = None
        if isinstance(options, Abcnn) and variant in (1, 3):
            self.input_attention = InputAttention(size, options.positions)
        if variant in (2, 3):
            self.pool_attention = PairAttention(options.filters)
        inputs = size * (1 + (self.input_attention is not None))
        self.convolution = nn.Conv1d(inputs, options.filters, self.width, padding=self.width - 1)

    def forward(
        self, x: FeatureMap, y: FeatureMap
    ) -> tuple[FeatureMap, FeatureMap, Tensor, Tensor]:
        """The maps of both texts for the next block, and their vectors (B, D)."""
        masks = x.mask, y.mask
        if self.input_attention is not None:
            x, y = self.input_attention(x, y)
        x, y = self._convolved(x), self._convolved(y)
        if self.pool_attention is None:
            weights = [each.mask.to(each.columns) for each in (x, y)]
        else:
            between = self.pool_attention.between(x, y)
            weights = [between.sum(-1), between.sum(-2)]  # (B, L + w - 1), (B, M + w - 1)
        u, v = (_mean(each, by) for each, by in zip((x, y), weights, strict=True))
        one, other = (
            FeatureMap(self._window_sums(each, by), mask)
            for each, by, mask in zip((x, y), weights, masks, strict=True)
        )
        return one, other, u, v

    def _convolved(self, x: FeatureMap) -> FeatureMap:
        columns = self.convolution(x.columns.mT).tanh().mT  # (B, L + w - 1, D)
        there = x.mask.any(-1, keepdim=True)  # of no words there is no column, whatever the bias
        mask = torch.cat([there.expand(-1, self.width - 1), x.mask], -1)  # L + w - 1 of them
        return FeatureMap(columns.masked_fill(~mask[..., None], 0.0), mask)

    def _window_sums(self, x: FeatureMap, weights: Tensor) -> Tensor:
        """(B, L, D): Σ over each w successive columns; their mean where nothing attends."""
        means = F.avg_pool1d((weights[..., None] * x.columns).mT, self.width, 1).mT
        sums = means if self.pool_attention is None else means * self.width
        real = x.mask[:, self.width - 1 :]  # a window is real where its last column is
        return sums.masked_fill(~real[..., None], 0.0)


class ConvolvedPair(ComparedPair):
    """all-ap of the words and of every block, compared: BCNN and the ABCNNs."""

    def __init__(self, vocabulary: int, outputs: int, options: Bcnn) -> None:
        super().__init__(vocabulary, options)
        sizes = [options.embedding] + [options.filters] * options.blocks
        self.blocks = nn.ModuleList(ConvolutionBlock(size, options) for size in sizes[:-1])
        self.make_comparisons(sizes, outputs, options.hidden)

    def layers(self, first: PairedText, second: PairedText) -> list[tuple[Tensor, Tensor]]:
        x, y = (FeatureMap(self.words(text), text.mask) for text in (first, second))
        found = [(pooling.mean(*x).vector, pooling.mean(*y).vector)]
        for block in self.blocks:
            x, y, u, v = block(x, y)
            found.append((u, v))
        return found


def _mean(x: FeatureMap, weights: Tensor) -> Tensor:
    """Σ a_k x_k / Σ a_k (B, D); 0 of nothing"""
    total = weights.sum(-1, keepdim=True)
    return (weights[:, None] @ x.columns)[:, 0] / total.masked_fill(total == 0, 1.0)


def bcnn(
    vocabulary: int, outputs: int, options: Bcnn | None = None, /, **changes: Any
) -> ConvolvedPair:
    return ConvolvedPair(vocabulary, outputs, Bcnn.of(options, changes))


def abcnn(
    vocabulary: int, outputs: int, options: Abcnn | None = None, /, **changes: Any
) -> ConvolvedPair:
    return ConvolvedPair(vocabulary, outputs, Abcnn.of(options, changes))
