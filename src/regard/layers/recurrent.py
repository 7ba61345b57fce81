"""Recurrent networks over ragged batches: deep, in one or both directions, whole or step by step.

    network = Recurrent(256, 512, cell="gru", layers=2, bidirectional=True)
    outputs, final = network(inputs, mask)      # (B, T, 2 · 512); the last states of every layer

Padding stands at the end of a row and reaches nothing: outputs there are 0, the backward direction starts at
the last real step, and `final` are the states after the last real step ("last" is [forward_T; backward_1]).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from regard.attention.argument_checks import real_mask
from regard.layers.dropout import dropout
from regard.layers.recurrent_cells import GRU, LSTM, Cell, CellState, Elman, Gates, make_cell
from regard.layers.scan import flip, last_real, scan

Initial = Literal["zero", "random", "learned"]
SHUT = 1e4  # into a gate: its sigmoid is 0 or 1
_UNPACKED = ContextVar("unpacked", default=False)


class Unrolled(NamedTuple):
    outputs: Tensor  # (B, T, directions · n) of the top layer
    final: tuple[CellState, ...]  # of every layer: (h,) or (h, c), each (B, directions · n)


class CellStep(NamedTuple):
    """What a cell did at one position."""

    state: CellState  # after it
    gates: Gates


class Recurrent(nn.Module):
    """h_t = cell(x_t, h_(t-1)), `layers` high; dropout between the layers.

    initial: the first state is zero, drawn from N(0, `spread`²) in training (zero in evaluation), or learned.
    """

    def __init__(
        self,
        input_size: int,
        hidden: int,
        *,
        cell: str = "gru",
        layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        initial: Initial = "zero",
        spread: float = 0.1,
    ) -> None:
        super().__init__()
        directions = 2 if bidirectional else 1
        self.hidden, self.directions, self.dropout = hidden, directions, dropout
        self.initial, self.spread = initial, spread
        self.output_size = hidden * directions
        sizes = [input_size] + [self.output_size] * (layers - 1)
        self.forwards = nn.ModuleList(make_cell(cell, size, hidden) for size in sizes)
        self.backwards = nn.ModuleList(
            make_cell(cell, size, hidden) for size in sizes[: layers * (directions - 1)]
        )
        if initial == "learned":
            states = self.cells[0].states
            self.first = nn.Parameter(torch.zeros(layers, states, directions, hidden))

    @property
    def cells(self) -> list[Cell]:
        """Of the forward direction, from the input up."""
        return [cell for cell in self.forwards if isinstance(cell, Cell)]

    def start(self, batch: int) -> tuple[CellState, ...]:
        """The first states of every layer, each (B, directions · n)."""
        if self.initial == "learned":
            first = self.first.flatten(-2)  # (layers, states, directions · n)
            return tuple(tuple(s.expand(batch, -1) for s in layer) for layer in first)
        shape = (len(self.forwards), self.cells[0].states, batch, self.output_size)
        first = self.cells[0].weight_hh.new_zeros(shape)
        if self.initial == "random" and self.training:
            first = first.normal_(std=self.spread)
        return tuple(tuple(layer) for layer in first)

    def step(self, x: Tensor, state: tuple[CellState, ...]) -> tuple[Tensor, tuple[CellState, ...]]:
        """One step of a network in one direction: x (B, D) -> (B, n), and the new states of all layers."""
        new: list[CellState] = []
        for cell, old in zip(self.cells, state, strict=True):
            after, _ = cell.step(cell.project(self._drop(x) if new else x), old)
            new.append(after)
            x = after[0]
        return x, tuple(new)

    @torch.no_grad()
    def steps(
        self, inputs: Tensor, state: tuple[CellState, ...] | None = None
    ) -> list[list[CellStep]]:
        """What every cell did at each position of inputs (B, T, D): by layer, forwards and then backwards."""
        state = self.start(inputs.shape[0]) if state is None else state
        seen: list[list[CellStep]] = []
        for layer, first in enumerate(state):
            outputs = []
            both = (*self.forwards[layer : layer + 1], *self.backwards[layer : layer + 1])
            for number, cell in enumerate(both):
                assert isinstance(cell, Cell)
                now, steps = tuple(s.chunk(len(both), -1)[number] for s in first), []
                projected = cell.project(inputs).unbind(1)
                for each in reversed(projected) if number else projected:
                    now, gates = cell.step(each, now)
                    steps.append(CellStep(now, gates))
                seen.append(steps[::-1] if number else steps)
                outputs.append(torch.stack([step.state[0] for step in seen[-1]], 1))
            inputs = torch.cat(outputs, -1)
        return seen

    def forward(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        state: tuple[CellState, ...] | None = None,
        *,
        lengths: Tensor | None = None,
    ) -> Unrolled:
        """inputs (B, T, D), mask (B, T) True where a step is real, or lengths (B,)

        -> outputs (B, T, directions · n)
        """
        mask = real_mask(mask, lengths, inputs.shape[:1], inputs.shape[1], inputs.device)
        lengths = None if mask is None else mask.sum(-1).clamp(min=1)
        state = self.start(inputs.shape[0]) if state is None else state
        if 0 in inputs.shape[:2]:  # no text, or only texts without steps
            return Unrolled(inputs.new_zeros(*inputs.shape[:2], self.output_size), state)
        if mask is not None:  # 0 · NaN would be NaN in the gradients
            inputs = inputs.masked_fill(~mask[..., None], 0.0)
        final = []
        for layer, first in enumerate(state):
            inputs = self._drop(inputs) if layer else inputs
            inputs, last = self._layer(layer, inputs, lengths, first)
            final.append(last)
        if mask is not None:
            inputs = inputs.masked_fill(~mask[..., None], 0.0)
        return Unrolled(inputs, tuple(final))

    def _layer(
        self, layer: int, inputs: Tensor, lengths: Tensor | None, first: CellState
    ) -> tuple[Tensor, CellState]:
        both = (*self.forwards[layer : layer + 1], *self.backwards[layer : layer + 1])
        cells = [cell for cell in both if isinstance(cell, Cell)]
        run = _by_torch if isinstance(cells[0], (Elman, LSTM, GRU)) else _by_scan
        return run(cells, inputs, lengths, first, self.training)

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)

    def extra_repr(self) -> str:
        return f"directions={self.directions}, dropout={self.dropout}, initial={self.initial!r}"


def _by_scan(
    cells: list[Cell], inputs: Tensor, lengths: Tensor | None, first: CellState, training: bool
) -> tuple[Tensor, CellState]:
    """Step by step in Python: what any cell can do."""
    firsts = [tuple(s.chunk(len(cells), -1)[i] for s in first) for i in range(len(cells))]
    ahead = scan(cells[0], inputs, firsts[0])
    final = [last_real(s, lengths) for s in ahead]
    if len(cells) == 1:
        return ahead[0], tuple(final)
    back = scan(cells[1], flip(inputs, lengths), firsts[1])
    final = [torch.cat([f, last_real(s, lengths)], -1) for f, s in zip(final, back, strict=True)]
    return torch.cat([ahead[0], flip(back[0], lengths)], -1), tuple(final)


def _by_torch(
    cells: list[Cell], inputs: Tensor, lengths: Tensor | None, first: CellState, training: bool
) -> tuple[Tensor, CellState]:
    """The same by torch's own kernels (cuDNN on a GPU), for the cells that they know."""
    if lengths is not None and _UNPACKED.get():
        return _unpacked(cells, inputs, lengths, first, training)
    states = [torch.stack(s.chunk(len(cells), -1)) for s in first]  # (directions, B, n)
    weights, kernel, how = _kernel(cells, training)
    given: Any = states if isinstance(cells[0], LSTM) else states[0]
    if lengths is None:
        with _copied_weights():
            outputs, *final = kernel(inputs, given, weights, *how, True)
    else:
        packed = pack_padded_sequence(inputs, lengths.cpu(), True, enforce_sorted=False)
        order = packed.sorted_indices
        assert order is not None
        given = [s.index_select(1, order) for s in states]
        given = given if isinstance(cells[0], LSTM) else given[0]
        data, *final = kernel(packed.data, packed.batch_sizes, given, weights, *how)
        outputs, _ = pad_packed_sequence(
            PackedSequence(data, packed.batch_sizes, order, packed.unsorted_indices),
            batch_first=True,
            total_length=inputs.shape[1],
        )
        final = [s.index_select(1, order.argsort()) for s in final]
    return outputs, tuple(torch.cat(s.unbind(0), -1) for s in final)


