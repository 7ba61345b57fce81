"""A select by bits is the select that torch has, with every derivative, for every number."""

from __future__ import annotations

import math

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from regard.attention import select
from regard.attention.select import without

POISONS = [math.nan, math.inf, -math.inf, 3e38, -0.0]


@pytest.fixture(autouse=True)
def _every_size_is_large(monkeypatch):
    monkeypatch.setattr(select, "SMALL", 0)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str
)
@pytest.mark.parametrize(
    ("shape", "flags"),
    [((2, 3, 5, 4), (2, 3, 5)), ((5, 4), (3, 5)), ((2, 1, 5, 4), (3, 1)), ((5, 0), (5,))],
)
def test_equals_masked_fill_forward_and_backward(shape, flags, dtype):
    flagged = torch.rand(flags) < 0.5
    x = torch.randn(shape).to(dtype)
    for poison in POISONS:
        spoilt = torch.where(torch.rand(shape) < 0.3, torch.tensor(poison, dtype=dtype), x)
        ours, theirs = (spoilt.clone().requires_grad_() for _ in range(2))
        got = without(ours, flagged)
        wanted = theirs.masked_fill(flagged[..., None], 0.0)
        assert got.grad_fn.name() != wanted.grad_fn.name()
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)
        probe = torch.randn(wanted.shape).to(dtype)
        for out in (got, wanted):
            out.backward(probe)
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_has_second_and_forward_derivatives():
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    flagged = torch.tensor([[True, False, False], [False, False, True]])
    assert gradcheck(lambda x: without(x, flagged).sin(), (x,), check_forward_ad=True)
    assert gradgradcheck(lambda x: without(x, flagged).sin(), (x,))


def test_a_transform_of_torch_func_sees_through_it():
    x, flagged = torch.randn(5, 3, 4), torch.rand(5, 3) < 0.5
    mapped = torch.func.vmap(without)(x, flagged)
    assert torch.equal(mapped, x.masked_fill(flagged[..., None], 0.0))
    wide = torch.randn(3, 4)
    mapped = torch.func.vmap(lambda flags: without(wide, flags))(
        flagged
    )  # only the flags are mapped
    assert torch.equal(mapped, wide.masked_fill(flagged[..., None], 0.0))
    leaf = torch.randn(3, 4, requires_grad=True)
    out = without(leaf, flagged[0])
    probes = torch.randn(6, 3, 4)
    (batched,) = torch.autograd.grad(out, leaf, probes, is_grads_batched=True)
    assert torch.equal(batched, probes.masked_fill(flagged[0][..., None], 0.0))
    _, tangent = torch.func.jvp(lambda x: without(x, flagged), (x,), (torch.ones_like(x),))
    assert torch.equal(tangent, (~flagged)[..., None].expand_as(x).float())
