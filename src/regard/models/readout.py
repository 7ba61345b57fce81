"""The vector of a step whose products with the output embeddings are the logits."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.recurrent_cells import Linear

Kind = Literal["maxout", "tanh", "linear", "state"]


class ReadOut(nn.Module):
    """t = g(W [s; E y; c]) of the parts given, each (..., size)

    maxout   t_j = max(t~_2j, t~_(2j+1)), t~ of size 2 · output_size    (Cho et al. 2014; RNNsearch)
    tanh     Luong's attentional state h~, with parts [c; h]
    linear   no g
    state    the state itself
    """

    def __init__(
        self, kind: Kind, sizes: tuple[int, ...], output_size: int, *, bias: bool = True
    ) -> None:
        super().__init__()
        self.kind = kind
        self.output_size = sizes[0] if kind == "state" else output_size
        if kind != "state":
            rows = 2 * output_size if kind == "maxout" else output_size
            self.mix = nn.Linear(sum(sizes), rows, bias=bias)

    def forward(self, *parts: Tensor, linear: Linear = F.linear) -> Tensor:
        if self.kind == "state":
            return parts[0]
        mixed = linear(torch.cat(parts, -1), self.mix.weight, self.mix.bias)
        if self.kind == "maxout":
            even, odd = mixed.unflatten(-1, (-1, 2)).unbind(-1)
            return torch.maximum(even, odd)
        return mixed.tanh() if self.kind == "tanh" else mixed

    def extra_repr(self) -> str:
        return f"{self.kind!r}"
