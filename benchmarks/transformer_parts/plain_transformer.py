"""The Transformer as most people write it on `scaled_dot_product_attention`, for `transformer_cuda.py`.

Its parts have the names that regard's have, so that both load the same weights. Pre-norm.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.positions import Sinusoidal


class Attention(nn.Module):
    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(size, size), nn.Linear(size, size)
        self.value, self.output = nn.Linear(size, size), nn.Linear(size, size)

    def forward(
        self, x: Tensor, source: Tensor, mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """x (B, L, D), source (B, S, D), mask (B, 1, 1, S): True where a key is real."""
        q = self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k = self.key(source).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        v = self.value(source).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return self.output(context.transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, size: int, inner: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(size, inner), nn.Linear(inner, size)

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(F.relu(self.inner(x)))


class Around(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)


class Block(nn.Module):
    def __init__(self, size: int, heads: int, inner: int, dropout: float, *, cross: bool) -> None:
        super().__init__()
        self.attention, self.around_attention = Attention(size, heads), Around(size)
        if cross:
            self.cross, self.around_cross = Attention(size, heads), Around(size)
        self.feed_forward, self.around_feed_forward = FeedForward(size, inner), Around(size)
        self.has_cross, self.dropout = cross, nn.Dropout(dropout)

    def forward(self, x: Tensor, source: Tensor | None, mask: Tensor) -> Tensor:
        """An encoder block without a source; a decoder block, whose own mask is causal, with one."""
        y = self.around_attention.norm(x)
        own = self.attention(y, y, None if self.has_cross else mask, self.has_cross)
        x = x + self.dropout(own)
        if self.has_cross:
            assert source is not None
            x = x + self.dropout(self.cross(self.around_cross.norm(x), source, mask))
        return x + self.dropout(self.feed_forward(self.around_feed_forward.norm(x)))


class Embedding(nn.Module):
    def __init__(self, vocabulary: int, size: int, dropout: float) -> None:
        super().__init__()
        self.table, self.scale = nn.Embedding(vocabulary, size), math.sqrt(size)
        self.positions, self.dropout = Sinusoidal(size), nn.Dropout(dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.dropout(self.table(tokens) * self.scale + self.positions(tokens.shape[1]))


class Stack(nn.Module):
    def __init__(
        self,
        vocabulary: int,
        size: int,
        heads: int,
        inner: int,
        layers: int,
        dropout: float,
        *,
        cross: bool,
    ) -> None:
        super().__init__()
        self.embed = Embedding(vocabulary, size, dropout)
        self.blocks = nn.ModuleList(
            Block(size, heads, inner, dropout, cross=cross) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(size)
        if cross:
            self.output = nn.Linear(size, vocabulary)

    def forward(self, tokens: Tensor, source: Tensor | None, mask: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, source, mask)
        return self.norm(x)


class PlainTransformer(nn.Module):
    """source (B, S), mask (B, S), inputs (B, T) -> logits (B, T, V); one matrix for all embeddings."""

    def __init__(
        self, vocabulary: int, size: int, heads: int, inner: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        shape = vocabulary, size, heads, inner, layers, dropout
        self.encoder, self.decoder = Stack(*shape, cross=False), Stack(*shape, cross=True)
        self.decoder.output.weight = self.decoder.embed.table.weight
        self.encoder.embed.table.weight = self.decoder.embed.table.weight

    def forward(self, source: Tensor, mask: Tensor, inputs: Tensor) -> Tensor:
        keys = mask[:, None, None]
        read = self.encoder(source, None, keys)
        return self.decoder.output(self.decoder(inputs, read, keys))


def largest_difference(a: Tensor, b: Tensor) -> float:
    """Over the largest number in b."""
    return float((a - b).abs().max() / torch.max(b.abs()))
