"""A recurrent decoder of one vector, which enters where it is told to.

Legend: B sources, N hypotheses (N = B · k), T steps, E embedding, D the vector's size, n hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn

from regard.attention.memory import Memory
from regard.layers.contracts import Decoded, Encoded, Prefilled, Step
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding, without_padding
from regard.layers.positions import make_positions
from regard.layers.recurrent import Recurrent
from regard.layers.recurrent_cells import CellState
from regard.models.attention_options import AttentionOptions
from regard.models.past_decoder import past_attention
from regard.models.readout import ReadOut
from regard.models.summary import Bridge, Summary
from regard.words import t

INDEX = 16  # features of a step's number


@dataclass(frozen=True)
class EnteringState:
    """What the next step needs; the vector is kept once for all hypotheses of a source."""

    cells: tuple[CellState, ...]  # of every layer, (N, n)
    vector: Tensor  # (B, D)
    past: Memory | None = None  # the states that can be attended to; None: there is none yet
    position: int = 0

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> EnteringState:
        return replace(
            self,
            cells=tuple(tuple(s.index_select(0, rows) for s in layer) for layer in self.cells),
            vector=self.vector if sentences is None else self.vector.index_select(0, sentences),
            past=None if self.past is None else self.past.select(rows),
        )


class EnteringDecoder(nn.Module):
    """p(y_t | y_<t, x) = softmax(W_o o_t),  h_t = f([E y_(t-1); p_t; e_t x], h_(t-1)),  o_t = h_t

    enters      first: h_0 = tanh(W x), and no step reads x
                every: every step does, e_t = 1
                steps: those of these numbers do, from 1: e_t = 1 where t is one of them, else 0
    step_index  p_t, by which a step knows its number: learned, sinusoidal, or none
    attention   of a state to itself and those before it: o_t = tanh(W [h_t; Σ_(j ≤ t) α_tj h_j])
    """

    def __init__(
        self,
        vocabulary: int,
        summary: Summary,
        embedding: int,
        hidden: int,
        *,
        enters: Literal["first", "every"] | Sequence[int] = "first",
        step_index: Literal["none", "sinusoidal", "learned"] = "none",
        max_steps: int = 128,
        attention: AttentionOptions | None = None,
        cell: str = "gru",
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if isinstance(enters, str) and enters not in ("first", "every"):
            raise ValueError(
                t(
                    "x enters at the 'first' step, at 'every' step or at steps as [1, 7], not "
                    "{enters}",
                    enters=repr(enters),
                )
            )
        if not isinstance(enters, str) and min(enters, default=0) < 1:
            raise ValueError(
                t("the steps at which x enters are counted from 1; given {enters}", enters=enters)
            )
        self.enters = enters if isinstance(enters, str) else frozenset(enters)
        self.summary, self.dropout = summary, dropout
        size = summary.output_size
        self.embed = TokenEmbedding(vocabulary, embedding)
        self.index = make_positions(step_index, INDEX, max_steps)
        self.network = Recurrent(
            embedding + (step_index != "none") * INDEX + (enters != "first") * size,
            hidden,
            cell=cell,
            layers=layers,
            dropout=dropout,
        )
        begins: Literal["transform", "zero"] = "transform" if enters == "first" else "zero"
        self.bridge = Bridge(begins, size, hidden, layers, self.network.cells[0].states)
        self.attention = None if attention is None else past_attention(hidden, attention)
        self.readout = None if attention is None else ReadOut("tanh", (hidden, hidden), hidden)
        self.output = nn.Linear(hidden, vocabulary)

    @property
    def longest(self) -> int | None:
        """Steps that have a number."""
        return self.index.longest

    def start(self, encoded: Encoded) -> EnteringState:
        vector = self.summary(encoded)
        return EnteringState(self.bridge(encoded, vector, self.output.weight), vector)

    def step(self, tokens: Tensor, state: EnteringState, *, weights: bool = False) -> Step:
        read = self.prefill(tokens[:, None], state)
        return Step(self.project(read.outputs[:, 0]), read.state)

    def prefill(self, tokens: Tensor, state: EnteringState, *, weights: bool = False) -> Prefilled:
        inputs = self._inputs(tokens, state)
        states, cells = self.network(inputs, None, state.cells)
        new = replace(state, cells=cells, position=state.position + tokens.shape[1])
        if self.attention is None or self.readout is None:
            return Prefilled(states, new)
        ask = self.attention
        past = ask.remember(states) if state.past is None else state.past.advance(states)
        context = ask(states, past, offset=state.position).context
        return Prefilled(self.readout(states, context), replace(new, past=past))

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        return Decoded(self.prefill(inputs, self.start(encoded)).outputs)

    def project(self, outputs: Tensor) -> Tensor:
        return self.output(dropout(outputs, self.dropout, self.training))

    def _inputs(self, tokens: Tensor, state: EnteringState) -> Tensor:
        """What the steps read: tokens (N, T) -> [E y; p; e x], (N, T, …)"""
        x = without_padding(self.embed(tokens), tokens)
        parts = [dropout(x, self.dropout, self.training)]
        numbers = self.index(tokens.shape[1], state.position)  # (T, INDEX)
        if numbers is not None:
            parts.append(numbers.expand(len(tokens), -1, -1))
        if self.enters != "first":
            parts.append(self._entering(state, tokens))
        return torch.cat(parts, -1)

    def _entering(self, state: EnteringState, tokens: Tensor) -> Tensor:
        """e_t x at the steps that follow: (N, T, D)"""
        each = len(tokens) // max(len(state.vector), 1)
        vector = state.vector.repeat_interleave(each, 0)[:, None].expand(-1, tokens.shape[1], -1)
        if self.enters == "every":
            return vector
        steps = range(state.position + 1, state.position + 1 + tokens.shape[1])
        there = torch.tensor([step in self.enters for step in steps], device=tokens.device)
        return vector.masked_fill(~there[:, None], 0.0)
