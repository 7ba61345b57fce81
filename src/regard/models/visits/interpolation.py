"""Something learnt for a few numbers, and linear between them."""

from __future__ import annotations

import torch
from torch import Tensor


def interpolation(numbers: Tensor, edges: Tensor) -> Tensor:
    """(..., E): how much the edges e_1 < … < e_E count; two of them, L ≤ x ≤ U, at most:

        (U - x) / (U - L) of L,  (x - L) / (U - L) of U;  beyond the ends, all of the end

    so that Σ_e share_e M_e = [M_L (U - x) + M_U (x - L)] / (U - L).

    >>> interpolation(torch.tensor([0.0, 1.5, 9.0]), torch.tensor([0.0, 1.0, 3.0]))
    tensor([[1.0000, 0.0000, 0.0000],
            [0.0000, 0.7500, 0.2500],
            [0.0000, 0.0000, 1.0000]])
    """
    widths = edges.diff()
    passed = (
        ((numbers[..., None] - edges[:-1]) / widths).clamp(0.0, 1.0).sum(-1)
    )  # edges, and a share
    places = torch.arange(len(edges), device=numbers.device)
    return (1.0 - (passed[..., None] - places).abs()).clamp(min=0.0)
