"""RAM: who is taught by what, and that an answer is always the same."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.models.seeing.ram import GlimpsePath, Ram, ram_loss

SMALL = {"glimpses": 3, "width": 4, "scales": 2, "size": 16, "inner": 8}


def pictures(batch: int = 4, size: int = 12) -> Tensor:
    return (
        torch.randint(0, 256, (batch, 1, size, size), generator=torch.Generator().manual_seed(1))
        / 255
    )


def model(**changes: object) -> Ram:
    torch.manual_seed(0)
    return Ram(1, 3, **{**SMALL, **changes})  # type: ignore[arg-type]


def taught(ram: Ram) -> set[str]:
    """The parts that a gradient has reached."""
    return {
        name.split(".")[0]
        for name, weight in ram.named_parameters()
        if weight.grad is not None and weight.grad.any()
    }


@pytest.mark.parametrize("core", ["plain", "lstm"])
def test_the_label_teaches_to_see_and_never_where_to_look(core: str) -> None:
    ram = model(core=core)
    path = ram(pictures(), 2)
    F.cross_entropy(path.logits.flatten(0, 1), torch.tensor([0, 1, 2, 0] * 2)).backward()
    assert taught(ram) == {"glimpse", "core", "label"}


def test_reinforce_teaches_the_policy_alone_and_the_reward_its_baseline() -> None:
    ram = model()
    path = ram(pictures(), 5)
    path.log_probs.sum().backward()
    assert taught(ram) == {"locator"}
    ram.zero_grad()
    path = ram(pictures(), 5)
    path.baselines.square().sum().backward()
    assert taught(ram) == {"expected"}


def test_the_loss_is_its_formula() -> None:
    generator = torch.Generator().manual_seed(2)

    def numbers(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    path = GlimpsePath(numbers(2, 3, 4, 2), numbers(2, 3, 4), numbers(2, 3, 4), numbers(2, 3, 5))
    label = torch.tensor([1, 4])
    found = ram_loss(path, label, weight=0.5)
    for b in range(2):
        total = 0.0
        for m in range(3):
            reward = float(path.logits[b, m].argmax() == label[b])
            total -= float(path.logits[b, m].log_softmax(0)[label[b]])
            for t in range(4):
                expected = float(path.baselines[b, m, t])
                total += (reward - expected) ** 2 / 4
                total -= 0.5 * float(path.log_probs[b, m, t]) * (reward - expected)
        assert float(found[b]) == pytest.approx(total / 3)


def test_log_probs_are_those_of_a_normal_law() -> None:
    ram = model(deviation=0.3)
    mean = torch.zeros(2, 1, 16)
    torch.manual_seed(4)
    place, chance = ram._chosen(mean)
    law = torch.distributions.Normal(ram.locator(mean).tanh(), 0.3)
    torch.testing.assert_close(chance, law.log_prob(place).sum(-1))


def test_a_policy_learns_where_the_reward_is() -> None:
    """One glimpse is chosen; what it sees does not matter, only whether it looks to the right."""
    torch.manual_seed(0)
    ram = Ram(1, 2, glimpses=2, width=2, size=8, inner=8, deviation=0.2)
    shown = torch.rand(64, 1, 6, 6)
    optimizer = torch.optim.Adam(ram.parameters(), 0.02)
    for _ in range(150):
        path = ram(shown)
        right = (path.places[:, :, 1, 0] > 0).double() * 4 - 2
        logits = torch.stack((right, -right), -1)  # the label is 0 where it looks to the right
        loss = ram_loss(path._replace(logits=logits), torch.zeros(64, dtype=torch.long)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert ram.eval()(shown).places[:, :, 1, 0].mean().item() > 0.4


@pytest.mark.parametrize("policy", ["learned", "random"])
def test_an_answer_is_the_same_alone_and_again(policy: str) -> None:
    ram, shown = model(policy=policy).eval(), pictures()
    together = ram(shown)
    for row in range(4):
        alone = ram(shown[row : row + 1])
        torch.testing.assert_close(alone.places[0], together.places[row])
        torch.testing.assert_close(alone.logits[0], together.logits[row])


def test_random_glimpses_are_elsewhere_each_time_and_teach_no_policy() -> None:
    ram = model(policy="random")
    path = ram(pictures(), 2)
    assert len({tuple(p) for p in path.places.flatten(0, 2).tolist()}) == 4 * 2 * 3
    assert not path.log_probs.any()
    ram_loss(path, torch.tensor([0, 1, 2, 0])).sum().backward()
    assert "locator" not in taught(ram)


def test_places_stay_on_the_picture() -> None:
    ram = model(deviation=5.0)
    places = ram(pictures(), 50).places
    assert float(places.abs().max()) <= 1
