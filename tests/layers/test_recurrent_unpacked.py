"""Recurrent networks without packed batches equal those with them."""

from __future__ import annotations

import pytest
import torch

from regard.layers import recurrent
from regard.layers.recurrent import Recurrent, unpacked

LENGTHS = torch.tensor([5, 1, 3, 5, 2])


def made(network: Recurrent, inputs: torch.Tensor) -> list[torch.Tensor]:
    """Outputs and last states, and the gradients of a mixture of both."""
    network.zero_grad()
    x = inputs.clone().requires_grad_()
    outputs, final = network(x, lengths=LENGTHS)
    draw = torch.Generator().manual_seed(3)
    given = [outputs, *(s for layer in final for s in layer)]
    parts = [
        (s * torch.randn(s.shape, generator=draw, dtype=torch.float64)).sin().sum() for s in given
    ]
    torch.stack(parts).sum().backward()
    return [*given, x.grad, *(p.grad for p in network.parameters() if p.grad is not None)]


@pytest.mark.parametrize("cell", ["elman", "gru", "lstm"])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("initial", ["zero", "learned"])
def test_it_is_the_network_over_packed_batches(cell, bidirectional, initial):
    torch.manual_seed(0)
    network = Recurrent(
        4, 6, cell=cell, layers=2, bidirectional=bidirectional, initial=initial
    ).double()
    inputs = torch.randn(5, 7, 4, dtype=torch.float64)
    packed = made(network, inputs)
    with unpacked():
        other = made(network, inputs)
    for a, b in zip(packed, other, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_what_stands_in_the_padding_reaches_nothing():
    torch.manual_seed(0)
    network = Recurrent(4, 6, cell="lstm", bidirectional=True).double()
    cells = [network.forwards[0], network.backwards[0]]
    (first,) = network.start(5)
    inputs = torch.randn(5, 7, 4, dtype=torch.float64)
    other = inputs.clone()
    other[torch.arange(7) >= LENGTHS[:, None]] = 3.0
    one, two = (recurrent._unpacked(cells, x, LENGTHS, first, True) for x in (inputs, other))
    real = torch.arange(7) < LENGTHS[:, None]
    torch.testing.assert_close(one[0][real], two[0][real], rtol=0, atol=1e-12)
    for a, b in zip(one[1], two[1], strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)
