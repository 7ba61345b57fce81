"""What the blocks of a Transformer have in common, and how their heads attend."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from regard.attention.module import MultiHead
from regard.attention.normalizers import as_normalizer
from regard.attention.region import Region
from regard.attention.regions import Causal, as_region
from regard.attention.rotary import Rotary
from regard.layers.blocks import Norm
from regard.layers.embedding import Embedding
from regard.layers.feed_forward import Activation, FeedForward
from regard.layers.positions import Kind, make_positions


@dataclass(frozen=True)
class Mechanism:
    """How the heads of a stack attend. Several regions take turns, layer by layer."""

    score: str = "scaled-dot"
    region: str | tuple[str, ...] = "everywhere"
    normalize: str = "softmax"

    def region_of(self, layer: int) -> str:
        return (
            self.region if isinstance(self.region, str) else self.region[layer % len(self.region)]
        )


@dataclass(frozen=True)
class Shape:
    """What the blocks of a stack have in common."""

    size: int = 512
    heads: int = 8
    key_heads: int | None = None  # fewer than heads: groups share keys and values
    inner: int = 2048
    activation: Activation = "relu"
    norm: Norm = "post"
    final_norm: bool | None = None  # after the last block; None: with norm "pre" only
    positions: Kind = "sinusoidal"
    max_positions: int = 512  # of learned ones
    scaled: bool = True  # embeddings by √size
    dropout: float = 0.1  # of embeddings and sublayers, as the paper has it
    attention_dropout: float = 0.0  # of the weights
    inner_dropout: float = 0.0  # inside the feed-forward network

    def embedding(self, vocabulary: int) -> Embedding:
        positions = make_positions(self.positions, self.size, self.max_positions)
        return Embedding(vocabulary, self.size, positions, scaled=self.scaled, dropout=self.dropout)

    def self_attention(self, by: Mechanism, layer: int, *, causal: bool) -> MultiHead:
        region = as_region(by.region_of(layer), query_size=self.size)
        if causal and not region.composes:
            raise ValueError(
                f"self-attention of a decoder sees no later position, and {by.region_of(layer)} cannot be "
                "joined to that: take everywhere, window, atrous or sparse"
            )
        rotary = Rotary() if self.positions == "rotary" else None
        within = region & Causal() if causal else region
        return self._heads(by, within, None, rotary)

    def cross_attention(self, by: Mechanism, layer: int) -> MultiHead:
        region = as_region(by.region_of(layer), query_size=self.size)
        return self._heads(by, region, self.size, None)

    def feed_forward(self) -> FeedForward:
        return FeedForward(
            self.size, self.inner, activation=self.activation, dropout=self.inner_dropout
        )

    def last_norm(self) -> nn.Module:
        wanted = self.norm == "pre" if self.final_norm is None else self.final_norm
        return nn.LayerNorm(self.size) if wanted else nn.Identity()

    def _heads(
        self, by: Mechanism, region: Region, key_size: int | None, rotary: Rotary | None
    ) -> MultiHead:
        if not as_normalizer(by.normalize).differentiable:
            raise ValueError(
                "hard attention is trained by the reward of a choice, and a stack of blocks makes many: "
                "take gumbel, which gradients pass"
            )
        return MultiHead(
            self.size,
            key_size,
            heads=self.heads,
            key_heads=self.key_heads,
            score=by.score,
            region=region,
            normalize=by.normalize,
            dropout=self.attention_dropout,
            rotary=rotary,
            nan_safe=False,  # the states are the model's own: if one is not finite, the model has diverged
        )


PLAIN = Mechanism()
PUBLISHED = Shape()  # the base model of Vaswani et al.
