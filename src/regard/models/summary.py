"""The source in one vector, and the decoder's first state made from it.

Three ways to make the context c: the last state, a transform of it, a transform of all states.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from regard.attention import pooling
from regard.attention.call import Attended
from regard.layers.contracts import Encoded
from regard.layers.names import check_name
from regard.layers.recurrent_cells import CellState
from regard.models.encoder_decoder import first_state
from regard.words import t

KINDS = ("last", "backward", "transform", "mean", "max", "ends", "linear", "attention")


class Summary(nn.Module):
    """c = q(h_1 … h_S), (B, output_size)

    last        h_S, in both directions [forward_S; backward_1]
    backward    backward_1: the half that RNNsearch starts from
    transform   tanh(W h_S)
    mean, max   over the real states
    ends        [h_1; h_S]
    linear      W [h_1; …; h_L], learned over a window of `max_length` states
    attention   Σ α_t h_t with α = softmax(u · tanh(W h_t))
    """

    def __init__(
        self, kind: str, states_size: int, summary_size: int, *, max_length: int = 50
    ) -> None:
        super().__init__()
        check_name("context", kind, KINDS)
        self.kind, self.max_length = kind, max_length
        self.output_size = {
            "last": summary_size,
            "backward": summary_size // 2,
            "transform": summary_size,
            "ends": 2 * states_size,
        }.get(kind, states_size)
        if kind == "transform":
            self.transform = nn.Linear(summary_size, summary_size)
        if kind == "linear":
            self.window = nn.Linear(max_length * states_size, states_size)
        if kind == "attention":
            self.pool = pooling.AttentionPooling(states_size, hidden=states_size)

    def attend(self, encoded: Encoded) -> Attended | None:
        """The vector (B, 1, c) with the weights (B, 1, S) of its states, where it is made by attention."""
        if self.kind != "attention":
            return None
        pooled = self.pool(encoded.states, encoded.mask)
        return Attended(pooled.vector[:, None], pooled.weights[:, None])

    def shares(self, encoded: Encoded) -> Tensor | None:
        """How much of the vector each state is, (B, S); of a maximum, the share of features that it gave."""
        states, mask = encoded.states, encoded.mask
        match self.kind:
            case "mean":
                return pooling.mean(states, mask).weights
            case "max":
                return pooling.max(states, mask).weights.mean(-1)
            case "attention":
                return self.pool(states, mask).weights
            case _:
                return None

    def forward(self, encoded: Encoded) -> Tensor:
        states, mask = encoded.states, encoded.mask
        match self.kind:
            case "last":
                return encoded.summary
            case "backward":
                return encoded.summary.chunk(2, -1)[1]
            case "transform":
                return self.transform(encoded.summary).tanh()
            case "mean":
                return pooling.mean(states, mask).vector
            case "max":
                return pooling.max(states, mask).vector
            case "ends":
                return torch.cat([first_state(states), pooling.last(states, mask).vector], -1)
            case "linear":
                window = states.new_zeros(len(states), self.max_length, states.shape[-1])
                kept = min(self.max_length, states.shape[1])
                window[:, :kept] = states[:, :kept]
                return self.window(window.flatten(1))
            case _:
                return self.pool(states, mask).vector

    def extra_repr(self) -> str:
        return f"{self.kind!r}"


class Bridge(nn.Module):
    """The decoder's first state: zero; tanh(W_s c); or a copy of the encoder's last states.

    Every layer has its own rows of W_s; the memory cell of an LSTM starts at zero.
    """

    def __init__(
        self,
        kind: Literal["zero", "transform", "copy"],
        context_size: int,
        hidden: int,
        layers: int,
        states: int,
    ) -> None:
        super().__init__()
        self.kind, self.hidden, self.layers, self.states = kind, hidden, layers, states
        if kind == "transform":
            self.transform = nn.Linear(context_size, layers * hidden)

    def forward(
        self, encoded: Encoded, context: Tensor | None, like: Tensor
    ) -> tuple[CellState, ...]:
        """The states of every layer, each (B, hidden), of the kind of `like`."""
        if self.kind == "copy":
            sizes = {s.shape[-1] for s in encoded.final}
            if sizes != {self.hidden} or len(encoded.final) != self.layers * self.states:
                raise ValueError(
                    t(
                        "the decoder has {layers} layers of size {hidden} and copies the encoder's "
                        "last states, but there are {count} of size {sizes}",
                        layers=self.layers,
                        hidden=self.hidden,
                        count=len(encoded.final) // self.states,
                        sizes=sorted(sizes),
                    )
                )
            flat = encoded.final
            return tuple(flat[i : i + self.states] for i in range(0, len(flat), self.states))
        zero = like.new_zeros(len(encoded.mask), self.hidden)
        if self.kind == "zero" or context is None:
            tops = (zero,) * self.layers
        else:
            tops = self.transform(context).tanh().chunk(self.layers, -1)
        return tuple((top, *(zero,) * (self.states - 1)) for top in tops)

    def extra_repr(self) -> str:
        return f"{self.kind!r}"
