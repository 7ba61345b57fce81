"""What was found beside what is defined: outputs, and gradients by everything that has one."""

from __future__ import annotations

import math

import torch
from defined_attentions import TOLERANCES, Definition
from torch import Tensor

import regard

SENSIBLE = 1e20  # a number beyond it is a poison


def assert_near(
    what: str, found: Tensor, expected: Tensor, dtype: torch.dtype, summed: int = 1
) -> None:
    """To rounding, of the largest that is expected; `summed`: of so many numbers of either sign."""
    assert found.shape == expected.shape, f"{what} {found.shape}, not {expected.shape}"
    if expected.numel() == 0:
        return
    bound = TOLERANCES[dtype] * (math.sqrt(summed) + expected.detach().abs().max())
    off = (found.detach().double() - expected.detach()).abs()
    if not (off <= bound).all():
        raise AssertionError(f"{what} is off by {off.max():.2g}, which may be {bound:.2g}")


def assert_outputs(
    found: regard.Attended, definition: Definition, dtype: torch.dtype, but: Tensor | None = None
) -> None:
    """In all rows but these, and but those that a rounding can make jump."""
    answer = definition.answer
    rows = answer.certain if but is None else answer.certain & ~but
    shape = tuple(found.context.shape)
    assert found.context.dtype == dtype, f"context of {found.context.dtype}"
    assert shape == answer.context.shape, f"context {shape}, not {tuple(answer.context.shape)}"
    assert_near("context", found.context[rows], answer.context[rows], dtype)
    if found.weights is not None:
        weights = found.weights.expand(answer.weights.shape)
        if weights.dim() > found.context.dim():  # heads: (..., H, Lq, Lk)
            rows = rows.unsqueeze(-2).expand(weights.shape[:-1])
        assert_near("weights", weights[rows], answer.weights[rows], dtype)
        assert not weights[~definition.reachable & rows[..., None]].any(), "a forbidden key weighs"


def assert_gradients(
    found: regard.Attended, definition: Definition, leaves: list[Tensor], dtype: torch.dtype
) -> None:
    """The same upstream gradient for both; where an input is a poison, its own is not looked at."""
    answer = definition.answer
    outputs, expected = [found.context], [answer.context]
    if found.weights is not None:
        outputs.append(found.weights.expand(answer.weights.shape))
        expected.append(answer.weights)
    certain = [answer.certain, answer.certain]
    if found.weights is not None and found.weights.dim() > found.context.dim():
        certain[1] = answer.certain.unsqueeze(-2)
    upstream = [
        torch.randn(x.shape).to(dtype) * rows[..., None]
        for x, rows in zip(outputs, certain, strict=False)
    ]
    ours = gradients(outputs, leaves, upstream)
    known = gradients(expected, definition.leaves, [x.double() for x in upstream])
    rows = max(answer.certain.numel(), 1)
    for place, (one, other, leaf) in enumerate(zip(ours, known, leaves, strict=True)):
        real = leaf.detach().abs() < SENSIBLE
        assert_near(f"gradient {place}", one[real], other[real], dtype, summed=rows)


def gradients(outputs: list[Tensor], by: list[Tensor], upstream: list[Tensor]) -> list[Tensor]:
    reached = [(o, g) for o, g in zip(outputs, upstream, strict=True) if o.requires_grad]
    if not reached:  # a hard choice passes none
        return [torch.zeros_like(x) for x in by]
    out, given = zip(*reached, strict=True)
    found = torch.autograd.grad(out, by, given, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(by, found, strict=True)]
