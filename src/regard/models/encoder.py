"""Encoders: from a source to states, and to one vector."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.layers.contracts import Encoded
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding
from regard.layers.recurrent import Initial, Recurrent
from regard.layers.scan import flip


class RecurrentEncoder(nn.Module):
    """states h_1 … h_S of a recurrent network over embedded tokens.

    source (B, S), mask (B, S) -> states (B, S, directions · hidden). `reverse` reads the source from its end;
    the states are given back in the order of the source, so that position 1 is its first word.
    """

    def __init__(
        self,
        vocabulary: int,
        embedding: int,
        hidden: int,
        *,
        cell: str = "gru",
        layers: int = 1,
        bidirectional: bool = True,
        reverse: bool = False,
        initial: Initial = "zero",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.reverse, self.dropout = reverse, dropout
        self.embed = TokenEmbedding(vocabulary, embedding)
        self.network = Recurrent(
            embedding,
            hidden,
            cell=cell,
            layers=layers,
            bidirectional=bidirectional,
            initial=initial,
            dropout=dropout,
        )
        self.output_size = self.network.output_size

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        lengths = mask.sum(-1)
        if self.reverse:
            source = flip(source, lengths)
        x = dropout(self.embed(source), self.dropout, self.training)
        states, final = self.network(x, mask)
        if self.reverse:
            states = flip(states, lengths)
        # an empty source has states of 0, like its padding
        known = (lengths > 0)[:, None]
        ends = tuple(s.masked_fill(~known, 0.0) for layer in final for s in layer)
        summary = ends[-self.network.cells[0].states]
        return Encoded(states, mask, summary, ends)


class VectorEncoder(nn.Module):
    """One vector as the source (one-to-many): x (B, D) -> states (B, 1, D)"""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = size

    def forward(self, source: Tensor, mask: Tensor | None = None) -> Encoded:
        real = torch.ones(len(source), 1, dtype=torch.bool, device=source.device)
        return Encoded(source[:, None], real, source)


class NoEncoder(nn.Module):
    """No source at all: what a language model has. The source only says how many rows there are."""

    output_size = 0

    def forward(self, source: Tensor, mask: Tensor | None = None) -> Encoded:
        rows, device = len(source), source.device
        real = torch.ones(rows, 1, dtype=torch.bool, device=device)
        return Encoded(
            torch.zeros(rows, 1, 0, device=device), real, torch.zeros(rows, 0, device=device)
        )
