"""Glimpses trained by wake-sleep (Ba, Grosse, Salakhutdinov, Frey 2015): the likelihood itself, not a bound.

Legend: B pictures, M samples of each, T glimpses, G places in a row of the grid, D features of a state, K
labels; a = (a_1 … a_T) are the places of one sample. https://arxiv.org/abs/1509.06812
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.pictures.retina import Retina
from regard.models.seeing.ram import GlimpseNetwork, LstmCore


class SampledPaths(NamedTuple):
    """Some ways to look at each picture, and how probable they are."""

    places: Tensor  # (B, M, T, 2)
    prior: Tensor  # (B, M): log p(a | I)
    proposal: (
        Tensor  # (B, M): log q(a | y, I); where p was drawn from, that, and nothing learns from it
    )
    logits: Tensor  # (B, M, K): of log p(y | a, I)
    beliefs: Tensor | None = None  # (B, M, T, K): the same after each glimpse; not in training


class WsRam(nn.Module):
    """T glimpses at places of a G × G grid; each is drawn by a state that begins with a coarse view.

    p(a_t | a_<t, I) = softmax(W h_{t-1}); q(a_t | a_<t, y, I) = softmax(V relu(U [h_{t-1}, e_y])) sees the
    label too, and nothing but itself learns from it.
    """

    def __init__(
        self,
        channels: int,
        labels: int,
        *,
        glimpses: int = 3,
        grid: int = 7,
        width: int = 12,
        scales: int = 2,
        coarse: int = 8,
        size: int = 128,
        inner: int = 128,
    ) -> None:
        super().__init__()
        self.glimpses, self.coarse, self.labels = glimpses, coarse, labels
        self.retina = Retina(width, scales)
        self.glimpse = GlimpseNetwork(channels * scales * width**2, inner, size)
        self.core = LstmCore(size)
        self.context = nn.Linear(channels * coarse**2, size)
        self.policy = nn.Linear(size, grid**2)
        self.inference = nn.Sequential(
            nn.Linear(size + labels, inner), nn.ReLU(), nn.Linear(inner, grid**2)
        )
        self.label = nn.Linear(size, labels)
        at = (2 * torch.arange(grid) + 1) / grid - 1
        x, y = torch.meshgrid(at, at, indexing="xy")
        self.grid: Tensor
        self.register_buffer("grid", torch.stack((x, y), -1).reshape(-1, 2), persistent=False)

    def forward(
        self,
        pictures: Tensor,
        samples: int = 1,
        label: Tensor | None = None,
        *,
        chosen: Tensor | None = None,
    ) -> SampledPaths:
        """Places are drawn from q where there is a label (B,), else from p; outside of training the most
        probable ones are taken.

        chosen (B, M, T): places of the grid, by their numbers, that are taken instead.
        """
        pyramid = self.retina.pyramid(pictures)
        coarse = F.adaptive_avg_pool2d(pictures, self.coarse).flatten(1)
        first = self.context(coarse).relu()[:, None].expand(-1, samples, -1)
        state: tuple[Tensor, ...] = (first, torch.zeros_like(first))
        named = None
        if label is not None:
            each = torch.arange(self.labels, device=label.device)
            named = (label[:, None] == each).to(first)[:, None].expand(-1, samples, -1)
        places, states = [], []
        prior = proposal = first.new_zeros(())
        for t in range(self.glimpses):
            hidden = state[0]
            chances = self.policy(hidden).log_softmax(-1)
            drawn_from = chances
            if named is not None:
                seen = torch.cat((hidden.detach(), named), -1)
                drawn_from = self.inference(seen).log_softmax(-1)
            number = self._drawn(drawn_from) if chosen is None else chosen[..., t]
            prior = prior + chances.gather(-1, number[..., None]).squeeze(-1)
            proposal = proposal + drawn_from.gather(-1, number[..., None]).squeeze(-1)
            places.append(self.grid[number].to(pictures.dtype))
            state = self.core(self.glimpse(self.retina(pyramid, places[-1]), places[-1]), state)
            states.append(state[0])
        drawn = prior.detach() if label is None else proposal
        beliefs = None if self.training else self.label(torch.stack(states, 2))
        return SampledPaths(torch.stack(places, 2), prior, drawn, self.label(state[0]), beliefs)

    def _drawn(self, chances: Tensor) -> Tensor:
        """(B, M, G²) -> (B, M), by the rule of Gumbel: nothing waits for the device."""
        if not self.training:
            return chances.argmax(-1)
        waits = torch.empty_like(chances).exponential_().clamp_min_(1e-30)
        return (chances.detach() - waits.log()).argmax(-1)


class WakeSleepLoss(NamedTuple):
    loss: Tensor  # (B,): its gradient is the estimate
    likelihood: Tensor  # (B,): log p(y | I), as the samples estimate it
    effective: Tensor  # (B,): samples that count, 1 / Σ w²


def wake_sleep_loss(paths: SampledPaths, label: Tensor, *, control: bool = True) -> WakeSleepLoss:
    """Weights w ∝ p(a | I) p(y | a, I) / q(a) make samples of q samples of p(a | y, I), so that

        ∇ log p(y | I) ≈ Σ_m w_m ∇ log p(y | a_m, I) + (w_m - v_m) ∇ log p(a_m | I)
        ∇ KL(p(a | y, I) ‖ q) ≈ -Σ_m (w_m - 1/M) ∇ log q(a_m | y, I)

    control: v ∝ p(a | I) / q(a), which has the mean that it is taken from, and cuts the variance; without, v
    is 0.
    """
    samples = paths.prior.shape[1]
    wanted = label[:, None].expand(-1, samples)
    told = paths.logits.log_softmax(-1).gather(-1, wanted[..., None]).squeeze(-1)  # log p(y | a, I)
    ratio = (paths.prior - paths.proposal).detach()
    joint = ratio + told.detach()
    weights = joint.softmax(-1)
    variates = ratio.softmax(-1) if control else torch.zeros_like(ratio)
    taught = (weights * told + (weights - variates) * paths.prior).sum(-1)
    taught = taught + ((weights - 1 / samples) * paths.proposal).sum(-1)
    return WakeSleepLoss(
        -taught,
        joint.logsumexp(-1) - math.log(samples),
        1 / weights.square().sum(-1),
    )


def variational_loss(paths: SampledPaths, label: Tensor, *, baseline: bool = True) -> Tensor:
    """(B,): REINFORCE on the bound E_p [log p(y | a, I)] ≤ log p(y | I).

    baseline: the mean of the other samples of the picture, of which there must be one.
    """
    samples = paths.prior.shape[1]
    wanted = label[:, None].expand(-1, samples)
    told = paths.logits.log_softmax(-1).gather(-1, wanted[..., None]).squeeze(-1)
    gain = told.detach()
    if baseline and samples > 1:
        gain = gain - (gain.sum(-1, keepdim=True) - gain) / (samples - 1)
    return -(told + gain * paths.prior).mean(-1)
