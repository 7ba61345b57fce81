"""Self-attention without a single parameter, as a model: what it can do by itself."""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor, nn

from regard.attention.attend import attend
from regard.layers.contracts import Encoded
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding
from regard.models.bare_options import BareClassifier
from regard.models.encoder_decoder import first_state
from regard.models.modes import LabelDecoder, LabelModel
from regard.models.summary import Summary


def bare_self_attention(
    x: Tensor,
    mask: Tensor | None = None,
    *,
    lengths: Tensor | None = None,
    softmax: bool = True,
) -> Tensor:
    """y_i = Σ_j w_ij x_j,  w_i = softmax_j(x_i · x_j), or x_i · x_j as it is

    x (B, L, D), mask (B, L): True where a position is real, or lengths (B,).
    y(P x) = P y(x) for every permutation P.
    """
    keys = None if mask is None else mask[:, None, :]
    how = "softmax" if softmax else "raw"
    return attend(x, x, score="dot", normalize=how, mask=keys, lengths=lengths).context


class BareEncoder(nn.Module):
    """Embeddings, then bare self-attention, `layers` times: only the embeddings are learned."""

    kind: Literal["self"] = "self"  # nothing but the attended vectors enters the weights

    def __init__(self, vocabulary: int, options: BareClassifier) -> None:
        super().__init__()
        self.embed = TokenEmbedding(vocabulary, options.size)
        self.embed.draw(std=0.1)
        self.layers, self.softmax, self.dropout = options.layers, options.softmax, options.dropout
        self.output_size = options.size

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        x = self.embed(source).masked_fill(~mask[..., None], 0.0)
        x = dropout(x, self.dropout, self.training)
        for _ in range(self.layers):
            x = bare_self_attention(x, mask, softmax=self.softmax)
        states = x.masked_fill(~mask[..., None], 0.0)
        return Encoded(states, mask, first_state(states))


def bare_classifier(
    source: int, labels: int, options: BareClassifier | None = None, /, **changes: Any
) -> LabelModel:
    """A label from the pooled outputs of bare self-attention."""
    options = BareClassifier.of(options, changes)
    encoder = BareEncoder(source, options)
    summary = Summary(options.pool, options.size, options.size)
    return LabelModel(encoder, LabelDecoder(summary, labels))
