"""A linear map that is applied many times, as in a loop over steps.

Autograd multiplies, for the gradient of the weights, at every use and adds the products up. Here the inputs
and the gradients of all uses wait until the last is known, and are multiplied once: of T uses that is one
large product instead of T small ones and T sums, on any device.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

Uses = list[tuple[Tensor, Tensor]]  # the input (B, I) and the gradient of the output (B, O) of each


class RepeatedLinear:
    """W x + b, for as many x (B, I) as there are: made once, before the loop, of weight (O, I), bias (O,)

    >>> weight = torch.ones(2, 3, requires_grad=True)
    >>> twice = RepeatedLinear(weight)
    >>> (twice(torch.ones(1, 3)) + twice(torch.ones(1, 3))).sum().backward()
    >>> weight.grad
    tensor([[2., 2., 2.],
            [2., 2., 2.]])
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        kind = weight.device.type
        if torch.is_autocast_enabled(kind):  # once, and not at every use
            dtype = torch.get_autocast_dtype(kind)
            weight, bias = weight.to(dtype), None if bias is None else bias.to(dtype)
        self.uses: Uses = []
        self.last: Tensor = _WeightGradient.apply(weight, bias, self.uses)
        self.weight, self.bias = weight.detach(), None if bias is None else bias.detach()

    def __call__(self, x: Tensor) -> Tensor:
        used: Tensor = _Use.apply(
            x.to(self.weight.dtype), self.last, self.weight, self.bias, self.uses
        )
        return used


class _WeightGradient(torch.autograd.Function):
    """Nothing forwards; its turn backwards comes when all uses have had theirs."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, uses: Uses) -> Tensor:
        ctx.uses, ctx.biased = uses, bias is not None
        return weight.new_empty(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        if not ctx.uses:
            return None, None, None
        inputs, gradients = (torch.cat(each) for each in zip(*ctx.uses, strict=True))
        ctx.uses.clear()
        return gradients.mT @ inputs, gradients.sum(0) if ctx.biased else None, None


class _Use(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, last: Tensor, weight: Tensor, bias: Tensor | None, uses: Uses
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.uses = uses
        return F.linear(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None, None, None, None]:
        x, weight = ctx.saved_tensors
        ctx.uses.append((x, gradient))
        return gradient @ weight if ctx.needs_input_grad[0] else None, None, None, None, None
