"""Averages of weights against their formulas."""

from __future__ import annotations

import pytest
import torch

from regard.training.weight_averages import MovingWeights, average


def test_the_moving_average_follows_its_formula_and_leaves_the_weights_alone():
    module = torch.nn.Linear(2, 1)
    first = module.weight.detach().clone()
    mean, expected = MovingWeights(module, decay=0.5), first.clone()
    for update in range(1, 8):
        with torch.no_grad():
            module.weight.add_(update)
        mean.follow(update)
        decay = min(0.5, (1 + update) / (10 + update))
        expected = decay * expected + (1 - decay) * module.weight.detach()
    own = module.weight.detach().clone()
    with mean.in_place():
        torch.testing.assert_close(module.weight.detach(), expected)
    assert module.weight.equal(own)
    torch.testing.assert_close(mean.means[0], expected)


def test_weights_come_back_even_after_an_error():
    module = torch.nn.Linear(2, 1)
    mean = MovingWeights(module, 0.9)
    own = module.weight.detach().clone()
    mean.means[0].zero_()
    with pytest.raises(KeyError), mean.in_place():
        raise KeyError
    assert module.weight.equal(own)


def test_the_average_of_checkpoints_is_the_mean_of_each_weight():
    several = [{"w": torch.full((2,), x), "n": torch.tensor(7)} for x in (1.0, 2.0, 6.0)]
    found = average(several)
    assert found["w"].tolist() == [3.0, 3.0]
    assert found["w"].dtype == torch.float32
    assert found["n"] == 7
