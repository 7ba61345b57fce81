"""Self-attention without a single parameter, as a model: what it can do by itself."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from regard.attention.attend import attend
from regard.layers.contracts import Encoded
from regard.layers.dropout import dropout
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.modes import LabelDecoder
from regard.models.summary import Summary


def bare_self_attention(x: Tensor, mask: Tensor | None = None, *, softmax: bool = True) -> Tensor:
    """y_i = Σ_j w_ij x_j,  w_i = softmax_j(x_i · x_j), or x_i · x_j as it is

    x (B, L, D), mask (B, L): True where a position is real. y(P x) = P y(x) for every permutation P.
    """
    keys = None if mask is None else mask[:, None, :]
    return attend(x, x, score="dot", normalize="softmax" if softmax else "raw", mask=keys).context


class BareEncoder(nn.Module):
    """Embeddings, then bare self-attention, `layers` times: only the embeddings are learned."""

    def __init__(
        self,
        vocabulary: int,
        size: int,
        *,
        layers: int = 1,
        softmax: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, size)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.layers, self.softmax, self.dropout = layers, softmax, dropout
        self.output_size = size

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        x = dropout(self.embed(source), self.dropout, self.training)
        for _ in range(self.layers):
            x = bare_self_attention(x, mask, softmax=self.softmax)
        states = x.masked_fill(~mask[..., None], 0.0)
        return Encoded(states, mask, states[:, 0])


def bare_classifier(
    source: int,
    labels: int,
    *,
    size: int = 128,
    layers: int = 1,
    softmax: bool = True,
    pool: Literal["mean", "max", "attention"] = "mean",
    dropout: float = 0.0,
) -> EncoderDecoder:
    """A label from the pooled outputs of bare self-attention."""
    encoder = BareEncoder(source, size, layers=layers, softmax=softmax, dropout=dropout)
    return EncoderDecoder(encoder, LabelDecoder(Summary(pool, size, size), labels))
