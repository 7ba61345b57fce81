"""A cell run over time, with the gradient of its weights as one product instead of one for each step.

Autograd adds up Σ_t dY_tᵀ X_t in a matrix of the weight's size, read and written at every step.
`SharedLinear` keeps the dY_t and X_t until backward has come to the first step, then multiplies them all.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.layers.recurrent_cells import Cell, CellState

Kept = dict[int, tuple[Tensor, Tensor]]  # step -> (X_t, dY_t)


class SharedLinear:
    """`linear(x, weight, bias)` for the steps of one loop over time; make a new one for every loop.

    Each step must depend on the one before, as in a recurrence: backward then comes to the first one last.
    float64, which is where second derivatives are taken, and autocast go through plain autograd.
    """

    def __init__(self) -> None:
        self._kept: dict[int, Kept] = {}
        self._steps: dict[int, int] = {}

    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        learns = torch.is_grad_enabled() and weight.requires_grad
        if not learns or x.dtype == torch.float64 or torch.is_autocast_enabled(x.device.type):
            return F.linear(x, weight, bias)
        step = self._steps[id(weight)] = self._steps.get(id(weight), -1) + 1
        return _Linear.apply(x, weight, bias, self._kept.setdefault(id(weight), {}), step)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, kept: Kept, step: int
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.kept, ctx.step, ctx.biased = kept, step, bias is not None
        return F.linear(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        ctx.kept[ctx.step] = (x, grad)
        of_x = grad @ weight if ctx.needs_input_grad[0] else None
        if ctx.step:
            return of_x, None, None, None, None
        grads = torch.cat([dy for _, dy in ctx.kept.values()])
        of_weight = grads.T @ torch.cat([x for x, _ in ctx.kept.values()])
        ctx.kept.clear()
        return of_x, of_weight, grads.sum(0) if ctx.biased else None, None, None


def scan(cell: Cell, inputs: Tensor, state: CellState) -> tuple[Tensor, ...]:
    """inputs (B, T, D) -> the states after every step: h, or h and c, each (B, T, n)"""
    linear = SharedLinear()
    steps: list[CellState] = []
    for projected in cell.project(inputs).unbind(1):
        state, _ = cell.step(projected, state, linear)
        steps.append(state)
    return tuple(torch.stack(part, 1) for part in zip(*steps, strict=True))


def flip(x: Tensor, lengths: Tensor | None) -> Tensor:
    """Each row (B, T, ...) backwards, from its last real step; padding stays at the end."""
    if lengths is None:
        return x.flip(1)
    at = torch.arange(x.shape[1], device=x.device)
    order = torch.where(at < lengths[:, None], lengths[:, None] - 1 - at, at)
    return x.gather(1, order.view(*order.shape, *[1] * (x.dim() - 2)).expand_as(x))


def last_real(x: Tensor, lengths: Tensor | None) -> Tensor:
    """(B, T, n) -> (B, n): the last real step of each row."""
    if lengths is None:
        return x[:, -1]
    return x.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, x.shape[-1])).squeeze(1)
