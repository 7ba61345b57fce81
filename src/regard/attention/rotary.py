"""Positions as rotations of queries and keys: their dot product then depends on the distance alone."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.words import t

KEPT = 1024  # positions whose cosines and sines are not computed again each time
TABLES = 16  # of such positions, for different sizes, types and devices
_TURNS: dict[tuple[float, int, torch.dtype, torch.device], tuple[Tensor, Tensor]] = {}


class Rotary:
    """(x_i, x_(i + D/2)) is turned by the angle t · base^(-2i / D) at position t

    — Su et al. 2021, https://arxiv.org/abs/2104.09864, with the halves paired as Llama does.
    R_s q · R_t k = q · R_(t-s) k for every dot-like score, at any position: nothing is learned.
    """

    def __init__(self, base: float = 10_000.0) -> None:
        if not base > 0:
            raise ValueError(
                t("the base of rotary positions must be above 0, not {base}", base=base)
            )
        self.base = base

    def turn(self, x: Tensor, start: int) -> Tensor:
        """x (..., L, D), the first of the L at position `start`."""
        length, size = x.shape[-2:]
        if size % 2:
            raise ValueError(
                t("rotary positions pair up features: {size} in a head is odd", size=size)
            )
        cosine, sine = self._turns(length, start, x)
        first, second = x.chunk(2, -1)
        return x * cosine + torch.cat([second, first], -1) * sine

    def _turns(self, length: int, start: int, x: Tensor) -> tuple[Tensor, Tensor]:
        """(L, D) each: cosines, twice, and sines, the first half negative; near ones are computed once."""
        place = self.base, x.shape[-1], x.dtype, x.device
        if start + length > KEPT or torch.compiler.is_compiling():
            return self._computed(length, start, *place[1:])
        if place not in _TURNS:
            with torch.inference_mode(False):  # what is made in it could not be used in training
                made = self._computed(KEPT, 0, *place[1:])
            # not where the numbers come later: in a trace, or while a graph is recorded
            if type(made[0]) is not Tensor or _is_recording(x.device):
                return made[0][start : start + length], made[1][start : start + length]
            while len(_TURNS) >= TABLES:
                _TURNS.pop(next(iter(_TURNS)), None)
            _TURNS[place] = made
        cosine, sine = _TURNS[place]
        return cosine[start : start + length], sine[start : start + length]

    def _computed(
        self, length: int, start: int, size: int, dtype: torch.dtype, device: torch.device
    ) -> tuple[Tensor, Tensor]:
        angle = self.angles(length, start, size, device)
        cosine, sine = angle.cos().to(dtype), angle.sin().to(dtype)
        return torch.cat([cosine, cosine], -1), torch.cat([-sine, sine], -1)

    def angles(self, length: int, start: int, size: int, device: torch.device) -> Tensor:
        """(L, D/2) in float32: half precision cannot tell far positions apart."""
        pair = torch.arange(0, size, 2, device=device, dtype=torch.float32)
        at = torch.arange(start, start + length, device=device, dtype=torch.float32)
        return at[:, None] * self.base ** (-pair / size)

    def __repr__(self) -> str:
        return f"Rotary(base={self.base:g})"


def _is_recording(device: torch.device) -> bool:
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()
