"""Rotary positions: to the last bit what the formula says, however often they were asked for before."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from regard.attention import rotary
from regard.attention.rotary import KEPT, TABLES, Rotary


def by_definition(x: torch.Tensor, start: int, base: float) -> torch.Tensor:
    length, size = x.shape[-2:]
    pair = torch.arange(0, size, 2, dtype=torch.float32)
    at = torch.arange(start, start + length, dtype=torch.float32)
    angle = at[:, None] * base ** (-pair / size)
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x.chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(rotary, "_TURNS", {})


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("start", [0, 1, 700, KEPT - 7, KEPT - 6, 5 * KEPT])
@pytest.mark.parametrize("base", [10_000.0, 500.0])
def test_values_and_gradients_are_those_of_the_formula(dtype, start, base):
    x = torch.randn(2, 3, 7, 8).to(dtype).requires_grad_()
    wanted = by_definition(x, start, base)
    way = torch.randn(wanted.shape).to(dtype)
    (of_wanted,) = torch.autograd.grad(wanted, x, way)
    for _ in range(2):  # computed, then kept
        found = Rotary(base).turn(x, start)
        assert found.equal(wanted)
        assert torch.autograd.grad(found, x, way)[0].equal(of_wanted)


def test_what_was_asked_for_in_inference_mode_can_be_trained_with():
    x = torch.randn(4, 6)
    with torch.inference_mode():
        Rotary().turn(x, 0)
    x.requires_grad_()
    Rotary().turn(x, 0).sum().backward()
    assert x.grad is not None


def test_few_tables_are_kept_and_none_of_a_trace():
    for size in range(2, 2 * TABLES + 10, 2):
        Rotary().turn(torch.randn(3, size), 0)
    assert len(rotary._TURNS) == TABLES
    rotary._TURNS.clear()
    with FakeTensorMode():
        assert Rotary().turn(torch.empty(3, 6), 0).shape == (3, 6)
    assert not rotary._TURNS


def test_a_graph_for_any_length_is_the_same(recwarn):
    class Turned(torch.nn.Module):
        def forward(self, x):
            return Rotary().turn(x, 2)

    length = torch.export.Dim("length", min=2, max=64)
    graph = torch.export.export(
        Turned(), (torch.randn(5, 8),), dynamic_shapes={"x": {0: length}}
    ).module()
    x = torch.randn(9, 8)
    torch.testing.assert_close(graph(x), by_definition(x, 2, 10_000.0))
