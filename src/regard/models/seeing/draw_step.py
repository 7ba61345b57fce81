"""The parts of a step of DRAW between its products: cells, samples, windows. As they are, or compiled.

Each is a dozen small operations. On a GPU, where a step is mostly the launch of kernels, torch.compile makes
one or two kernels of each, forwards and backwards.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.layers.pictures.gaussian_window import GaussianWindow
from regard.words import t

NUMBERS = 5  # that tell a window
Size = tuple[int, int, int]  # C, H, W


class StepParts(NamedTuple):
    cell: Callable[..., tuple[Tensor, Tensor]]
    drawn: Callable[[Tensor, Tensor], Tensor]
    seen: Callable[[Tensor, Tensor, Tensor, int], Tensor]
    written: Callable[[Tensor, Tensor, Tensor, int], Tensor]


def cell(before: Tensor, *parts: Tensor) -> tuple[Tensor, Tensor]:
    """An LSTM from its cell (B, D) and its gates (B, 4 D), given in parts that add up: h, c"""
    gates = functools.reduce(torch.add, parts).to(before.dtype)
    i, f, g, o = gates.chunk(4, -1)
    after = torch.addcmul(f.sigmoid() * before, i.sigmoid(), g.tanh())
    return o.sigmoid() * after.tanh(), after


def drawn(told: Tensor, noise: Tensor) -> Tensor:
    """μ + exp(s) ε: (B, 2 Z), (B, Z) -> (B, Z)"""
    mean, log_deviation = told.to(noise.dtype).chunk(2, -1)
    return torch.addcmul(mean, log_deviation.exp(), noise)


def seen(numbers: Tensor, pictures: Tensor, canvas: Tensor, filters: int) -> Tensor:
    """r = [γ F_Y x F_Xᵀ, γ F_Y x̂ F_Xᵀ], x̂ = x - σ(c), one window for both: (B, 2 C N²)"""
    window = GaussianWindow.of(numbers.to(pictures.dtype), filters, _inner(pictures))
    both = torch.cat((pictures, pictures - canvas.sigmoid()), 1)
    return window.read(both).flatten(1)


def written(numbers: Tensor, canvas: Tensor, stroke: Tensor, filters: int) -> Tensor:
    """c + 1/γ F_Yᵀ w F_X, w the stroke (B, C N²): (B, C, H, W)"""
    window = GaussianWindow.of(numbers.to(canvas.dtype), filters, _inner(canvas))
    patch = stroke.to(canvas.dtype).unflatten(1, (-1, filters, filters))
    return canvas + window.write(patch)


def plain_parts() -> StepParts:
    return StepParts(cell, drawn, seen, written)


@functools.cache
def compiled_parts() -> StepParts:
    """The same, compiled for each shape when it first comes; where that fails, as they are."""
    return StepParts(*(_Compiled(part) for part in plain_parts()))


class _Compiled:
    """A part that torch.compile has made, or could not make, kernels of."""

    def __init__(self, part: Callable[..., Any]) -> None:
        self.part, self.compiled = part, torch.compile(part, dynamic=False, fullgraph=True)

    def __call__(self, *given: Any) -> Any:
        if self.compiled is not self.part:
            try:
                return self.compiled(*given)
            except Exception as error:  # no compiler, no driver, an operator it does not know
                self.compiled = self.part
                why = (
                    str(error).strip().splitlines()[0]
                    if str(error).strip()
                    else type(error).__name__
                )
                told = t("model.fused: torch.compile failed, a slower way is taken: {why}", why=why)
                warnings.warn(told, stacklevel=2)
        return self.part(*given)


def _inner(pictures: Tensor) -> tuple[int, int]:
    return pictures.shape[2], pictures.shape[3]
