"""Normalisers: limits, known answers, and the statistics of those that draw."""

from __future__ import annotations

import math

import pytest
import torch

import regard
from regard.normalizers import Gumbel, Hard, MovingAverage, Raw, Reinforce, Softmax, Sparsemax


def test_temperature_zero_is_a_look_up_and_infinity_the_mean():
    query, key, value = torch.randn(2, 3, 4), torch.randn(2, 6, 4), torch.randn(2, 6, 5)
    best = (query @ key.mT).argmax(-1)
    looked_up = torch.stack([value[b, best[b]] for b in range(2)])
    mean = value.mean(1, keepdim=True).expand(2, 3, 5)
    mask = torch.ones(2, 1, 6, dtype=torch.bool)
    for options in ({}, {"weights": True}, {"mask": mask}, {"mask": mask, "weights": True}):
        for cold in (1e-4, 1e-30):
            context = regard.attend(query, key, value, normalize=Softmax(cold), **options).context
            torch.testing.assert_close(context, looked_up)
        for hot in (1e5, math.inf):
            context = regard.attend(query, key, value, normalize=Softmax(hot), **options).context
            torch.testing.assert_close(context, mean, atol=1e-4, rtol=1e-4)
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="above 0"):
            Softmax(wrong)


def test_sparsemax_is_the_nearest_point_of_the_simplex():
    scores = torch.randn(50, 6, dtype=torch.float64) * 2
    weights, _ = Sparsemax()(scores)
    torch.testing.assert_close(weights.sum(-1), torch.ones(50, dtype=torch.float64))
    assert (weights == 0).any()
    distance = (weights - scores).square().sum(-1)
    for _ in range(200):  # no other point of the simplex is nearer
        other = torch.distributions.Dirichlet(torch.full((6,), 0.3, dtype=torch.float64)).sample(
            (50,)
        )
        assert ((other - scores).square().sum(-1) >= distance - 1e-12).all()
    known, _ = Sparsemax()(torch.tensor([[0.1, 1.1, 0.2, 0.3]]))
    torch.testing.assert_close(known, torch.tensor([[0.0, 0.9, 0.0, 0.1]]))


def test_hard_with_one_hot_weights_equals_soft():
    query, key = torch.eye(5)[None] * 100, torch.eye(5)[None]
    value = torch.randn(1, 5, 3)
    soft = regard.attend(query, key, value, score="dot").context
    for training in (False, True):
        hard = regard.attend(query, key, value, score="dot", normalize="hard", training=training)
        torch.testing.assert_close(hard.context, soft)
        assert hard.choice.index.tolist() == [[0, 1, 2, 3, 4]]
        torch.testing.assert_close(hard.choice.log_prob, torch.zeros(1, 5))


def test_hard_picks_the_best_key_in_evaluation_and_says_how_likely_it_was():
    query, key = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    mask = torch.ones(2, 1, 5, dtype=torch.bool)
    mask[1] = False
    soft = regard.attend(query, key, mask=mask, weights=True).weights
    hard = regard.attend(query, key, mask=mask, normalize="hard", weights=True)
    assert torch.equal(hard.choice.index[0], soft[0].argmax(-1))
    torch.testing.assert_close(hard.choice.log_prob[0], soft[0].max(-1).values.log())
    entropy = -(soft[0] * soft[0].log()).sum(-1)
    torch.testing.assert_close(hard.choice.entropy[0], entropy)
    assert hard.choice.index[1].tolist() == [-1, -1, -1]
    assert not hard.choice.log_prob[1].any()
    assert not hard.weights[1].any()
    assert torch.equal(hard.weights[0].argmax(-1), hard.choice.index[0])
    assert regard.attend(query, key).choice is None


def test_a_hard_place_with_a_soft_window_lies_between_hard_and_soft():
    query, key = torch.randn(2, 3, 4), torch.randn(2, 7, 4)
    soft = regard.attend(query, key, weights=True).weights
    for window, same in ((0, "hard"), (7, "softmax")):
        here = regard.attend(query, key, normalize=Hard(window), weights=True).weights
        there = regard.attend(query, key, normalize=same, weights=True).weights
        torch.testing.assert_close(here, there)
    found = regard.attend(query, key, normalize="hard(2)", weights=True)
    near = (torch.arange(7) - soft.argmax(-1, keepdim=True)).abs() <= 2
    wanted = soft * near
    torch.testing.assert_close(found.weights, wanted / wanted.sum(-1, keepdim=True))
    torch.testing.assert_close(found.choice.log_prob, soft.amax(-1).log())
    mask = torch.ones(2, 1, 7, dtype=torch.bool)
    mask[0, :, 3:] = mask[1] = False
    masked = regard.attend(query, key, mask=mask, normalize=Hard(2), weights=True)
    torch.testing.assert_close(masked.weights[0].sum(-1), torch.ones(3))
    assert not masked.weights[0, :, 3:].any()
    assert not masked.weights[1].any()
    with pytest.raises(ValueError, match="0 keys or more, not -1"):
        regard.attend(query, key, normalize="hard(-1)")


