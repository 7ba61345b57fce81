"""The blocks that Transformers are stacked of. Any `MultiHead` of the heart attends in them.

    post:  x <- LN(x + Drop(f(x)))        as published (Vaswani et al. 2017); needs a warm-up
    pre:   x <- x + Drop(f(LN(x)))        trains without one — Xiong et al. 2020

Legend: N sequences, L positions, D features; a layer norm is over the features of a position alone.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.multi_head import MultiHead
from regard.layers.attend_per_sentence import attend_per_sentence
from regard.layers.dropout import dropout
from regard.layers.feed_forward import FeedForward
from regard.layers.names import check_name

Norm = Literal["pre", "post"]


class Residual(nn.Module):
    """The way around a sublayer f: y = f(before(x)), then after(x, y)."""

    def __init__(self, size: int, norm: Norm, dropout: float) -> None:
        super().__init__()
        check_name("place of the layer norm", norm, get_args(Norm))
        self.norm = nn.LayerNorm(size)
        self.pre, self.dropout = norm == "pre", dropout

    def before(self, x: Tensor) -> Tensor:
        return self.norm(x) if self.pre else x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        x = x + dropout(y, self.dropout, self.training)
        return x if self.pre else self.norm(x)

    def extra_repr(self) -> str:
        return f"{'pre' if self.pre else 'post'}, dropout={self.dropout}"


class EncoderBlock(nn.Module):
    """Self-attention, then the feed-forward network."""

    def __init__(
        self, attention: MultiHead, feed_forward: FeedForward, *, norm: Norm, dropout: float
    ) -> None:
        super().__init__()
        size = attention.query_size
        self.attention, self.feed_forward = attention, feed_forward
        self.around_attention = Residual(size, norm, dropout)
        self.around_feed_forward = Residual(size, norm, dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (N, L, D), mask (N, L): True where a position is real."""
        around = self.around_attention
        x = around.after(x, self.attention(around.before(x), mask=mask).context)
        around = self.around_feed_forward
        return around.after(x, self.feed_forward(around.before(x)))


class BlockStep(NamedTuple):
    """What a decoder block gives: its output, what it remembers, what it saw of the source."""

    output: Tensor  # (N, L, D)
    past: Memory
    attended: Attended | None  # (N, L, D), weights (N, H, L, S) if asked for; None: no source


class DecoderBlock(nn.Module):
    """Self-attention to the past, attention to the source if there is one, the feed-forward network."""

    def __init__(
        self,
        attention: MultiHead,
        feed_forward: FeedForward,
        *,
        cross: MultiHead | None = None,
        norm: Norm,
        dropout: float,
    ) -> None:
        super().__init__()
        size = attention.query_size
        self.attention, self.cross, self.feed_forward = attention, cross, feed_forward
        self.around_attention = Residual(size, norm, dropout)
        self.around_cross = None if cross is None else Residual(size, norm, dropout)
        self.around_feed_forward = Residual(size, norm, dropout)

    def forward(
        self,
        x: Tensor,
        past: Memory | None = None,
        source: Memory | None = None,
        *,
        start: int = 0,
        weights: bool = False,
    ) -> BlockStep:
        """x (N, L, D), the first of the L at position `start`; past: what stood before it, if anything.

        source: the memory of B sentences, N = B · k, those of a sentence side by side.
        """
        around, attended = self.around_attention, None
        y = around.before(x)
        past = self.attention.remember(y) if past is None else past.advance(y)
        x = around.after(x, self.attention(y, past, offset=start).context)
        if self.cross is not None and self.around_cross is not None:
            assert source is not None
            around = self.around_cross
            y = around.before(x)
            attended = attend_per_sentence(self.cross, y, source, position=start, weights=weights)
            x = around.after(x, attended.context)
        around = self.around_feed_forward
        x = around.after(x, self.feed_forward(around.before(x)))
        return BlockStep(x, past, attended)