@contextmanager
def unpacked() -> Iterator[None]:
    """Ragged batches are not packed meanwhile: nobody has to know their lengths."""
    before = _UNPACKED.set(True)
    try:
        yield
    finally:
        _UNPACKED.reset(before)


def _unpacked(
    cells: list[Cell], inputs: Tensor, lengths: Tensor, first: CellState, training: bool
) -> tuple[Tensor, CellState]:
    """Without packing, which has to know the lengths: each direction by itself.

    Padding comes after all that is real, in both directions, so that outputs do not know of it. An LSTM
    keeps its memory through it: a feature that is 1 there closes the input gate and opens the forget gate.
    """
    firsts = [tuple(s.chunk(len(cells), -1)[i] for s in first) for i in range(len(cells))]
    padding = torch.arange(inputs.shape[1], device=inputs.device) >= lengths[:, None]
    outputs, final = [], []
    for cell, start, backwards in zip(cells, firsts, (False, True), strict=False):
        x = flip(inputs, lengths) if backwards else inputs
        weights, kernel, how = _kernel([cell], training)
        given: Any = start[0][None]
        if isinstance(cell, LSTM):
            given = [s[None] for s in start]
            x = torch.cat([x, padding[..., None].to(x.dtype)], -1)
            weights[0] = torch.cat([weights[0], _keeping(cell)], -1)
        with _copied_weights():
            states, *ends = kernel(x, given, weights, *how, True)
        ends = [last_real(states, lengths), *(s[0] for s in ends[1:])]
        outputs.append(flip(states, lengths) if backwards else states)
        final.append(ends)
    return torch.cat(outputs, -1), tuple(torch.cat(s, -1) for s in zip(*final, strict=True))


def _keeping(cell: LSTM) -> Tensor:
    """The weights (4n, 1) of a feature that shuts the input gate and holds the forget gate open."""
    column = cell.weight_ih.new_zeros(4, cell.hidden, 1)
    column[0].fill_(-SHUT)
    column[1].fill_(SHUT)
    return column.flatten(0, 1)


def _kernel(cells: list[Cell], training: bool) -> tuple[list[Tensor], Any, tuple[Any, ...]]:
    """The weights of a layer, torch's kernel for it, and its arguments up to where the batch stands."""
    weights: list[Tensor] = [
        w for c in cells for w in (c.weight_ih, c.weight_hh, c.bias_ih, c.bias_hh)
    ]
    kernel: Any = {Elman: torch.rnn_tanh, LSTM: torch.lstm, GRU: torch.gru}[type(cells[0])]
    return weights, kernel, (True, 1, 0.0, training, len(cells) == 2)


@contextmanager
def _copied_weights() -> Iterator[None]:
    """cuDNN warns that it copies weights which are not in one block of memory."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "RNN module weights are not part of single")
        yield
