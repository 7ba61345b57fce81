"""The recurrent model of visual attention (Mnih et al. 2014): a picture is read by a few glimpses.

Legend: B pictures, M copies of each that look for themselves, T glimpses, C channels, D features of a
state, K labels. https://arxiv.org/abs/1406.6247
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.pictures.draws import keys_of, uniform
from regard.layers.pictures.retina import Pyramid, Retina


class GlimpsePath(NamedTuple):
    """Where was looked, and what came of it."""

    places: Tensor  # (B, M, T, 2)
    log_probs: Tensor  # (B, M, T): of each place by the policy; 0 where it did not choose
    baselines: Tensor  # (B, M, T): the reward that is expected before each glimpse
    logits: Tensor  # (B, M, K) after the last glimpse
    beliefs: Tensor | None = None  # (B, M, T, K): logits after each one; not in training


class GlimpseNetwork(nn.Module):
    """g = relu(W relu(U ρ) + V relu(L l)): what is seen, and where.

    (B, M, C · scales, g, g) and (B, M, 2) -> (B, M, D)
    """

    def __init__(self, pixels: int, inner: int, size: int) -> None:
        super().__init__()
        self.what, self.where = nn.Linear(pixels, inner), nn.Linear(2, inner)
        self.seen, self.placed = nn.Linear(inner, size), nn.Linear(inner, size)

    def forward(self, glimpse: Tensor, places: Tensor) -> Tensor:
        what, where = self.what(glimpse.flatten(2)).relu(), self.where(places).relu()
        return (self.seen(what) + self.placed(where)).relu()


class PlainCore(nn.Module):
    """h_t = relu(W h_{t-1} + U g_t)"""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.before, self.now = nn.Linear(size, size), nn.Linear(size, size)

    def start(self, like: Tensor) -> tuple[Tensor, ...]:
        return (torch.zeros_like(like),)

    def forward(self, seen: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return ((self.before(state[0]) + self.now(seen)).relu(),)


class LstmCore(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(size, size)

    def start(self, like: Tensor) -> tuple[Tensor, ...]:
        return torch.zeros_like(like), torch.zeros_like(like)

    def forward(self, seen: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        lead = seen.shape[:-1]
        flat = tuple(each.flatten(0, -2) for each in state)
        return tuple(x.unflatten(0, lead) for x in self.cell(seen.flatten(0, -2), flat))


class Ram(nn.Module):
    """T glimpses, each where the one before told; the label after the last.

    The places are drawn from N(μ_t, σ²), μ_t = tanh(W h_{t-1}), the first one anywhere. Only the label's
    loss reaches what is seen, and only REINFORCE the policy: states are detached before it, and places before
    they are looked at. Outside of training the policy takes μ_t, and the first place is drawn by the picture
    itself, so that an answer is always the same.

    policy "random": all places are drawn as the first one, which learns to see but not where to look.
    """

    def __init__(
        self,
        channels: int,
        labels: int,
        *,
        glimpses: int = 6,
        width: int = 8,
        scales: int = 1,
        size: int = 256,
        inner: int = 128,
        core: Literal["plain", "lstm"] = "plain",
        policy: Literal["learned", "random"] = "learned",
        deviation: float = 0.1,
    ) -> None:
        super().__init__()
        self.glimpses, self.size, self.policy, self.deviation = glimpses, size, policy, deviation
        self.retina = Retina(width, scales)
        self.glimpse = GlimpseNetwork(channels * scales * width**2, inner, size)
        self.core = PlainCore(size) if core == "plain" else LstmCore(size)
        self.locator, self.expected = nn.Linear(size, 2), nn.Linear(size, 1)
        self.label = nn.Linear(size, labels)

    def forward(self, pictures: Tensor, copies: int = 1) -> GlimpsePath:
        """pictures (B, C, H, W) from 0 to 1"""
        pyramid = self.retina.pyramid(pictures)
        place = self._anywhere(pictures, copies, 0)
        state = self.core.start(place.new_zeros(*place.shape[:2], self.size))
        places, log_probs, baselines, states = [], [], [], []
        for t in range(self.glimpses):
            hidden = state[0].detach()
            baselines.append(self.expected(hidden).squeeze(-1))
            chance = baselines[-1].new_zeros(())
            if t and self.policy == "learned":
                place, chance = self._chosen(hidden)
            elif t:
                place = self._anywhere(pictures, copies, t)
            places.append(place)
            log_probs.append(chance.expand(place.shape[:2]))
            state = self.look(pyramid, place, state)
            states.append(state[0])
        return GlimpsePath(
            torch.stack(places, 2),
            torch.stack(log_probs, 2),
            torch.stack(baselines, 2),
            self.label(state[0]),
            None if self.training else self.label(torch.stack(states, 2)),
        )

    def look(
        self, pyramid: Pyramid, place: Tensor, state: tuple[Tensor, ...]
    ) -> tuple[Tensor, ...]:
        """One glimpse at (B, M, 2), and the state after it."""
        after: tuple[Tensor, ...] = self.core(
            self.glimpse(self.retina(pyramid, place), place), state
        )
        return after

    def _chosen(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """A place (B, M, 2) and its log-probability (B, M)."""
        mean = self.locator(hidden).tanh()
        if not self.training:
            return mean, mean.new_zeros(mean.shape[:2])
        drawn = (mean + self.deviation * torch.randn_like(mean)).detach()
        off = (drawn - mean) / self.deviation
        constant = math.log(self.deviation) + 0.5 * math.log(2 * math.pi)
        return drawn.clamp(-1, 1), (-0.5 * off.square() - constant).sum(-1)

    def _anywhere(self, pictures: Tensor, copies: int, number: int) -> Tensor:
        """(B, M, 2)"""
        count = len(pictures)
        if self.training:
            return 2 * torch.rand(count, copies, 2, device=pictures.device).to(pictures) - 1
        drawn = uniform(keys_of(pictures, number), 2 * copies).to(pictures)
        return 2 * drawn.unflatten(1, (copies, 2)) - 1


def ram_loss(
    path: GlimpsePath,
    label: Tensor,
    *,
    weight: float = 1.0,
    baseline: bool = True,
    smoothing: float = 0.0,
) -> Tensor:
    """(B,): what a picture costs, a mean over its copies.

        -log p(y) + Σ_t (R - b_t)² / T - weight · Σ_t log π(l_t) (R - b_t),  R = 1 where the label is right

    Each of the three reaches other weights: those that see, the baseline, and the policy. baseline: without
    it the policy learns from R itself. smoothing: of the label.
    """
    copies, steps = path.log_probs.shape[1:]
    wanted = label[:, None].expand(-1, copies)
    logits = path.logits.float() if path.logits.dtype != torch.float64 else path.logits
    seen = F.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), reduction="none", label_smoothing=smoothing
    )
    reward = (logits.argmax(-1) == wanted).to(logits.dtype)[..., None]  # (B, M, 1)
    missed = reward - path.baselines
    gain = missed.detach() if baseline else reward
    policy = -(path.log_probs * gain).sum(-1)
    return (seen.view_as(policy) + missed.square().sum(-1) / steps + weight * policy).mean(-1)
