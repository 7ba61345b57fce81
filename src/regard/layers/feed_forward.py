"""The position-wise network of a Transformer block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.dropout import dropout
from regard.layers.names import check_name

Activation = Literal["relu", "gelu", "silu", "swiglu"]

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": lambda x: F.relu(x, inplace=not x.requires_grad),
    "gelu": F.gelu,
    "silu": F.silu,
}


class FeedForward(nn.Module):
    """W_2 f(W_1 x + b_1) + b_2,  f = relu, gelu or silu — Vaswani et al. 2017
    W_2 (silu(W_1 x) ⊙ W_3 x)  for swiglu — Shazeer 2020, https://arxiv.org/abs/2002.05202

    W_1 and W_3 are the halves of `inner`. The paper has no dropout inside; `dropout` puts it after f.
    """

    def __init__(
        self, size: int, inner: int, *, activation: Activation = "relu", dropout: float = 0.0
    ) -> None:
        super().__init__()
        check_name("activation", activation, get_args(Activation))
        self.activation, self.dropout = activation, dropout
        self.gated = activation == "swiglu"
        self.inner = nn.Linear(size, 2 * inner if self.gated else inner)
        self.outer = nn.Linear(inner, size)

    def forward(self, x: Tensor) -> Tensor:
        x = self.inner(x)
        if self.gated:
            gate, x = x.chunk(2, -1)
            x = F.silu(gate) * x
        else:
            x = FUNCTIONS[self.activation](x)
        return self.outer(dropout(x, self.dropout, self.training))

    def extra_repr(self) -> str:
        return f"{self.activation}, dropout={self.dropout}"
