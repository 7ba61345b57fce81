"""Positions as rotations of queries and keys: their dot product then depends on the distance alone."""

from __future__ import annotations

import torch
from torch import Tensor


class Rotary:
    """(x_i, x_(i + D/2)) is turned by the angle t · base^(-2i / D) at position t

    — Su et al. 2021, https://arxiv.org/abs/2104.09864, with the halves paired as Llama does.
    R_s q · R_t k = q · R_(t-s) k for every dot-like score, at any position: nothing is learned or stored.
    """

    def __init__(self, base: float = 10_000.0) -> None:
        if not base > 0:
            raise ValueError(f"the base of rotary positions must be above 0, not {base}")
        self.base = base

    def turn(self, x: Tensor, start: int) -> Tensor:
        """x (..., L, D), the first of the L at position `start`."""
        length, size = x.shape[-2:]
        if size % 2:
            raise ValueError(f"rotary positions pair up features: {size} in a head is odd")
        angle = self.angles(length, start, size, x.device)
        cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        first, second = x.chunk(2, -1)
        return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)

    def angles(self, length: int, start: int, size: int, device: torch.device) -> Tensor:
        """(L, D/2) in float32: half precision cannot tell far positions apart."""
        pair = torch.arange(0, size, 2, device=device, dtype=torch.float32)
        at = torch.arange(start, start + length, device=device, dtype=torch.float32)
        return at[:, None] * self.base ** (-pair / size)

    def __repr__(self) -> str:
        return f"Rotary(base={self.base:g})"
