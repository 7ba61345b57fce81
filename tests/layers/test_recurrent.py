"""Recurrent networks: whole = steps, padded = unpadded, torch's kernels = ours, both directions."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.layers.recurrent import Recurrent
from regard.layers.recurrent_cells import CELLS
from regard.layers.scan import SharedLinear, flip, last_real, scan

LENGTHS = torch.tensor([5, 3, 1])
MASK = torch.arange(5) < LENGTHS[:, None]


def ragged() -> Tensor:
    x = torch.randn(3, 5, 4, dtype=torch.float64)
    return x.masked_fill(~MASK[..., None], 1e6)  # padding that would be seen if it were read


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_reaches_nothing(cell: str, bidirectional: bool) -> None:
    network = Recurrent(4, 3, cell=cell, layers=2, bidirectional=bidirectional).double()
    x = ragged()
    outputs, final = network(x, MASK)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = network(x[row : row + 1, :length])
        torch.testing.assert_close(outputs[row, :length], alone.outputs[0])
        for layer, expected in zip(final, alone.final, strict=True):
            for state, reference in zip(layer, expected, strict=True):
                torch.testing.assert_close(state[row], reference[0])
    assert bool((outputs[~MASK] == 0).all())


@pytest.mark.parametrize("cell", CELLS)
def test_last_is_the_forward_end_and_the_backward_beginning(cell: str) -> None:
    """ "last" means [fwd_S; bwd_1], neither half dropped nor summed."""
    network = Recurrent(4, 3, cell=cell, bidirectional=True).double()
    outputs, final = network(ragged(), MASK)
    ends = torch.stack([outputs[i, n - 1, :3] for i, n in enumerate(LENGTHS.tolist())])
    torch.testing.assert_close(final[0][0], torch.cat([ends, outputs[:, 0, 3:]], -1))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("initial", ["zero", "learned"])
def test_the_steps_equal_the_whole(cell: str, initial: str) -> None:
    network = Recurrent(4, 3, cell=cell, layers=2, initial=initial).double()
    if initial == "learned":
        nn.init.normal_(network.first)
    x = torch.randn(2, 6, 4, dtype=torch.float64)
    state, tops = network.start(2), []
    for t in range(6):
        top, state = network.step(x[:, t], state)
        tops.append(top)
    outputs, final = network(x)
    torch.testing.assert_close(torch.stack(tops, 1), outputs)
    for layer, expected in zip(state, final, strict=True):
        for mine, reference in zip(layer, expected, strict=True):
            torch.testing.assert_close(mine, reference)


@pytest.mark.parametrize("cell", ["elman", "lstm", "gru"])
def test_deep_and_bidirectional_equals_torch(cell: str) -> None:
    kind = {"elman": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[cell]
    theirs = kind(4, 3, num_layers=2, bidirectional=True, batch_first=True).double()
    ours = Recurrent(4, 3, cell=cell, layers=2, bidirectional=True).double()
    for layer in range(2):
        for cells, suffix in ((ours.forwards, ""), (ours.backwards, "_reverse")):
            weights = {
                name: getattr(theirs, f"{name}_l{layer}{suffix}")
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            }
            cells[layer].load_state_dict(weights)
    x = torch.randn(2, 6, 4, dtype=torch.float64)
    torch.testing.assert_close(ours(x).outputs, theirs(x)[0])


def test_an_empty_row_is_zero_and_its_gradients_finite() -> None:
    network = Recurrent(4, 3, cell="lstm", bidirectional=True)
    x = torch.randn(2, 3, 4, requires_grad=True)
    outputs, _ = network(x, torch.tensor([[True, True, False], [False, False, False]]))
    assert bool((outputs[1] == 0).all())
    outputs.sum().backward()
    assert all(bool(p.grad.isfinite().all()) for p in network.parameters() if p.grad is not None)


def test_the_first_state_can_be_drawn_in_training_only() -> None:
    network = Recurrent(4, 3, initial="random", spread=0.5)
    draws = torch.cat([network.start(200)[0][0] for _ in range(5)])
    assert 0.4 < float(draws.std()) < 0.6
    assert bool((network.eval().start(2)[0][0] == 0).all())


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_the_steps_of_every_cell_are_those_that_the_outputs_come_from(
    cell: str, bidirectional: bool
) -> None:
    network = Recurrent(4, 3, cell=cell, layers=2, bidirectional=bidirectional).eval()
    inputs = torch.randn(2, 5, 4)
    steps = network.steps(inputs)
    assert [len(of_cell) for of_cell in steps] == [5] * (4 if bidirectional else 2)
    last = steps[-2:] if bidirectional else steps[-1:]
    states = [torch.stack([step.state[0] for step in of_cell], 1) for of_cell in last]
    torch.testing.assert_close(torch.cat(states, -1), network(inputs).outputs)
    if cell == "lstm":
        assert set(steps[0][0].gates) == {"input", "forget", "candidate", "output"}


@pytest.mark.parametrize("cell", CELLS)
def test_the_weight_gradient_made_at_once_equals_autograds(cell: str) -> None:
    network = Recurrent(4, 3, cell=cell)
    x = torch.randn(2, 7, 4)

    def gradients(at_once: bool) -> list[Tensor]:
        network.zero_grad()
        one = network.forwards[0]
        if at_once:
            h = scan(one, x, one.start(2))[0]
        else:
            double = network.double()
            h = scan(double.forwards[0], x.double(), double.forwards[0].start(2))[0]
        h.square().sum().backward()
        grads = [p.grad.clone().float() for p in one.parameters()]
        network.float()
        return grads

    for ours, exact in zip(gradients(True), gradients(False), strict=True):
        torch.testing.assert_close(ours, exact, atol=1e-5, rtol=1e-4)


def test_two_passes_backward_give_twice_the_gradient() -> None:
    weight = torch.randn(3, 3, requires_grad=True)
    linear, h = SharedLinear(), torch.ones(2, 3)
    for _ in range(4):
        h = linear(h, weight).tanh()
    h.sum().backward(retain_graph=True)
    once = weight.grad.clone()
    h.sum().backward()
    torch.testing.assert_close(weight.grad, 2 * once)


def test_flip_and_last_real_look_at_real_steps_only() -> None:
    x = torch.arange(1, 7).view(2, 3, 1).float()
    lengths = torch.tensor([3, 2])
    assert flip(x, lengths)[..., 0].tolist() == [[3, 2, 1], [5, 4, 6]]
    assert last_real(x, lengths)[..., 0].tolist() == [3, 5]


@pytest.mark.parametrize("noise", [torch.nan, torch.inf])
@pytest.mark.parametrize("cell", ["elman", "gru", "lstm", "gru-reset-before"])
def test_what_stands_in_the_padding_reaches_no_gradient(cell, noise):
    torch.manual_seed(0)
    network = Recurrent(3, 4, cell=cell, layers=2, bidirectional=True).double()
    x, mask = torch.randn(3, 5, 3).double(), torch.arange(5) < torch.tensor([[5], [0], [2]])

    def gradients(padding: float) -> list[torch.Tensor]:
        inputs = x.masked_fill(~mask[..., None], padding).requires_grad_()
        network.zero_grad()
        outputs, _ = network(inputs, mask)
        outputs.square().sum().backward()
        return [inputs.grad, *(weight.grad.clone() for weight in network.parameters())]

    torch.testing.assert_close(gradients(noise), gradients(0.0), rtol=0, atol=1e-12)
