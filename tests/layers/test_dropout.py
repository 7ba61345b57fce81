"""Dropout by 16 bits a number is dropout."""

from __future__ import annotations

import pytest
import torch

from regard.layers.dropout import dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_numbers_fall_out_as_often_as_asked_and_the_mean_stays(p: float) -> None:
    x = torch.ones(501, 403)
    y = dropout(x, p, training=True)
    assert float((y == 0).float().mean()) == pytest.approx(p, abs=0.005)
    assert float(y.mean()) == pytest.approx(1, abs=0.02)
    torch.testing.assert_close(y[y != 0].unique(), torch.tensor([1 / (1 - p)]), rtol=1e-4, atol=0)


def test_neighbours_do_not_fall_together() -> None:
    kept = (dropout(torch.ones(400_000), 0.5, training=True) != 0).float() - 0.5
    for apart in (1, 2, 3, 4, 8):
        assert abs(float((kept[apart:] * kept[:-apart]).mean())) < 0.25 * 0.02


def test_the_gradient_passes_where_the_number_did() -> None:
    x = torch.randn(7, 5, 3, dtype=torch.float64, requires_grad=True)
    y = dropout(x, 0.3, training=True)
    y.sum().backward()
    torch.testing.assert_close(x.grad * x.detach(), y.detach())


def test_the_seed_decides() -> None:
    def drawn(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return dropout(torch.ones(3, 50), 0.5, training=True)

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.5, False)])
def test_nothing_falls_out_in_evaluation_or_without_a_probability(p: float, training: bool) -> None:
    x = torch.randn(4, 4)
    assert dropout(x, p, training) is x or torch.equal(dropout(x, p, training), x)


def test_everything_falls_out_at_probability_one() -> None:
    assert not dropout(torch.ones(9), 1.0, training=True).any()
