"""Averages of weights: moving over the updates, or over the best checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

Weights = dict[str, Tensor]


class MovingWeights:
    """m <- d · m + (1 - d) · w after update t, with d = min(decay, (1 + t) / (10 + t))

    The decay rises to its value, or the first weights would be remembered for long.
    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.parameters: list[Tensor] = list(module.parameters())
        self.decay = decay
        self.means = [p.detach().clone() for p in self.parameters]

    @torch.no_grad()
    def follow(self, update: int) -> None:
        decay = min(self.decay, (1 + update) / (10 + update))
        torch._foreach_lerp_(self.means, self.parameters, 1 - decay)

    @torch.no_grad()
    def load(self, means: Sequence[Tensor]) -> None:
        torch._foreach_copy_(
            self.means, [m.to(p.device) for m, p in zip(means, self.means, strict=True)]
        )

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The module has the averaged weights inside, and its own again afterwards."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        own = [p.clone() for p in self.parameters]
        torch._foreach_copy_(self.parameters, self.means)
        torch._foreach_copy_(self.means, own)


def average(several: Sequence[Weights]) -> Weights:
    """The mean of each weight; what is no floating-point number is taken from the first."""
    first = several[0]
    return {
        name: torch.stack([weights[name].double() for weights in several]).mean(0).to(value.dtype)
        if value.is_floating_point()
        else value
        for name, value in first.items()
    }
