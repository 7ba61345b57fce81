"""Something learnt for a few numbers, and linear between them."""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def interpolation(numbers: Tensor, edges: Tensor) -> Tensor:
    """(..., E): how much the edges e_1 < … < e_E count; two of them, L ≤ x ≤ U, at most:

        (U - x) / (U - L) of L,  (x - L) / (U - L) of U;  beyond the ends, all of the end

    so that Σ_e share_e M_e = [M_L (U - x) + M_U (x - L)] / (U - L). Numbers and edges have no gradients.

    >>> interpolation(torch.tensor([0.0, 1.5, 9.0]), torch.tensor([0.0, 1.0, 3.0]))
    tensor([[1.0000, 0.0000, 0.0000],
            [0.0000, 0.7500, 0.2500],
            [0.0000, 0.0000, 1.0000]])
    """
    inside = numbers.clamp(edges[0], edges[-1]).contiguous()
    lower = torch.bucketize(inside, edges, right=True).sub_(1).clamp_(max=len(edges) - 2)
    passed = inside.sub_(edges[lower]).div_(edges.diff()[lower]).add_(lower)  # edges, and a share
    places = torch.arange(len(edges), device=numbers.device, dtype=numbers.dtype)
    return (passed[..., None] - places).abs_().neg_().add_(1.0).clamp_(min=0.0)
