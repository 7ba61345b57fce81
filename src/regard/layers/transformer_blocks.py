"""The blocks that Transformers are stacked of. Any `MultiHead` of the heart attends in them.

    post:  x <- LN(x + Drop(f(x)))        as published (Vaswani et al. 2017); needs a warm-up
    pre:   x <- x + Drop(f(LN(x)))        trains without one — Xiong et al. 2020
    none:  x <- x + Drop(f(x))

Without the residual connection "x +" is left out, and without a feed-forward network a block only attends:
what each part is there for is seen when it is gone.

Legend: N sequences, L positions, D features; a layer norm is over the features of a position alone.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, cast, get_args

from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.multi_head import MultiHead
from regard.layers.attend_per_sentence import attend_per_sentence
from regard.layers.dropout import dropout
from regard.layers.feed_forward import FeedForward
from regard.layers.names import check_name

Norm = Literal["pre", "post", "none"]


class Residual(nn.Module):
    """The way around a sublayer f: y = f(before(x)), then after(x, y).

    connected: x itself takes it; if not, x is lost but for what f makes of it.
    """

    def __init__(self, size: int, norm: Norm, dropout: float, *, connected: bool = True) -> None:
        super().__init__()
        check_name("place of the layer norm", norm, get_args(Norm))
        self.norm = nn.Identity() if norm == "none" else nn.LayerNorm(size)
        self.pre, self.dropout, self.connected = norm == "pre", dropout, connected
        self.place = norm

    def before(self, x: Tensor) -> Tensor:
        return self.norm(x) if self.pre else x

    def after(self, x: Tensor, y: Tensor) -> Tensor:
        y = dropout(y, self.dropout, self.training)
        y = x + y if self.connected else y
        return y if self.pre else self.norm(y)

    def extra_repr(self) -> str:
        said = f"{self.place}, dropout={self.dropout}"
        return said if self.connected else f"{said}, connected=False"


class TransformerBlock(nn.Module):
    """Self-attention, attention to a source and a feed-forward network, if there are such."""

    def __init__(
        self,
        attention: MultiHead,
        feed_forward: FeedForward | None,
        *,
        cross: MultiHead | None = None,
        norm: Norm,
        dropout: float,
        residual: bool = True,
    ) -> None:
        super().__init__()

        def around(part: nn.Module | None) -> Residual | None:
            size = attention.query_size
            return None if part is None else Residual(size, norm, dropout, connected=residual)

        self.attention, self.cross, self.feed_forward = attention, cross, feed_forward
        self.around_attention = cast(Residual, around(attention))
        self.around_cross = around(cross)
        self.around_feed_forward = around(feed_forward)

    def fed(self, x: Tensor) -> Tensor:
        """x (..., D), through the feed-forward network"""
        network, around = self.feed_forward, self.around_feed_forward
        if network is None or around is None:
            return x
        return around.after(x, network(around.before(x)))


class EncoderBlock(TransformerBlock):
    """Every position attends to all others that its region reaches."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x (N, L, D), mask (N, L): True where a position is real."""
        around = self.around_attention
        return self.fed(around.after(x, self.attention(around.before(x), mask=mask).context))


class BlockStep(NamedTuple):
    """What a decoder block gives: its output, what it remembers, what it saw of the source."""

    output: Tensor  # (N, L, D)
    past: Memory
    attended: Attended | None  # (N, L, D), weights (N, H, L, S) if asked for; None: no source


class DecoderBlock(TransformerBlock):
    """Every position attends to the past, and to the source if there is one."""

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
        return BlockStep(self.fed(x), past, attended)
