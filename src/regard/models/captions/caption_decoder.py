"""The decoder of Show, Attend and Tell — Xu et al. 2015, https://arxiv.org/abs/1502.03044

Legend: B pictures, N hypotheses (N = B · k), T words, L annotation vectors of size D, E embedding, n hidden.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.module import Attention
from regard.attention.normalizers import HardChoice
from regard.layers.attend_per_sentence import attend_per_sentence
from regard.layers.contracts import Decoded, Encoded, Prefilled, Step
from regard.layers.dropout import dropout
from regard.layers.embedding import TokenEmbedding, without_padding
from regard.layers.recurrent_cells import LSTM, CellState, Linear
from regard.layers.scan import SharedLinear


@dataclass(frozen=True)
class PromptedPicture(Encoded):
    """A picture, and words that are read before its caption: a question."""

    prompt: Tensor | None = None  # (B, P)
    prompt_mask: Tensor | None = None  # (B, P): True where a word is real

    def select(self, sentences: Tensor) -> PromptedPicture:
        chosen = super().select(sentences)
        assert isinstance(chosen, PromptedPicture)
        parts = (self.prompt, self.prompt_mask)
        prompt, mask = (None if x is None else x.index_select(0, sentences) for x in parts)
        return replace(chosen, prompt=prompt, prompt_mask=mask)


@dataclass(frozen=True)
class CaptionState:
    """What the next step needs; the annotation vectors are kept once for all hypotheses of a picture."""

    cell: CellState  # h and c, (N, n)
    memory: Memory | None  # B pictures
    position: int = 0

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> CaptionState:
        memory = self.memory
        if sentences is not None and memory is not None:
            memory = memory.select(sentences)
        h, c = (part.index_select(0, rows) for part in self.cell)
        return replace(self, cell=(h, c), memory=memory)


class CaptionDecoder(nn.Module):
    """p(y_t | y_<t, a) = softmax(L_o tanh(E y_(t-1) + L_h h_t + L_z z_t))

    h_t, c_t = LSTM([E y_(t-1); z_t], h_(t-1), c_(t-1)),  h_0 = tanh(f_h(mean a)),  c_0 = tanh(f_c(mean a))
    z_t = β_t Σ_i α_ti a_i,  α_t = attention(h_(t-1), a),  β_t = σ(w · h_(t-1) + b)

    attention: asked by a state (hidden) about annotation vectors (size); None: what is known of a picture is
    h_0 and c_0. gate: whether there is a β, which says how much a word depends on the picture.
    A prompt is read before the first word, by the same LSTM, with z = 0: nothing is looked at meanwhile.
    """

    def __init__(
        self,
        vocabulary: int,
        size: int,
        embedding: int,
        hidden: int,
        *,
        attention: Attention | None,
        gate: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.attention, self.dropout = attention, dropout
        seen = 0 if attention is None else attention.value_size
        self.embed = TokenEmbedding(vocabulary, embedding)
        self.first = nn.Linear(size, 2 * hidden)  # f_h and f_c
        self.cell = LSTM(embedding + seen, hidden)
        self.gate = nn.Linear(hidden, 1) if gate and attention is not None else None
        self.from_state = nn.Linear(hidden, embedding)  # L_h
        self.from_seen = None if attention is None else nn.Linear(seen, embedding, bias=False)
        self.output = nn.Linear(embedding, vocabulary)  # L_o

    def start(self, encoded: Encoded) -> CaptionState:
        h, c = self.first(encoded.summary).tanh().chunk(2, -1)
        attention = self.attention
        memory = None if attention is None else attention.remember(encoded.states, encoded.mask)
        if isinstance(encoded, PromptedPicture) and encoded.prompt is not None:
            h, c = self._asked((h, c), encoded.prompt, encoded.prompt_mask)
        return CaptionState((h, c), memory)

    def step(self, tokens: Tensor, state: CaptionState, *, weights: bool = False) -> Step:
        x = self.embed(tokens)  # (N, E)
        state, attended = self._advance(self._known(x), state, weights, F.linear)
        out = self._read(x, state.cell[0], attended)
        return Step(self.project(out), state, attended)

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        read = self.prefill(inputs, self.start(encoded), weights=weights)
        return Decoded(read.outputs, read.attended)

    def prefill(self, tokens: Tensor, state: CaptionState, *, weights: bool = False) -> Prefilled:
        x = without_padding(self.embed(tokens), tokens)  # (B, T, E)
        linear, states, seen = SharedLinear(), [], []
        for known in self._known(x).unbind(1):
            state, attended = self._advance(known, state, weights, linear)
            states.append(state.cell[0])
            seen.append(attended)
        found = _stacked([one for one in seen if one is not None])
        return Prefilled(self._read(x, torch.stack(states, 1), found), state, found)

    def project(self, outputs: Tensor) -> Tensor:
        return self.output(dropout(outputs, self.dropout, self.training))

    def _known(self, x: Tensor) -> Tensor:
        """What the cell reads of the words, projected: (..., E) -> (..., 4 n)"""
        return F.linear(x, self.cell.weight_ih[:, : x.shape[-1]], self.cell.bias_ih)

    def _advance(
        self, known: Tensor, state: CaptionState, weights: bool, linear: Linear
    ) -> tuple[CaptionState, Attended | None]:
        """One step of the cell; what was attended to, with z as its context."""
        attended = None
        if self.attention is not None and state.memory is not None:
            h = state.cell[0]
            attended = _squeezed(
                attend_per_sentence(
                    self.attention,
                    h[:, None],
                    state.memory,
                    position=state.position,
                    weights=weights,
                )
            )
            if self.gate is not None:
                beta = linear(h, self.gate.weight, self.gate.bias).sigmoid()
                attended = attended._replace(context=beta * attended.context)
            width = self.cell.weight_ih.shape[1] - attended.context.shape[-1]
            known = known + linear(attended.context, self.cell.weight_ih[:, width:], None)
        cell, _ = self.cell.step(known, state.cell, linear)
        return replace(state, cell=cell, position=state.position + 1), attended

    def _asked(self, cell: CellState, prompt: Tensor, mask: Tensor | None) -> CellState:
        """The state after the words of a prompt; padding leaves it as it is."""
        known = self._known(without_padding(self.embed(prompt), prompt))  # (B, P, 4 n)
        real = torch.ones_like(prompt, dtype=torch.bool) if mask is None else mask
        linear = SharedLinear()
        for word, there in zip(known.unbind(1), real.unbind(1), strict=True):
            after, _ = self.cell.step(word, cell, linear)
            h, c = (torch.where(there[:, None], a, b) for a, b in zip(after, cell, strict=True))
            cell = (h, c)
        return cell

    def _read(self, x: Tensor, h: Tensor, attended: Attended | None) -> Tensor:
        out = x + self.from_state(h)
        if self.from_seen is not None and attended is not None:
            out = out + self.from_seen(attended.context)
        return out.tanh()


def _squeezed(attended: Attended) -> Attended:
    """(N, 1, ...) -> (N, ...)"""
    context, weights, choice = attended
    return Attended(
        context.squeeze(1),
        None if weights is None else weights.squeeze(1),
        None if choice is None else HardChoice(*(part.squeeze(1) for part in choice)),
    )


def _stacked(steps: list[Attended]) -> Attended | None:
    """Of every step (B, ...) -> (B, T, ...)"""
    if not steps:
        return None
    contexts, weights, choices = zip(*steps, strict=True)
    return Attended(
        torch.stack(contexts, 1),
        None if weights[0] is None else torch.stack(weights, 1),
        None
        if choices[0] is None
        else HardChoice(*(torch.stack(part, 1) for part in zip(*choices, strict=True))),
    )
