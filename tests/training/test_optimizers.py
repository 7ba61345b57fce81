"""Learning rates against their formulas, gradients against torch's clipping."""

from __future__ import annotations

import math

import pytest
import torch

from regard.recipe.recipe import Optimizer, Schedule
from regard.training.optimizers import build_optimizer, learning_rate, scale_and_clip


def rates(schedule: Schedule, updates: range, lr: float = 1.0, **more) -> list[float]:
    return [learning_rate(Optimizer(lr=lr), schedule, update=u, **more) for u in updates]


def test_noam_is_the_papers_formula_and_finite_from_the_first_update():
    found = rates(Schedule(kind="noam", size=512, warmup=4000), range(10_000))
    expected = [512**-0.5 * min(t**-0.5, t * 4000**-1.5) for t in range(1, 10_001)]
    assert found == pytest.approx(expected)
    assert max(found) == found[3999]
    assert all(math.isfinite(r) for r in rates(Schedule(kind="noam"), range(3)))


def test_inverse_sqrt_peaks_at_the_end_of_the_warmup():
    found = rates(Schedule(kind="inverse-sqrt", warmup=100), range(1000), lr=0.5)
    assert found[99] == max(found) == 0.5
    assert found[0] == pytest.approx(0.005)
    assert found[399] == pytest.approx(0.25)


@pytest.mark.parametrize("kind", ["constant", "plateau", "halving", "cosine"])
def test_the_others_warm_up_linearly(kind):
    found = rates(Schedule(kind=kind, warmup=4), range(6), lr=2.0)
    assert found == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0, 2.0])


def test_halving_starts_after_its_epoch():
    halving = Schedule(kind="halving", after=5)
    found = [rates(halving, range(1), epoch=epoch)[0] for epoch in range(8)]
    assert found == [1, 1, 1, 1, 1, 0.5, 0.25, 0.125]


def test_cosine_falls_from_the_rate_to_the_minimum():
    cosine = Schedule(kind="cosine", minimum=0.1)
    found = [rates(cosine, range(1), done=done)[0] for done in (0, 0.25, 0.5, 1.0, 1.1)]
    assert found == pytest.approx([1.0, (1 + math.sqrt(0.5)) / 2, 0.5, 0.1, 0.1])


def test_a_plateau_multiplies_down_to_the_minimum():
    plateau = Schedule(kind="plateau", factor=0.1, minimum=0.005)
    found = [rates(plateau, range(1), reductions=n)[0] for n in range(4)]
    assert found == pytest.approx([1.0, 0.1, 0.01, 0.005])


@pytest.mark.parametrize("clip", [None, 0.5, 1000.0])
def test_scaling_and_clipping_in_one_pass_is_scaling_then_torch_clipping(clip):
    weights = [torch.nn.Parameter(torch.zeros(5, 3)), torch.nn.Parameter(torch.zeros(7))]
    for weight in weights:
        weight.grad = torch.randn_like(weight)
    mine = [w.grad.clone() for w in weights]
    for weight in weights:
        weight.grad *= 3.0
    expected = torch.nn.utils.clip_grad_norm_(weights, math.inf if clip is None else clip)
    norm = scale_and_clip(mine, 3.0, clip)
    assert norm == pytest.approx(float(expected))
    for one, weight in zip(mine, weights, strict=True):
        torch.testing.assert_close(one, weight.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["adam", "adamw", "adadelta", "sgd"])
def test_every_optimiser_gets_what_the_recipe_says_and_goes_downhill(kind):
    settings = Optimizer(kind=kind, lr=0.1, rho=0.8, eps=1e-5, momentum=0.3, weight_decay=0.01)
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = build_optimizer(settings, [weight])
    group = optimizer.param_groups[0]
    known = {"lr": 0.1, "betas": (0.9, 0.999), "eps": 1e-5, "rho": 0.8, "momentum": 0.3}
    assert group["weight_decay"] == 0.01
    assert all(group[name] == value for name, value in known.items() if name in group)
    for _ in range(5):
        optimizer.zero_grad()
        weight.square().sum().backward()
        optimizer.step()
    assert weight.square().sum() < 5
