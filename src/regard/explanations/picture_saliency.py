"""Attention over patches beside saliency: do the weights say what the answer depends on?

    found = picture_saliency(model, pictures)           # a PatchSeer, and scenes (B, C, H, W)
    rank_agreement(found.attention, found.occlusion)    # Spearman's ρ of each picture

Legend: B pictures, C channels, H, W pixels, P patches (rows · columns), K labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.measures.correlation import ranks
from regard.models.seeing.patches import PatchSeer

DRAWS = 10_000  # of a bootstrap


class PatchSaliency(NamedTuple):
    """What each patch is worth to the answer of its picture, four times."""

    attention: Tensor  # (B, P): α
    gradient: Tensor  # (B, P): Σ |∂ log p(y) / ∂ x| over the patch (Simonyan et al. 2014)
    gradient_input: Tensor  # (B, P): |Σ x · ∂ log p(y) / ∂ x|
    occlusion: Tensor  # (B, P): p(y) - p(y if the patch were black)


class Agreement(NamedTuple):
    """A mean over pictures, and where a bootstrap of pictures has 95 of 100 means."""

    mean: float
    low: float
    high: float
    pictures: int  # those whose numbers have an order at all


def picture_saliency(model: PatchSeer, pictures: Tensor) -> PatchSaliency:
    """Of the likeliest label of each picture. The model is asked as it is: in eval, without dropout."""
    width = model.encoder.width
    shown = pictures.detach().requires_grad_()
    with torch.enable_grad():
        seen = model(shown)
        log_probs = seen.logits.log_softmax(-1)
        answers = log_probs.argmax(-1)
        chosen = log_probs.gather(1, answers[:, None])
        (slopes,) = torch.autograd.grad(chosen.sum(), shown)
    assert seen.patches is not None
    return PatchSaliency(
        seen.patches.detach().flatten(1),
        _over_patches(slopes.abs(), width),
        _over_patches(slopes * pictures, width).abs(),
        _occlusion(model, pictures, answers, chosen.detach().exp()),
    )


@torch.no_grad()
def _occlusion(model: PatchSeer, pictures: Tensor, answers: Tensor, had: Tensor) -> Tensor:
    """(B, P): what an answer loses without each patch, one after the other."""
    height, across = pictures.shape[-2:]
    width, losses = model.encoder.width, []
    for top in range(0, height, width):
        for left in range(0, across, width):
            without = pictures.clone()
            without[..., top : top + width, left : left + width] = 0
            chances = model(without).logits.softmax(-1).gather(1, answers[:, None])
            losses.append(had - chances)
    return torch.cat(losses, 1)


def _over_patches(pixels: Tensor, width: int) -> Tensor:
    """(B, C, H, W) -> (B, P): sums over patches, row by row; what is beyond the picture counts as 0."""
    sums = F.avg_pool2d(
        F.pad(
            pixels.sum(1, keepdim=True),
            (0, -pixels.shape[-1] % width, 0, -pixels.shape[-2] % width),
        ),
        width,
        divisor_override=1,
    )
    return sums.flatten(1)


def rank_agreement(first: Tensor, second: Tensor) -> NDArray[np.float64]:
    """Spearman's ρ of each row: (B, P), (B, P) -> (B,); NaN where one of them orders nothing"""
    pairs = zip(first.double().cpu().numpy(), second.double().cpu().numpy(), strict=True)
    return np.array([_spearman(one, other) for one, other in pairs])


def _spearman(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    a, b = (ranks(numbers) - (len(numbers) + 1) / 2 for numbers in (one, other))
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else float("nan")


def mean_agreement(values: NDArray[np.float64], *, seed: int = 0) -> Agreement:
    """The mean over pictures, with its interval."""
    kept = values[~np.isnan(values)]
    if not len(kept):
        nothing = float("nan")
        return Agreement(nothing, nothing, nothing, 0)
    draw = np.random.default_rng(seed)
    # means of multinomial counts: the same as of pictures drawn with replacement
    shares = draw.multinomial(len(kept), np.full(len(kept), 1 / len(kept)), DRAWS) / len(kept)
    low, high = np.quantile(shares @ kept, (0.025, 0.975))
    return Agreement(float(kept.mean()), float(low), float(high), len(kept))
