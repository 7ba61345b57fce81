"""Recurrent cells: one transition h_t = f(x_t, h_(t-1)), in two parts.

    projected = cell.project(inputs)                  # (B, T, D) -> (B, T, gates · n), all steps at once
    state, gates = cell.step(projected[:, t], state)  # what depends on the state

A state is (h,), of an LSTM (h, c), each (B, n). `gates` are named tensors (B, n), for those who look.
Weights are stacked and named as in torch, so that they can be copied from and to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.names import check_name

CellState = tuple[Tensor, ...]
Gates = dict[str, Tensor]
Linear = Callable[[Tensor, Tensor, Tensor | None], Tensor]


class Cell(nn.Module):
    """What the cells have in common: their weights, stacked by gate."""

    stacked: ClassVar[int]  # how many n-wide parts the projections have
    states: ClassVar[int] = 1

    def __init__(self, input_size: int, hidden: int) -> None:
        super().__init__()
        self.input_size, self.hidden = input_size, hidden
        rows = self.stacked * hidden
        self.weight_ih = nn.Parameter(torch.empty(rows, input_size))
        self.weight_hh = nn.Parameter(torch.empty(rows, hidden))
        self.bias_ih = nn.Parameter(torch.empty(rows))
        self.bias_hh = nn.Parameter(torch.empty(rows))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -1 / math.sqrt(self.hidden), 1 / math.sqrt(self.hidden))

    def project(self, inputs: Tensor) -> Tensor:
        """W x + b, for inputs (..., D)"""
        return F.linear(inputs, self.weight_ih, self.bias_ih)

    def start(self, batch: int) -> CellState:
        return tuple(self.weight_hh.new_zeros(batch, self.hidden) for _ in range(self.states))

    def step(
        self, projected: Tensor, state: CellState, linear: Linear = F.linear
    ) -> tuple[CellState, Gates]:
        """projected (B, gates · n) of this step. `linear` multiplies by the recurrent weights."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden}"


class Elman(Cell):
    """h_t = tanh(W x_t + U h_(t-1) + b)      — Elman 1990"""

    stacked = 1

    def step(
        self, projected: Tensor, state: CellState, linear: Linear = F.linear
    ) -> tuple[CellState, Gates]:
        h = torch.tanh(projected + linear(state[0], self.weight_hh, self.bias_hh))
        return (h,), {}


class LSTM(Cell):
    """c_t = f · c_(t-1) + i · g,  h_t = o · tanh(c_t);  i, f, o = σ(W x + U h + b), g = tanh(·)

    — Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000; as torch.nn.LSTM
    """

    stacked = 4
    states = 2

    def step(
        self, projected: Tensor, state: CellState, linear: Linear = F.linear
    ) -> tuple[CellState, Gates]:
        h, c = state
        i, f, g, o = (projected + linear(h, self.weight_hh, self.bias_hh)).chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = torch.addcmul(f * c, i, g)
        return (o * c.tanh(), c), {"input": i, "forget": f, "candidate": g, "output": o}


class GRU(Cell):
    """n = tanh(W x + b + r · (U h_(t-1) + b')),  h_t = (1 - z) · n + z · h_(t-1)

    The reset gate acts after the recurrent matrix: torch.nn.GRU and cuDNN. `inner_size`: a second
    input, C c, that the reset gate acts on too, as in the decoder of Cho et al. 2014.
    """

    stacked = 3

    def __init__(self, input_size: int, hidden: int, *, inner_size: int = 0) -> None:
        self.inner_size = inner_size
        super().__init__(input_size, hidden)
        if inner_size:
            self.weight_ch = nn.Parameter(torch.empty(self.stacked * hidden, inner_size))
            self.reset_parameters()

    def project_inner(self, context: Tensor) -> Tensor:
        """C c + b', to be given to `step`."""
        return F.linear(context, self.weight_ch, self.bias_hh)

    def step(
        self,
        projected: Tensor,
        state: CellState,
        linear: Linear = F.linear,
        inner: Tensor | None = None,
    ) -> tuple[CellState, Gates]:
        (h,) = state
        n = self.hidden
        recurrent = linear(h, self.weight_hh, self.bias_hh if inner is None else None)
        recurrent = recurrent if inner is None else recurrent + inner
        gates_x, candidate_x = projected.split((2 * n, n), -1)
        gates_h, candidate_h = recurrent.split((2 * n, n), -1)
        r, z = (gates_x + gates_h).sigmoid().chunk(2, -1)
        candidate = torch.addcmul(candidate_x, r, candidate_h).tanh()
        return (_between(candidate, h, z),), {"reset": r, "update": z, "candidate": candidate}


class ResetBeforeGRU(Cell):
    """n = tanh(W x + U (r · h_(t-1)) + b),  h_t = (1 - z) · h_(t-1) + z · n

    The reset gate acts before the recurrent matrix, and the update gate is the mirror image of
    torch's — Cho et al. 2014, https://arxiv.org/abs/1406.1078; Bahdanau et al. 2015. There is one
    bias, b.
    """

    stacked = 3

    def __init__(self, input_size: int, hidden: int) -> None:
        super().__init__(input_size, hidden)
        self.weight_hh = nn.Parameter(self.weight_hh[: 2 * hidden].detach().clone())  # of the gates
        self.weight_hn = nn.Parameter(torch.empty(hidden, hidden))  # of the candidate
        self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def step(
        self, projected: Tensor, state: CellState, linear: Linear = F.linear
    ) -> tuple[CellState, Gates]:
        (h,) = state
        n = self.hidden
        gates_x, candidate_x = projected.split((2 * n, n), -1)
        r, z = (gates_x + linear(h, self.weight_hh, None)).sigmoid().chunk(2, -1)
        candidate = (candidate_x + linear(r * h, self.weight_hn, None)).tanh()
        return (_between(h, candidate, z),), {"reset": r, "update": z, "candidate": candidate}


def _between(start: Tensor, end: Tensor, share: Tensor) -> Tensor:
    """start + share · (end − start): in the widest of their precisions, which autocast may let differ."""
    if start.dtype == end.dtype == share.dtype:
        return torch.lerp(start, end, share)
    return torch.addcmul(start, share, end - start)


CELLS: dict[str, type[Cell]] = {
    "elman": Elman,
    "lstm": LSTM,
    "gru": GRU,
    "gru-reset-before": ResetBeforeGRU,
}


def make_cell(name: str, input_size: int, hidden: int) -> Cell:
    """The cell of that name: elman, lstm, gru (as in torch) or gru-reset-before (as in RNNsearch)."""
    check_name("cell", name, CELLS)
    return CELLS[name](input_size, hidden)