def test_the_place_and_the_window_about_it_have_their_exact_gradients_together():
    """∇ Σ_a α_a f(weights about a): through the weights in the window, and by the reward for the place."""
    torch.manual_seed(0)
    scores = torch.randn(6, dtype=torch.float64, requires_grad=True)
    reward = torch.randn(6, dtype=torch.float64)
    alpha, keys = scores.softmax(-1), torch.arange(6)
    about = [scores.masked_fill((keys - a).abs() > 1, -torch.inf).softmax(-1) for a in range(6)]
    exact = torch.autograd.grad((alpha * (torch.stack(about) @ reward)).sum(), scores)[0]
    rows = scores.expand(400_000, 6)
    weights, choice = Hard(1)(rows, training=True, generator=torch.Generator().manual_seed(1))
    got = weights @ reward
    loss = -got.mean() + Reinforce(None)(choice, got.detach())
    estimate = -torch.autograd.grad(loss, scores)[0]
    assert (estimate - exact).norm() < 0.02 * exact.norm()


# the 99.9 % points of χ² with 4 degrees of freedom
CHI_SQUARE_4 = 18.47


@pytest.mark.parametrize("normalize", [Hard(), Gumbel(1.0, straight_through=True), Gumbel(1e-3)])
def test_draws_have_the_frequencies_of_the_softmax(normalize):
    scores = torch.tensor([0.5, -1.0, 1.5, 0.0, 0.7])
    count, generator = 40_000, torch.Generator().manual_seed(11)
    weights, choice = normalize(scores.expand(count, 1, 5), training=True, generator=generator)
    drawn = weights.detach().squeeze(1)
    torch.testing.assert_close(
        drawn.max(-1).values, torch.ones(count), atol=0.02, rtol=0
    ) if not isinstance(normalize, Gumbel) else None
    observed = torch.bincount(drawn.argmax(-1), minlength=5)
    wanted = torch.softmax(scores, 0) * count
    assert ((observed - wanted).square() / wanted).sum() < CHI_SQUARE_4
    if choice is not None:
        torch.testing.assert_close(
            choice.log_prob.squeeze(1), torch.log_softmax(scores, 0)[choice.index.squeeze(1)]
        )


def test_straight_through_is_one_hot_forward_and_relaxed_backward():
    scores = torch.randn(3, 2, 5, requires_grad=True)
    make = [Gumbel(0.7, straight_through=s) for s in (True, False)]
    grads = []
    for normalize in make:
        generator = torch.Generator().manual_seed(5)
        weights, _ = normalize(scores, training=True, generator=generator)
        grads.append(torch.autograd.grad((weights * torch.arange(5.0)).sum(), scores)[0])
        if normalize.straight_through:
            torch.testing.assert_close(weights.sort(-1).values[..., -1], torch.ones(3, 2))
            assert (weights.detach().abs() > 1e-6).sum(-1).eq(1).all()
    torch.testing.assert_close(grads[0], grads[1])


