"""The gradients of a model in one tensor: zeroed, summed over processes, measured and scaled at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor, nn

ALIGNED = 64  # numbers: every gradient begins at a multiple, as kernels like it


class FlatGradients:
    """`parts` are views of `whole`; a parameter has its part as its `grad` once anything was added to it."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        self.parameters = list(parameters)
        sizes = [-(-p.numel() // ALIGNED) * ALIGNED for p in self.parameters]
        starts = [0, *accumulate(sizes)]
        self.whole: Tensor = self.parameters[0].detach().new_zeros(starts[-1])
        self.parts = [
            self.whole[start : start + p.numel()].view(p.shape)
            for start, p in zip(starts, self.parameters, strict=False)
        ]

    def add(self, gradients: Sequence[Tensor | None]) -> None:
        """One for each parameter; None: it was not used, and has no gradient if it never is."""
        used = [
            (p, part, one)
            for p, part, one in zip(self.parameters, self.parts, gradients, strict=True)
            if one is not None
        ]
        for p, part, _ in used:
            p.grad = part
        torch._foreach_add_([part for _, part, _ in used], [one for *_, one in used])

    def scale_and_clip(self, scale: Tensor, clip: float | None) -> Tensor:
        """g <- scale · g · min(1, clip / |scale · g|); returns |scale · g|. Nothing is read."""
        norm = scale * torch.linalg.vector_norm(self.whole)
        if clip is not None:
            scale = scale * (clip / norm).clamp(max=1.0)
        self.whole.mul_(scale)
        return norm
