"""Wake-sleep glimpses against the exact gradient of the likelihood, which a small grid allows to sum up."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from regard.models.seeing.ws_ram import SampledPaths, WsRam, variational_loss, wake_sleep_loss

PLACES, STEPS = 4, 2


def model() -> WsRam:
    torch.manual_seed(1)
    small = WsRam(1, 3, glimpses=STEPS, grid=2, width=3, scales=1, coarse=2, size=6, inner=5)
    for weight in small.parameters():
        torch.nn.init.normal_(weight, std=0.7)
    return small.double()


def picture() -> Tensor:
    return torch.rand(1, 1, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


LABEL = torch.tensor([2])


def every_path(small: WsRam, label: Tensor | None = None) -> SampledPaths:
    numbers = torch.tensor(list(itertools.product(range(PLACES), repeat=STEPS)))[None]
    return small(picture(), len(numbers[0]), label, chosen=numbers)


def likelihood(small: WsRam) -> Tensor:
    """log Σ_a p(a | I) p(y | a, I)"""
    paths = every_path(small)
    told = paths.logits.log_softmax(-1)[..., int(LABEL)]
    return (paths.prior + told).logsumexp(-1).sum()


def gradients(small: WsRam, loss: Tensor, part: str = "") -> Tensor:
    small.zero_grad()
    loss.backward()
    found = [
        (weight.grad if weight.grad is not None else torch.zeros_like(weight)).flatten()
        for name, weight in small.named_parameters()
        if name.startswith(part) and (part or not name.startswith("inference"))
    ]
    return torch.cat(found)


def test_all_paths_have_the_probability_1() -> None:
    small = model()
    for label in (None, LABEL):
        paths = every_path(small, label)
        assert paths.prior.logsumexp(-1).item() == pytest.approx(0)
        assert paths.proposal.logsumexp(-1).item() == pytest.approx(0)


@pytest.mark.parametrize("control", [True, False])
def test_the_estimate_is_the_gradient_of_the_likelihood(control: bool) -> None:
    """Every path once, as if drawn evenly: then the estimate has no error left."""
    small = model()
    exact = gradients(small, -likelihood(small))
    paths = every_path(small)
    even = torch.zeros_like(paths.prior).detach()
    loss = wake_sleep_loss(paths._replace(proposal=even), LABEL, control=control).loss
    torch.testing.assert_close(gradients(small, loss.sum()), exact)


def test_paths_are_drawn_as_often_as_they_are_probable() -> None:
    small = model()
    torch.manual_seed(0)
    for label in (None, LABEL):
        drawn = small(picture(), 20_000, label).places[0]  # (M, T, 2)
        numbers = (drawn[..., 0] > 0).long() + 2 * (drawn[..., 1] > 0).long()
        shares = torch.bincount(numbers[:, 0] * PLACES + numbers[:, 1], minlength=16) / 20_000
        wanted = every_path(small, label).proposal[0].exp()
        torch.testing.assert_close(shares.double(), wanted.detach(), atol=0.015, rtol=0)


def test_who_drew_nothing_of_its_own_learns_nothing() -> None:
    small = model()
    wake_sleep_loss(small(picture(), 5), LABEL).loss.sum().backward()
    assert small.inference[0].weight.grad is None
    small.zero_grad()
    wake_sleep_loss(small(picture(), 5, LABEL), LABEL).loss.sum().backward()
    assert small.inference[0].weight.grad is not None


def test_control_variates_cut_the_variance() -> None:
    small = model()
    variances = {}
    for control in (True, False):
        torch.manual_seed(0)
        draws = []
        for _ in range(150):
            loss = wake_sleep_loss(small(picture(), 5), LABEL, control=control).loss.sum()
            draws.append(gradients(small, loss, "policy"))
        variances[control] = torch.stack(draws).var(0).sum().item()
    assert variances[False] > 3 * variances[True]


def test_inference_learns_the_posterior() -> None:
    small = model()
    optimizer = torch.optim.Adam(small.inference.parameters(), 0.03)
    torch.manual_seed(0)
    for _ in range(200):
        optimizer.zero_grad()
        wake_sleep_loss(small(picture(), 50, LABEL), LABEL).loss.sum().backward()
        optimizer.step()
    paths = every_path(small, LABEL)
    told = paths.logits.log_softmax(-1)[..., int(LABEL)]
    posterior = (paths.prior + told).softmax(-1)
    distance = 0.5 * (posterior - paths.proposal.exp()).abs().sum().item()
    before = 0.5 * (posterior - every_path(model(), LABEL).proposal.exp()).abs().sum().item()
    assert distance < 0.1 < before


def test_what_is_estimated_of_the_likelihood() -> None:
    small = model()
    torch.manual_seed(0)
    found = wake_sleep_loss(small(picture(), 5000), LABEL)
    assert found.likelihood.item() == pytest.approx(likelihood(small).item(), abs=0.02)
    assert 1 <= found.effective.item() <= 5000


def test_a_posterior_that_is_drawn_from_has_even_weights() -> None:
    told = torch.randn(2, 6, 3, dtype=torch.float64)
    label = torch.tensor([0, 2])
    chance = told.log_softmax(-1)[torch.arange(2), :, label]
    prior = torch.randn(2, 6, dtype=torch.float64)
    paths = SampledPaths(torch.zeros(2, 6, 1, 2), prior, prior + chance, told)
    torch.testing.assert_close(
        wake_sleep_loss(paths, label).effective, torch.full((2,), 6.0).double()
    )


def test_probabilities_too_small_for_floats_are_weighed() -> None:
    paths = SampledPaths(
        torch.zeros(1, 2, 1, 2),
        torch.tensor([[-9000.0, -9001.0]], requires_grad=True),
        torch.tensor([[-1.0, -1.0]]),
        torch.zeros(1, 2, 3),
    )
    found = wake_sleep_loss(paths, torch.tensor([1]))
    assert found.loss.isfinite().all()
    assert found.effective.item() == pytest.approx(1 / (0.7310586**2 + 0.2689414**2), rel=1e-4)


def test_reinforce_is_the_gradient_of_the_bound() -> None:
    small = model()
    paths = every_path(small)
    told = paths.logits.log_softmax(-1)[..., int(LABEL)]
    exact = gradients(small, -(paths.prior.exp() * told).sum())
    for baseline in (True, False):
        torch.manual_seed(0)
        small.train()
        drawn = small(picture().expand(60, -1, -1, -1), 400)
        found = gradients(
            small, variational_loss(drawn, LABEL.expand(60), baseline=baseline).mean()
        )
        assert ((found - exact).norm() / exact.norm()).item() < 0.1


def test_an_answer_is_the_same_alone_and_again() -> None:
    small = model().eval()
    shown = torch.rand(4, 1, 8, 8, dtype=torch.float64)
    together = small(shown)
    torch.testing.assert_close(small(shown[2:3]).logits[0], together.logits[2])
