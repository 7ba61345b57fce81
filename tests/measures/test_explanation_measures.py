"""Measures of attention as explanation: definitions by brute force, and cases whose answer is known."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from regard.measures.explanation_measures import (
    adversarial_attention,
    effective_width,
    entropy,
    evenly,
    jensen_shannon,
    kendall_tau,
    missing_mass,
    permuted,
    rollout,
    total_variation,
)

LN2 = math.log(2)


def distributions(*shape: int) -> Tensor:
    return torch.rand(shape).softmax(-1)


def test_entropy_and_width_of_rows_whose_answer_is_known():
    rows = torch.tensor([[0.25] * 4, [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.2, 0.2, 0, 0], [0] * 4])
    assert entropy(rows)[:4].tolist() == pytest.approx([math.log(4), 0, LN2, LN2])
    assert effective_width(rows)[:4].tolist() == pytest.approx([4, 1, 2, 2])
    assert effective_width(rows)[4].isnan()
    assert missing_mass(rows).tolist() == pytest.approx([0, 0, 0, 0.6, 1])


def test_distances_are_0_between_equals_and_greatest_between_strangers():
    p = distributions(6, 5)
    apart = torch.tensor([[0.3, 0.7, 0, 0], [0, 0, 1, 0.0]])
    for measure, most in ((total_variation, 1.0), (jensen_shannon, LN2)):
        assert measure(p, p).tolist() == pytest.approx([0] * 6, abs=1e-6)
        assert float(measure(*apart)) == pytest.approx(most)
        between = measure(p[:, None], p[None])
        torch.testing.assert_close(between, between.T)
        assert ((between >= 0) & (between <= most)).all()


def test_the_jensen_shannon_divergence_is_its_definition():
    p, q = distributions(7, 5), distributions(7, 5)
    m = (p + q) / 2
    kl = [(x * (x / m).log()).sum(-1) for x in (p, q)]
    torch.testing.assert_close(jensen_shannon(p, q), (kl[0] + kl[1]) / 2)


def test_the_gradient_of_a_divergence_is_finite_at_0():
    p = torch.tensor([1.0, 0.0, 0.0], requires_grad=True)
    jensen_shannon(p, torch.tensor([0.0, 1.0, 0.0])).backward()
    assert p.grad.isfinite().all()


def plain_tau(a: list[float], b: list[float]) -> float:
    agree = ties_a = ties_b = n = 0
    for i, j in itertools.combinations(range(len(a)), 2):
        x, y = (a[i] > a[j]) - (a[i] < a[j]), (b[i] > b[j]) - (b[i] < b[j])
        agree, n = agree + x * y, n + 1
        ties_a, ties_b = ties_a + (x == 0), ties_b + (y == 0)
    below = (n - ties_a) * (n - ties_b)
    return agree / math.sqrt(below) if below else math.nan


@pytest.mark.parametrize("pairs", [None, 0])
def test_tau_is_its_definition_with_ties_and_masks(pairs, monkeypatch):
    if pairs is not None:  # a row at a time
        monkeypatch.setattr("regard.measures.explanation_measures.MOST_PAIRS", pairs)
    a, b = torch.randint(0, 4, (40, 6)).float(), torch.randint(0, 4, (40, 6)).float()
    a[0], b[1] = 2.0, 1.0
    mask = torch.rand(40, 6) > 0.3
    mask[2] = torch.tensor([True, *[False] * 5])
    for found, real in (
        (kendall_tau(a, b), torch.ones(40, 6).bool()),
        (kendall_tau(a, b, mask), mask),
    ):
        wanted = [
            plain_tau(x[m].tolist(), y[m].tolist()) for x, y, m in zip(a, b, real, strict=True)
        ]
        assert any(math.isnan(x) for x in wanted)
        torch.testing.assert_close(found, torch.tensor(wanted), equal_nan=True)


def test_tau_of_the_same_order_is_1_and_of_the_reverse_minus_1():
    a = torch.tensor([0.1, 0.5, 0.2, 0.9])
    assert float(kendall_tau(a, a.exp())) == pytest.approx(1)
    assert float(kendall_tau(a, -a)) == pytest.approx(-1)


def test_the_rollout_of_layers_that_look_at_themselves_is_the_identity():
    eye = torch.eye(4).expand(3, 2, 4, 4)
    torch.testing.assert_close(rollout(eye), torch.eye(4))


def test_the_rollout_of_one_layer_is_half_its_mean_and_of_two_their_product():
    weights = distributions(2, 3, 4, 4)
    first, second = (0.5 * (layer.mean(0) + torch.eye(4)) for layer in weights)
    torch.testing.assert_close(rollout(weights[:1]), first)
    torch.testing.assert_close(rollout(weights), second @ first)
    torch.testing.assert_close(rollout(0.5 * weights).sum(-1), torch.ones(4))
    with pytest.raises(ValueError, match="at least one layer"):
        rollout([])


def test_even_and_permuted_weights_keep_the_mass_and_the_mask():
    weights, allowed = distributions(3, 2, 6), torch.rand(3, 2, 6) > 0.3
    allowed[..., :3] = True
    weights = 0.7 * weights.where(allowed, 0.0)
    even, others = evenly(weights, allowed), permuted(weights, allowed, 50)
    for made in (even, others):
        assert (made[~allowed.expand(made.shape)] == 0).all()
        torch.testing.assert_close(made.sum(-1), weights.sum(-1).expand(made.shape[:-1]))
    assert (even > 0).sum(-1).equal(allowed.sum(-1))
    torch.testing.assert_close(others.sort(-1).values, weights.sort(-1).values.expand(others.shape))
    assert len({tuple(row.tolist()) for row in others[:, 0, 0]}) > 3
    assert torch.equal(permuted(weights, allowed, 50), others)
    assert not torch.equal(permuted(weights, allowed, 50, seed=1), others)


def linear_reader(values: Tensor):
    """softmax(α V), the simplest model that attends: weights (..., K) -> (..., V)"""
    return lambda weights: (weights @ values).softmax(-1)


ANY = torch.ones(1, 5, dtype=torch.bool)


def test_constant_values_can_be_read_in_any_way():
    weights = distributions(3, 5) ** 3
    weights = weights / weights.sum(-1, keepdim=True)
    found = adversarial_attention(linear_reader(torch.ones(5, 4)), weights, ANY, steps=100)
    assert (found.divergence > 0.5 * LN2).all()
    torch.testing.assert_close(found.change, torch.zeros(3), atol=1e-6, rtol=0)
    torch.testing.assert_close(jensen_shannon(found.weights, weights), found.divergence)
    peaked = torch.tensor([[1.0, 0, 0, 0, 0]])
    found = adversarial_attention(linear_reader(torch.ones(5, 4)), peaked, ANY, steps=300)
    assert float(found.divergence) == pytest.approx(LN2, abs=0.01)


def test_where_one_key_decides_nothing_else_gives_the_same_answer():
    values = torch.zeros(5, 4)
    values[2, 1] = 4.0
    weights = torch.tensor([[0.05, 0.05, 0.8, 0.05, 0.05]])
    found = adversarial_attention(linear_reader(values), weights, ANY, steps=200)
    assert 0 < float(found.divergence) < 0.1
    assert float(found.change) <= 0.01


def test_keys_that_are_not_allowed_stay_out_and_the_mass_stays():
    weights = 0.5 * torch.tensor([[0.7, 0.2, 0.1, 0.0, 0.0]])
    allowed = weights > 0
    found = adversarial_attention(linear_reader(torch.ones(5, 4)), weights, allowed, steps=50)
    assert found.weights[0, 3:].tolist() == [0, 0]
    assert float(found.weights.sum()) == pytest.approx(0.5)
    assert float(found.divergence) > 0.2


def test_the_answer_stays_within_the_tolerance_and_none_found_is_the_original():
    weights, values = distributions(4, 5), 20 * torch.randn(5, 6)
    read = linear_reader(values)
    for tolerance in (0.01, 0.2):
        found = adversarial_attention(read, weights, ANY, tolerance=tolerance, steps=60)
        torch.testing.assert_close(
            total_variation(read(found.weights), read(weights)), found.change
        )
        assert (found.change <= tolerance).all()
    nothing = adversarial_attention(read, weights, ANY, tolerance=-1.0, steps=5)
    assert torch.equal(nothing.weights, weights)
    assert nothing.divergence.tolist() == [0] * 4


def test_items_with_several_rows_and_the_same_result_for_a_seed():
    weights, values = distributions(2, 3, 5), torch.randn(5, 4)
    read = lambda w: (w @ values).mean(-2).softmax(-1)  # noqa: E731
    first, second, other = (
        adversarial_attention(read, weights, ANY, steps=40, seed=seed) for seed in (0, 0, 1)
    )
    assert torch.equal(first.weights, second.weights)
    assert not torch.equal(first.weights, other.weights)
    apart = jensen_shannon(first.weights, weights).mean(-1)
    torch.testing.assert_close(apart, first.divergence)
    assert (first.divergence > 0.1).all()


def test_it_works_inside_no_grad_and_leaves_parameters_without_gradients():
    layer = torch.nn.Linear(5, 4)
    with torch.no_grad():
        adversarial_attention(lambda w: layer(w).softmax(-1), distributions(2, 5), ANY, steps=3)
    assert layer.weight.grad is None


def test_the_furthest_that_was_met_is_kept_whatever_comes_after_it():
    weights, met = distributions(1, 5), []

    def moody(tried: Tensor) -> Tensor:
        """Every answer is the same until the tenth question, and another after it."""
        met.append(tried.detach())
        answer = torch.tensor([0.0, 1.0] if len(met) < 11 else [1.0, 0.0])
        return answer + 0 * tried.sum(-1, keepdim=True)

    found = adversarial_attention(moody, weights, ANY, restarts=1, steps=20, rate=9.0)
    assert len(met) > 15
    apart = torch.stack([jensen_shannon(tried, weights).amax() for tried in met[1:10]])
    assert apart.argmax() < 8  # not the last of them
    assert float(found.divergence) == pytest.approx(float(apart.max()))
