"""Teacher forcing: what the decoder is fed, where it stops, where no gradient goes."""

from __future__ import annotations

import pytest
import torch
from pair_batches import pair_batch

from regard.data.tokenizer import EOS, PAD
from regard.layers.contracts import Encoded, Step
from regard.tasks.translate.teacher_forcing import draw_forced, unroll


@pytest.fixture
def batch():
    return pair_batch([([4, 5, 6], [6, 5, 4]), ([7, 8], [8, 7, 9, 10]), ([9], [9])])


def encoded_and_inputs(task, batch):
    encoded = task.model.encode(batch["source"], batch["source_mask"])
    return encoded, batch["target"][:, :-1]


def test_ratio_1_feeds_the_shifted_target_and_equals_the_whole_target_at_once(make_task, batch):
    task = make_task()
    encoded, inputs = encoded_and_inputs(task, batch)
    found = unroll(task.model.decoder, encoded, inputs, draw_forced(inputs, 1.0, "step"))
    assert found.fed.equal(batch["target"][:, :-1])
    assert found.going.all()
    decoder = task.model.decoder
    whole = decoder.project(decoder.forward(inputs, encoded).outputs)
    real = inputs != PAD  # what follows padding is never asked for
    torch.testing.assert_close(found.logits[real], whole[real])


def test_ratio_0_feeds_the_arg_max_of_the_step_before(make_task, batch):
    task = make_task()
    encoded, inputs = encoded_and_inputs(task, batch)
    found = unroll(task.model.decoder, encoded, inputs, draw_forced(inputs, 0.0, "sequence"))
    assert found.fed[:, 0].equal(inputs[:, 0])
    assert found.fed[:, 1:].equal(found.logits.argmax(-1)[:, :-1])


def test_no_gradient_passes_through_a_token_that_is_fed_back(make_task, batch):
    """With the tokens it chose given as the reference, the gradients are the same."""
    task = make_task()
    inputs = batch["target"][:, :-1]
    free = torch.zeros_like(inputs, dtype=torch.bool)
    gradients = []
    for forced in (free, ~free):
        encoded, _ = encoded_and_inputs(task, batch)
        found = unroll(task.model.decoder, encoded, inputs, forced)
        task.zero_grad()
        found.logits[:, -1].square().sum().backward()
        gradients.append([p.grad.clone() for p in task.parameters() if p.grad is not None])
        inputs = found.fed
    for own, given in zip(*gradients, strict=True):
        torch.testing.assert_close(own, given)


class Script:
    """A decoder that says, in each row, the tokens it was told to say."""

    def __init__(self, said: list[list[int]]) -> None:
        self.said = torch.tensor(said)

    def start(self, encoded: Encoded) -> int:
        return 0

    def step(self, tokens: torch.Tensor, state: int, *, weights: bool = False) -> Step:
        return Step(torch.nn.functional.one_hot(self.said[:, state], 12).float(), state + 1)


def test_a_row_that_feeds_itself_eos_is_over_and_one_that_is_forced_goes_on():
    decoder = Script([[5, EOS, 6, 7], [5, EOS, 6, 7], [5, 6, 7, EOS]])
    inputs = torch.full((3, 4), 8)
    forced = torch.tensor([[False] * 4, [True] * 4, [False] * 4])
    found = unroll(decoder, None, inputs, forced)
    assert found.going.tolist() == [[True, True, False, False], [True] * 4, [True] * 4]
    assert found.fed.tolist() == [[8, 5, EOS, 6], [8] * 4, [8, 5, 6, 7]]


def test_nothing_is_computed_once_every_row_is_over():
    decoder = Script([[EOS, 5, 5], [5, EOS, 5]])
    found = unroll(decoder, None, torch.full((2, 3), 8), torch.zeros(2, 3, dtype=torch.bool))
    assert found.logits.shape == (2, 2, 12)


@pytest.mark.parametrize("draw", ["sequence", "step"])
def test_draws_have_the_ratio_and_the_grain_asked_for(draw):
    torch.manual_seed(1)
    forced = draw_forced(torch.zeros(400, 10, dtype=torch.long), 0.3, draw)
    assert abs(forced.float().mean() - 0.3) < 0.07
    mixed = (forced.any(1) != forced.all(1)).sum()
    assert mixed == 0 if draw == "sequence" else mixed > 300
