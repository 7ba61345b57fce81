"""A recurrent language model whose states attend to the states before them.

Legend: B texts, N hypotheses (N = B · k), T positions, n hidden.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor, nn

from regard.attention.memory import Memory
from regard.attention.module import Attention
from regard.attention.normalizers import as_normalizer
from regard.attention.regions import Causal, as_region
from regard.layers.contracts import Decoded, Encoded, Prefilled, Step
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding, without_padding
from regard.layers.recurrent import Recurrent
from regard.layers.recurrent_cells import CellState
from regard.models.attention_options import AttentionOptions
from regard.models.readout import ReadOut
from regard.words import t


@dataclass(frozen=True)
class PastState:
    """What the next step needs of every hypothesis."""

    cells: tuple[CellState, ...]  # of every layer, (N, n)
    past: Memory | None = None  # the states that can still be attended to; None: there is none yet
    position: int = 0

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> PastState:
        cells = tuple(tuple(s.index_select(0, rows) for s in layer) for layer in self.cells)
        return replace(
            self, cells=cells, past=None if self.past is None else self.past.select(rows)
        )


class PastDecoder(nn.Module):
    """p(y_t | y_<t) = softmax(W_o tanh(W [h_t; c_t])),  c_t = Σ_(j ≤ t) α_tj h_j,  α_t asked by h_t

    — after the attention models of Daniluk et al. 2017, https://arxiv.org/abs/1702.04521, and, for any cell,
    the memory tape of Cheng et al. 2016, https://arxiv.org/abs/1601.06733. Nothing that is attended to comes
    back into the cells, so that all positions of a text are attended from at once.
    """

    def __init__(
        self,
        vocabulary: int,
        embedding: int,
        hidden: int,
        how: AttentionOptions,
        *,
        cell: str = "gru",
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.embed = TokenEmbedding(vocabulary, embedding)
        self.network = Recurrent(embedding, hidden, cell=cell, layers=layers, dropout=dropout)
        self.attention = past_attention(hidden, how)
        self.readout = ReadOut("tanh", (hidden, hidden), hidden)
        self.output = nn.Linear(hidden, vocabulary)

    def start(self, encoded: Encoded) -> PastState:
        return PastState(self.network.start(len(encoded.mask)))

    def step(self, tokens: Tensor, state: PastState, *, weights: bool = False) -> Step:
        x = dropout(self.embed(tokens), self.dropout, self.training)
        top, cells = self.network.step(x, state.cells)
        now = top[:, None]  # (N, 1, n)
        attention = self.attention
        past = attention.remember(now) if state.past is None else state.past.advance(now)
        context = attention(now, past, offset=state.position).context
        out = self.readout(top, context.squeeze(1))
        return Step(self.project(out), PastState(cells, past, state.position + 1))

    def prefill(self, tokens: Tensor, state: PastState, *, weights: bool = False) -> Prefilled:
        x = without_padding(self.embed(tokens), tokens)  # (B, T, E)
        x = dropout(x, self.dropout, self.training)
        states, cells = self.network(x, None, state.cells)
        attention = self.attention
        past = attention.remember(states) if state.past is None else state.past.advance(states)
        context = attention(states, past, offset=state.position).context
        new = PastState(cells, past, state.position + tokens.shape[1])
        return Prefilled(self.readout(states, context), new)

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        return Decoded(self.prefill(inputs, self.start(encoded)).outputs)

    def project(self, outputs: Tensor) -> Tensor:
        return self.output(dropout(outputs, self.dropout, self.training))


def past_attention(size: int, how: AttentionOptions) -> Attention:
    """Self-attention that sees no later state."""
    region, normalize = as_region(how.region, query_size=size), as_normalizer(how.normalize)
    if not region.composes:
        raise ValueError(
            t(
                "a language model sees no later state, and {region} cannot be joined to that: "
                "take everywhere, window, atrous or sparse",
                region=how.region,
            )
        )
    if not normalize.differentiable:
        raise ValueError(
            t(
                "a language model is trained by gradients, which do not pass {normalize}: take "
                "gumbel",
                normalize=how.normalize,
            )
        )
    parts = how.mechanism | {"region": region & Causal(), "normalize": normalize}
    return Attention(size, **parts)
