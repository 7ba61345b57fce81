"""Gates as maps: what they say is what the cells compute."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.layers.recurrent import Recurrent
from regard.layers.recurrent_cells import CELLS
from regard.records.gate_maps import gate_maps, recording_recurrent

GATED = [name for name in CELLS if name != "elman"]


def shown(network: Recurrent, inputs: torch.Tensor, **given):
    with torch.no_grad(), recording_recurrent(network) as read:
        network(inputs, **given)
    return gate_maps(read, read[0].inputs.shape[1], "text")


@pytest.mark.parametrize("cell", GATED)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_the_memory_of_one_unit_is_the_weighted_sum_of_what_was_written(cell, bidirectional):
    """c_t = Σ_j memory_tj g_j, exactly, where there is one unit to take the mean over."""
    torch.manual_seed(1)
    network = Recurrent(4, 1, cell=cell, layers=2, bidirectional=bidirectional).double().eval()
    for weight in network.parameters():
        torch.nn.init.normal_(weight)
    inputs = torch.randn(1, 6, 4, dtype=torch.float64)
    _, (memory, gates, states) = shown(network, inputs)
    for number, of_cell in enumerate(network.steps(inputs)):
        written = torch.stack([step.gates["candidate"] for step in of_cell])[:, 0, 0].numpy()
        kept = torch.stack([step.state[-1] for step in of_cell])[:, 0, 0].numpy()
        np.testing.assert_allclose(memory.weights[number, 0] @ written, kept, atol=1e-6)
        assert (memory.weights[number, 0][~memory.allowed[number, 0]] == 0).all()
        hidden = torch.stack([step.state[0] for step in of_cell])[:, 0, 0].numpy()
        np.testing.assert_allclose(states.weights[number, 0, :, 0], hidden, atol=1e-6)
        opened = of_cell[2].gates
        names = [name for name in opened if name != "candidate"]
        wanted = [float(opened[name]) for name in names]
        np.testing.assert_allclose(gates.weights[number, 0, :, 2], wanted, atol=1e-6)
    assert len(memory.layers) == (4 if bidirectional else 0)


def test_the_mean_over_units_is_between_0_and_1_and_a_gru_never_holds_more_than_all():
    _, (memory, gates, _) = shown(Recurrent(4, 16, cell="gru"), torch.randn(1, 9, 4))
    assert ((memory.weights >= 0) & (memory.weights.sum(-1, keepdims=True) <= 1 + 1e-6)).all()
    assert ((gates.weights > 0) & (gates.weights < 1)).all()


def test_what_has_no_gates_shows_its_states_alone():
    sides, maps = shown(Recurrent(4, 5, cell="elman"), torch.randn(1, 3, 4))
    assert [each.name for each in maps] == ["states"]
    assert maps[0].weights.shape == (1, 1, 3, len(sides["units"])) == (1, 1, 3, 5)


def test_padding_and_other_texts_are_left_out():
    torch.manual_seed(0)
    network = Recurrent(4, 5, cell="lstm", bidirectional=True).eval()
    inputs = torch.randn(2, 7, 4)
    mask = torch.arange(7) < torch.tensor([[4], [7]])
    _, together = shown(network, inputs, mask=mask)
    _, alone = shown(network, inputs[:1, :4])
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)


def test_a_network_that_read_something_else_is_not_shown():
    network = Recurrent(4, 5, cell="lstm")
    with recording_recurrent(network) as read:
        network(torch.randn(1, 3, 4))
    assert gate_maps(read, 4, "text") == ({}, [])
