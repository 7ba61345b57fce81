"""A linear map used many times: values and gradients of as many linear layers that share their weights."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.layers.repeated_linear import RepeatedLinear


def recurrence(weight: Tensor, bias: Tensor | None, start: Tensor, *, repeated: bool) -> Tensor:
    """Σ_t h_t, h_t = tanh(W h_(t-1) + b)"""
    linear = RepeatedLinear(weight, bias) if repeated else lambda x: F.linear(x, weight, bias)
    states = [start]
    for _ in range(4):
        states.append(linear(states[-1]).tanh())
    return torch.stack(states).sum(0)


@pytest.mark.parametrize("biased", [True, False])
def test_gradients_are_those_of_linear_layers(biased: bool) -> None:
    torch.manual_seed(0)
    given = [torch.randn(shape, dtype=torch.double) for shape in ((3, 3), (3,), (5, 3))]
    weight, bias, start = (x.requires_grad_() for x in given)
    wanted = [weight, start] + ([bias] if biased else [])
    found = []
    for repeated in (True, False):
        out = recurrence(weight, bias if biased else None, start, repeated=repeated)
        found.append([out, *torch.autograd.grad(out.square().sum(), wanted)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_a_graph_may_be_gone_through_twice() -> None:
    weight = torch.randn(2, 2, requires_grad=True)
    out = recurrence(weight, None, torch.randn(1, 2), repeated=True).sum()
    (first,) = torch.autograd.grad(out, weight, retain_graph=True)
    (again,) = torch.autograd.grad(out, weight)
    torch.testing.assert_close(first, again)


def test_what_is_not_used_has_no_gradient() -> None:
    weight, x = torch.randn(2, 2, requires_grad=True), torch.randn(1, 2, requires_grad=True)
    linear = RepeatedLinear(weight)
    linear(x.detach())
    (found,) = torch.autograd.grad(F.linear(x, weight.detach()).sum() + x.sum(), [x])
    assert found.isfinite().all()
    assert not linear.uses
    with torch.no_grad():
        torch.testing.assert_close(RepeatedLinear(weight)(x), F.linear(x, weight))


def test_autocast_casts_the_weights_once() -> None:
    weight, x = torch.randn(4, 3, requires_grad=True), torch.randn(2, 3)
    with torch.autocast("cpu", torch.bfloat16):
        out = RepeatedLinear(weight)(x)
        assert out.dtype == torch.bfloat16
    out.float().sum().backward()
    assert weight.grad is not None
    assert weight.grad.dtype == torch.float32
    torch.testing.assert_close(weight.grad, x.sum(0).expand(4, 3), rtol=2e-2, atol=2e-2)
