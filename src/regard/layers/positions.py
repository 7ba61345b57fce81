"""Where a token stands: a vector for every position, added to its embedding.

    learned             a row of a table; there is none beyond `max_length`
    sinusoidal          sines and cosines in turn; goes on for ever
    sinusoidal-halves   all the sines, then all the cosines, as Marian has them
    rotary              nothing is added: attention turns its queries and keys (attention/rotary.py)
    none                nothing is added: the order of the tokens is not known (but to regions)

Legend: L positions, D features.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from regard.layers.names import check_name
from regard.words import t

Kind = Literal["learned", "sinusoidal", "sinusoidal-halves", "rotary", "none"]
KEPT = 1024  # positions whose sines are not computed again each time


class TooLong(ValueError):
    """A sequence is longer than the positions that a model has learned. `status`: the user's mistake."""

    status = 2
    hint = "give a shorter text, cut into sentences"


class Learned(nn.Module):
    """P[t], one row for each of the first `max_length` positions."""

    def __init__(self, size: int, max_length: int) -> None:
        super().__init__()
        self.table = nn.Embedding(max_length, size)

    @property
    def longest(self) -> int:
        return self.table.num_embeddings

    def forward(self, length: int, start: int = 0) -> Tensor:
        """(L, size), from position `start` on."""
        if start + length > self.longest:
            raise TooLong(
                t(
                    "a sequence of {start} tokens (its end counted) is longer than the {longest} "
                    "positions that this model has learnt: shorten it, or train with a larger "
                    "max_positions or with positions sinusoidal or rotary, which have no end",
                    start=start + length,
                    longest=self.longest,
                )
            )
        return self.table.weight[start : start + length]


class Sinusoidal(nn.Module):
    """P[t, 2i] = sin(t / 10000^(2i / D)), P[t, 2i + 1] = cos(t / 10000^(2i / D))

    — Vaswani et al. 2017. `halves`: all the sines first, then all the cosines, as Marian has them.
    """

    longest = None  # no position is too far
    _kept: Tensor

    def __init__(self, size: int, *, halves: bool = False) -> None:
        super().__init__()
        if size % 2:
            raise ValueError(t("sinusoidal positions need an even size, not {size}", size=size))
        self.size, self.halves = size, halves
        kept = self._compute(KEPT, 0, torch.get_default_device())
        self.register_buffer("_kept", kept, persistent=False)

    def forward(self, length: int, start: int = 0) -> Tensor:
        """(L, size), from position `start` on."""
        if start + length <= KEPT:
            return self._kept[start : start + length]
        return self._compute(length, start, self._kept.device).to(self._kept.dtype)

    def _compute(self, length: int, start: int, device: torch.device) -> Tensor:
        even = torch.arange(0, self.size, 2, device=device, dtype=torch.float64)
        at = torch.arange(start, start + length, device=device, dtype=torch.float64)
        angle = at[:, None] / 10_000 ** (even / self.size)
        parts = [angle.sin(), angle.cos()]
        table = torch.cat(parts, -1) if self.halves else torch.stack(parts, -1).flatten(-2)
        return table.to(torch.get_default_dtype())


class Nowhere(nn.Module):
    """Nothing is added."""

    longest = None

    def forward(self, length: int, start: int = 0) -> None:
        return None


Positions = Learned | Sinusoidal | Nowhere


def make_positions(kind: Kind, size: int, max_length: int) -> Positions:
    """What is added to embeddings of this size; `max_length` is for learned ones."""
    check_name("kind of positions", kind, get_args(Kind))
    if kind == "learned":
        return Learned(size, max_length)
    if kind in ("rotary", "none"):
        return Nowhere()
    return Sinusoidal(size, halves=kind == "sinusoidal-halves")
