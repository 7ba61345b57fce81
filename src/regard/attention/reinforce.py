"""The loss that trains a hard attention: the score-function estimator, with a baseline."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from regard.words import t


class Chosen(Protocol):
    @property
    def index(self) -> Tensor: ...
    @property
    def log_prob(self) -> Tensor: ...
    @property
    def entropy(self) -> Tensor: ...


class MovingAverage(nn.Module):
    """b <- decay · b + (1 - decay) · mean(R), updated when training. The first reward starts it."""

    value: Tensor
    seen: Tensor

    def __init__(self, decay: float = 0.9) -> None:
        super().__init__()
        self.decay = decay
        self.register_buffer("value", torch.zeros(()))
        self.register_buffer("seen", torch.zeros((), dtype=torch.bool))

    @torch.no_grad()
    def update(self, reward: Tensor) -> None:
        mean = reward.mean().to(self.value)
        decayed = self.decay * self.value + (1 - self.decay) * mean
        self.value.copy_(torch.where(self.seen, decayed, mean))
        self.seen.fill_(True)


class Reinforce(nn.Module):
    """loss = -(R - b) · log α_a - entropy · H(α), averaged over the choices; R and b are detached.

    reward R: (..., Lq), one for each choice (an axis may be 1), or (...), one for a row of choices.
    baseline: "moving" (a `MovingAverage`), None, or a module of your own that maps `features`
    (what is known before the choice, such as the query) to (..., Lq) or (..., Lq, 1); it is trained
    by its squared error, which is added to the loss, and gets no gradient from the policy's.

    >>> attended = regard.attend(query, key, normalize="hard", training=True)
    >>> loss = -log_likelihood.mean() + reinforce(attended.choice, reward=log_likelihood)
    """

    def __init__(
        self,
        baseline: nn.Module | str | None = "moving",
        *,
        decay: float = 0.9,
        entropy: float = 0.0,
    ) -> None:
        super().__init__()
        if isinstance(baseline, str):
            if baseline != "moving":
                raise ValueError(
                    t(
                        "baseline must be 'moving', a module or None, not {baseline}",
                        baseline=repr(baseline),
                    )
                )
            baseline = MovingAverage(decay)
        self.baseline, self.entropy = baseline, entropy

    def forward(self, choice: Chosen, reward: Tensor, features: Tensor | None = None) -> Tensor:
        log_prob = choice.log_prob
        each = reward.detach() if reward.dim() == log_prob.dim() else reward.detach()[..., None]
        try:
            reward = each.expand(log_prob.shape)
        except RuntimeError:
            raise ValueError(
                t(
                    "the reward must be one for each choice {log_prob_shape} or one for each row "
                    "{value}, given {reward_shape}",
                    log_prob_shape=tuple(log_prob.shape),
                    value=tuple(log_prob.shape[:-1]),
                    reward_shape=tuple(reward.shape),
                )
            ) from None
        if each.dim() != log_prob.dim():
            raise ValueError(
                t(
                    "a reward of {dim} axes does not fit choices {log_prob_shape}",
                    dim=reward.dim(),
                    log_prob_shape=tuple(log_prob.shape),
                )
            )
        made = choice.index >= 0  # a query with no allowed key chose nothing
        count = made.sum().clamp(min=1)
        baseline, fit = self._baseline(reward, made, count, features)
        policy = -(reward - baseline) * log_prob - self.entropy * choice.entropy
        return policy.masked_fill(~made, 0.0).sum() / count + fit

    def _baseline(
        self, reward: Tensor, made: Tensor, count: Tensor, features: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The baseline (detached), and the loss that trains it."""
        zero = reward.new_zeros(())
        if self.baseline is None:
            return zero, zero
        if isinstance(self.baseline, MovingAverage):
            value = self.baseline.value.clone()
            if self.training and bool(made.any()):
                self.baseline.update(reward[made])
            return value.to(reward), zero
        if features is None:
            raise ValueError(
                t("a learned baseline needs features=, what is known before the choice")
            )
        guess = self.baseline(features)
        guess = guess.squeeze(-1) if guess.dim() == reward.dim() + 1 else guess
        error = (guess - reward).square().masked_fill(~made, 0.0)
        return guess.detach(), error.sum() / count
