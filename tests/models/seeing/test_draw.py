"""DRAW: the bound is one, with and without windows; what it imagines; what a reader of windows sees."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from regard.models.seeing.draw import Draw, WindowReader, divergence

SIZE = (1, 7, 6)


def pictures(batch: int = 3) -> Tensor:
    return torch.randint(0, 2, (batch, *SIZE), generator=torch.Generator().manual_seed(1)).float()


def model(**changes: object) -> Draw:
    torch.manual_seed(0)
    settings = {"steps": 3, "features": 12, "latent": 5, "read": 2, "write": 3}
    return Draw(SIZE, **{**settings, **changes})  # type: ignore[arg-type]


def test_the_divergence_is_that_of_two_normal_laws() -> None:
    mean, log_deviation = torch.randn(4, 5).double(), torch.randn(4, 5).double()
    law = Normal(mean, log_deviation.exp())
    wanted = kl_divergence(law, Normal(torch.zeros(5).double(), torch.ones(5).double())).sum(-1)
    torch.testing.assert_close(divergence(mean, log_deviation), wanted)


@pytest.mark.parametrize(
    "windows", [{}, {"read": None, "write": None}, {"read": None}, {"write": None}]
)
def test_the_bound_is_a_sum_over_pixels_and_steps(windows: dict[str, None]) -> None:
    draw, shown = model(**windows), pictures()
    drawn = draw(shown)
    assert drawn.divergence.shape == (3, 3)
    assert (drawn.divergence >= 0).all()
    last = drawn.canvases[:, -1]
    nats = -(shown * last.log() + (1 - shown) * (1 - last).log()).flatten(1).sum(1)
    torch.testing.assert_close(drawn.reconstruction, nats, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(drawn.bound, nats + drawn.divergence.sum(1), rtol=1e-4, atol=1e-4)
    assert (drawn.reads is None) == (draw.reader.filters is None)
    assert (drawn.writes is None) == (draw.writer.filters is None)


def test_the_bound_holds() -> None:
    """-log p(x) of a tiny model, by the mean of p(x | z) over many z, is not above the bound."""
    torch.manual_seed(0)
    draw = Draw((1, 2, 2), steps=2, features=6, latent=2, read=2, write=2).eval()
    shown = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]])
    with torch.no_grad():
        bound = draw(shown.expand(4000, -1, -1, -1)).bound.mean().item()
        canvases, _ = draw.imagine(20_000, torch.Generator().manual_seed(2))
    last = canvases[:, -1]
    chances = torch.where(shown.bool(), last, 1 - last).flatten(1).prod(1)
    assert -math.log(chances.mean().item()) <= bound + 0.05


def test_every_weight_learns() -> None:
    draw = model()
    draw(pictures()).bound.sum().backward()
    still = {
        name
        for name, weight in draw.named_parameters()
        if weight.grad is None or not weight.grad.any()
    }
    assert not still


def test_it_learns_to_draw_bars() -> None:
    torch.manual_seed(0)
    shown = torch.zeros(7, *SIZE)
    shown[torch.arange(7), 0, torch.arange(7)] = 1  # one row each
    draw = Draw(SIZE, steps=4, features=24, latent=6, read=3, write=4)
    optimizer = torch.optim.Adam(draw.parameters(), 0.02)
    for _ in range(200):
        optimizer.zero_grad()
        draw(shown).bound.mean().backward()
        torch.nn.utils.clip_grad_norm_(draw.parameters(), 10.0, error_if_nonfinite=True)
        optimizer.step()
    drawn = draw(shown)
    assert drawn.bound.mean().item() < 12  # 29 at first; by how often a pixel is lit, 17
    assert drawn.divergence.sum(1).mean().item() > 1


def test_a_picture_costs_the_same_beside_others_if_the_same_is_drawn() -> None:
    draw, shown = model().eval(), pictures()
    torch.nn.init.constant_(draw.log_deviation.bias, -40.0)  # what is drawn is the mean
    torch.nn.init.zeros_(draw.log_deviation.weight)
    together = draw(shown)
    alone = draw(shown[1:2])
    torch.testing.assert_close(alone.reconstruction[0], together.reconstruction[1])
    torch.testing.assert_close(alone.canvases[0], together.canvases[1])


def test_the_same_generator_imagines_the_same() -> None:
    draw = model()
    first, boxes = draw.imagine(2, torch.Generator().manual_seed(5))
    again, _ = draw.imagine(2, torch.Generator().manual_seed(5))
    torch.testing.assert_close(first, again)
    assert first.shape == (2, 3, *SIZE)
    assert boxes is not None
    assert boxes.shape == (2, 3, 4)


def test_a_reader_of_windows_sees_the_whole_picture_first() -> None:
    torch.manual_seed(0)
    reader = WindowReader(SIZE, 4, steps=2, filters=3, features=10)
    logits, boxes = reader(pictures())
    assert logits.shape == (3, 4)
    torch.testing.assert_close(boxes[:, 0, :3], torch.tensor([3.5, 4.0, 3.0]).expand(3, -1))
    logits.sum().backward()
    assert reader.window.weight.grad is not None
    assert reader.window.weight.grad.any()
