"""Pictures read as patches, which are pooled into one vector: by attention, evenly, or the largest of each.

Legend: B pictures, C channels, H, W pixels, P patches (rows · columns), D features of a patch, K labels.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from regard.attention import pooling
from regard.attention.multi_head import MultiHead
from regard.attention.pooling import AttentionPooling, Pooled, Pooling
from regard.layers.feed_forward import FeedForward
from regard.layers.transformer_blocks import EncoderBlock
from regard.models.seeing.cnn import convolutions
from regard.models.seeing.seer import SeenPictures, Seer
from regard.words import t

POOLINGS: dict[str, Pooling] = {"mean": pooling.mean, "max": pooling.max}
Pool = Literal["attention", "mean", "max"]


class ConvolvedPatches(nn.Module):
    """Convolutions, halved after each pair: (B, C, H, W) -> (B, D, rows, columns)

    A patch of 2^stages × 2^stages pixels has a vector of its own, which has seen what is around it.
    """

    def __init__(self, channels: int, *, filters: int = 16, stages: int = 3) -> None:
        super().__init__()
        self.layers = convolutions(channels, filters, stages)
        self.output_size, self.width = filters * 2 ** (stages - 1), 2**stages

    def forward(self, pictures: Tensor) -> Tensor:
        features: Tensor = self.layers(pictures)
        return features


class AttendingPatches(nn.Module):
    """Patches cut out, each projected, placed, and attending to all others (ViT).

    (B, C, H, W) -> (B, D, rows, columns) — Dosovitskiy et al. 2021, https://arxiv.org/abs/2010.11929. A
    picture that patches do not fill is black beyond its edge.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        *,
        size: int = 64,
        width: int = 6,
        layers: int = 2,
        heads: int = 4,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        channels, height, across = shape
        rows, columns = -(-height // width), -(-across // width)
        self.padding = (0, columns * width - across, 0, rows * width - height)
        self.cut = nn.Conv2d(channels, size, width, stride=width)
        self.places = nn.Parameter(torch.empty(size, rows, columns))
        nn.init.normal_(self.places, std=0.02)
        self.blocks = nn.ModuleList(
            EncoderBlock(
                MultiHead(size, heads=heads, dropout=dropout),
                FeedForward(size, 4 * size, activation="gelu", dropout=dropout),
                norm="pre",
                dropout=dropout,
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(size)
        self.output_size, self.width = size, width

    def forward(self, pictures: Tensor) -> Tensor:
        x = self.cut(nn.functional.pad(pictures, self.padding)) + self.places
        rows, columns = x.shape[-2:]
        x = x.flatten(2).mT  # (B, P, D)
        for block in self.blocks:
            x = block(x)
        return self.norm(x).mT.unflatten(2, (rows, columns))


class PatchSeer(Seer):
    """y = W Σ_p α_p h_p, α = softmax_p(u · tanh(V h_p)); or with even α, or the largest of each feature.

    per_label: each label asks with a u of its own, and has its own α: y_k = w_k · Σ_p α_kp h_p.
    """

    def __init__(
        self,
        encoder: ConvolvedPatches | AttendingPatches,
        labels: int,
        *,
        pool: Pool = "attention",
        hidden: int = 64,
        per_label: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if per_label and pool != "attention":
            raise ValueError(
                t("per_label is of attention: pool={pool} has one vector for all labels", pool=pool)
            )
        size = encoder.output_size
        self.encoder, self.per_label = encoder, per_label
        self.pool: AttentionPooling | Pooling = POOLINGS.get(pool) or AttentionPooling(
            size, hidden, hops=labels if per_label else 1
        )
        self.dropout, self.label = nn.Dropout(dropout), nn.Linear(size, labels)

    @property
    def pools_by_attention(self) -> bool:
        return isinstance(self.pool, AttentionPooling)

    def forward(self, pictures: Tensor) -> SeenPictures:
        features = self.encoder(pictures)  # (B, D, rows, columns)
        pooled: Pooled = self.pool(features.flatten(2).mT)
        vector = self.dropout(pooled.vector)
        if self.per_label and self.label.out_features > 1:  # (B, K, D)
            logits = (vector * self.label.weight).sum(-1) + self.label.bias
        else:
            logits = self.label(vector)
        weights = self._of_answer(pooled.weights, logits)
        return SeenPictures(logits, patches=weights.unflatten(1, features.shape[-2:]))

    def _of_answer(self, weights: Tensor, logits: Tensor) -> Tensor:
        """(B, P): of the likeliest label where each has its own; of maxima, the share of the features."""
        if isinstance(self.pool, AttentionPooling):
            if weights.dim() == 2:
                return weights
            best = logits.argmax(-1)
            return weights[torch.arange(len(best), device=best.device), best]
        return weights if weights.dim() == 2 else weights.mean(-1)