class TestReinforce:
    """A toy of 5 keys with rewards R_i: the exact gradient is that of Σ α_i R_i."""

    scores = torch.tensor([0.2, -0.5, 0.9, 0.0, 0.4], dtype=torch.float64)
    rewards = torch.tensor([3.0, 1.0, 2.0, 5.0, 2.5], dtype=torch.float64)

    def exact(self) -> torch.Tensor:
        logits = self.scores.clone().requires_grad_()
        (torch.softmax(logits, 0) @ self.rewards).backward()
        return logits.grad

    def samples(self, baseline, count: int) -> torch.Tensor:
        """One estimate of the gradient for each draw: (count, 5)."""
        logits = self.scores.expand(count, 1, 5).clone().requires_grad_()
        generator = torch.Generator().manual_seed(1)
        _, choice = Hard()(logits, training=True, generator=generator)
        reward = self.rewards[choice.index]
        loss = Reinforce(baseline)
        loss.train(False)
        loss(choice, reward, features=torch.ones(count, 1, 1, dtype=torch.float64)).backward()
        return -logits.grad.squeeze(1) * count

    def test_the_estimate_matches_the_exact_gradient(self):
        estimate = self.samples(None, 400_000).mean(0)
        assert (estimate - self.exact()).norm() < 0.02 * self.exact().norm()

    def test_a_baseline_lowers_the_variance_and_keeps_the_mean(self):
        average = MovingAverage()
        average.update(torch.softmax(self.scores, 0) @ self.rewards)
        learned = torch.nn.Linear(1, 1, bias=False).double()
        torch.nn.init.constant_(learned.weight, 2.7)
        plain = self.samples(None, 100_000)
        for baseline in (average, learned):
            with_baseline = self.samples(baseline, 100_000)
            assert with_baseline.var(0).sum() < 0.3 * plain.var(0).sum()
            assert (with_baseline.mean(0) - self.exact()).norm() < 0.02 * self.exact().norm()

    def test_the_moving_average_follows_the_reward(self):
        loss = Reinforce("moving", decay=0.9)
        _, choice = Hard()(torch.randn(4, 1, 5), training=True)
        loss(choice, torch.full((4, 1), 2.0))
        assert loss.baseline.value == 2.0
        loss(choice, torch.full((4, 1), 3.0))
        torch.testing.assert_close(loss.baseline.value, torch.tensor(0.9 * 2 + 0.1 * 3))
        loss.eval()
        loss(choice, torch.full((4, 1), 9.0))
        torch.testing.assert_close(loss.baseline.value, torch.tensor(2.1))

    def test_policy_and_baseline_do_not_train_each_other(self):
        """The baseline is detached in the advantage, and the reward carries no gradient."""
        logits = torch.randn(4, 1, 5, requires_grad=True)
        features = torch.randn(4, 1, 3)
        baseline = torch.nn.Linear(3, 1)
        loss = Reinforce(baseline)
        _, choice = Hard()(logits, training=True)
        reward = torch.randn(4, 1, requires_grad=True)
        loss(choice, reward, features).backward()
        assert reward.grad is None
        guess = torch.nn.functional.linear(
            features, baseline.weight.detach(), baseline.bias.detach()
        )
        fit = torch.nn.Linear(3, 1)
        fit.load_state_dict(baseline.state_dict())
        (fit(features).squeeze(-1) - reward.detach()).square().mean().backward()
        torch.testing.assert_close(baseline.weight.grad, fit.weight.grad)
        advantage = reward.detach() - guess.squeeze(-1)
        one_hot = torch.nn.functional.one_hot(choice.index, 5).float()
        slope = -(advantage[..., None] * (one_hot - torch.softmax(logits.detach(), -1))) / 4
        torch.testing.assert_close(logits.grad, slope)

    def test_the_entropy_term_flattens(self):
        logits = torch.tensor([[[2.0, 0.0, -1.0]]], requires_grad=True)
        _, choice = Hard()(logits, training=True)
        Reinforce(None, entropy=1.0)(choice, torch.zeros(1, 1)).backward()
        assert logits.grad[0, 0, 0] > 0  # descending lowers the largest score

    def test_rows_without_keys_count_for_nothing(self):
        logits = torch.randn(2, 1, 4, requires_grad=True)
        allowed = torch.tensor([[[True] * 4], [[False] * 4]])
        _, choice = Hard()(logits, allowed, training=True)
        loss = Reinforce(None)(choice, torch.tensor([[1.0], [1e9]]))
        torch.testing.assert_close(loss, -choice.log_prob[0, 0])

    def test_a_reward_for_a_row_is_not_one_for_a_place(self):
        """(B,) with B = Lq must not be spread along the queries."""
        _, choice = Hard()(torch.randn(3, 3, 4), training=True)
        reward = torch.tensor([1.0, 2.0, 3.0])
        by_row = Reinforce(None)(choice, reward)
        torch.testing.assert_close(by_row, Reinforce(None)(choice, reward[:, None]))
        torch.testing.assert_close(by_row, -(reward[:, None] * choice.log_prob).mean())

    def test_wrong_arguments(self):
        _, choice = Hard()(torch.randn(4, 1, 5), training=True)
        with pytest.raises(ValueError, match=r"each choice \(4, 1\).* row \(4,\), given \(3,\)"):
            Reinforce()(choice, torch.zeros(3))
        with pytest.raises(ValueError, match="axes does not fit"):
            Reinforce()(choice, torch.zeros(()))
        with pytest.raises(ValueError, match="needs features="):
            Reinforce(torch.nn.Linear(3, 1))(choice, torch.zeros(4, 1))
        with pytest.raises(ValueError, match="'moving', a module or None"):
            Reinforce("average")


def test_the_log_probability_has_a_gradient():
    """A sample that is not detached in its own log-probability gives exactly 0."""
    logits = torch.randn(2, 3, 5, requires_grad=True)
    _, choice = Hard()(logits, training=True)
    choice.log_prob.sum().backward()
    assert (logits.grad.abs().sum(-1) > 0).all()


def test_raw_weights_are_the_scores():
    query, key = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    weights = regard.attend(query, key, score="dot", normalize=Raw(), weights=True).weights
    torch.testing.assert_close(weights, query @ key.mT)
