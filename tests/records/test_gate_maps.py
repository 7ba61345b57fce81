"""Gates as maps: what they say is what the cells compute."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
import torch

from regard.layers.recurrent import Recurrent
from regard.layers.recurrent_cells import CELLS
from regard.records.gate_maps import gate_maps, recording_recurrent
from regard.records.question import BadQuestion
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.view.attention_view import View
from regard.view.picked_matrix import Pick, picked

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


def test_a_text_that_is_too_long_to_be_drawn_is_told():
    with pytest.raises(BadQuestion, match="401 tokens, and gates are drawn of up to 400"):
        shown(Recurrent(4, 5, cell="lstm"), torch.randn(1, 401, 4))


def bidirectional_record() -> AttentionRecord:
    torch.manual_seed(0)
    network = Recurrent(4, 3, cell="lstm", bidirectional=True).eval()
    sides, maps = shown(network, torch.randn(1, 4, 4))
    text = Side.of_labels(["a", "good", "film", "indeed"], title="text")
    return AttentionRecord(sides={"text": text, **sides}, maps=tuple(maps), title="a good film")


@pytest.mark.parametrize("name", ["memory", "gates", "states"])
def test_the_first_direction_is_shown_and_never_a_mean(name):
    record = bidirectional_record()
    matrix = picked(record, Pick(map=name))
    np.testing.assert_array_equal(matrix.weights, record.map(name).weights[0, 0])
    assert "mean over 2" not in matrix.aggregation
    assert "layer 1" in matrix.aggregation


def test_the_terminal_says_so_too():
    printed = View((bidirectional_record(),), Pick(map="states")).to_text()
    assert "shades: state, full at" in printed


@pytest.mark.parametrize(
    ("name", "said"),
    [("memory", "share still there"), ("gates", "how far open"), ("states", "state")],
)
def test_the_colours_say_what_they_stand_for(name, said):
    picture = View((bidirectional_record(),), Pick(map=name)).to_svg()
    assert f">{said}<" in picture
    assert ">weight<" not in picture
    assert "size of the weight" not in View((bidirectional_record(),), Pick(map=name)).to_text()


def test_what_is_averaged_is_not_cut_off(monkeypatch):
    record, pick = bidirectional_record(), Pick(map="memory", layer="mean")
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((40, 20)))
    printed = View((record,), pick).to_text().split("\n")
    assert picked(record, pick).aggregation in " ".join(line.strip() for line in printed)
    assert max(map(len, printed)) <= 40
    drawn = re.sub(r"<[^>]*>", " ", View((record,), pick).to_svg().split("</title>")[1])
    assert "mean over 2 layers" in " ".join(drawn.split())
