"""What a network that names pictures is: what a picture costs it in training, and what it has seen of one.

Legend: B pictures, C channels, H, W pixels, T glimpses or windows, N warps, K labels.
"""

from __future__ import annotations

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from regard.words import t


class SeenPictures(NamedTuple):
    """The labels of pictures, and where was looked for them: None where a network does not look so."""

    logits: Tensor  # (B, K)
    places: Tensor | None = None  # (B, T, 2): the middle of each glimpse
    windows: Tensor | None = None  # (B, T, 4): x, y, δ, σ of each window, in pixels
    thetas: Tensor | None = None  # (B, N, numbers) of each warp
    seen: Tensor | None = None  # (B, N · C, H, W): the warped pictures
    expected: Tensor | None = None  # (B, T): the reward that was expected before each glimpse
    beliefs: Tensor | None = None  # (B, T, K): logits after each look; not in training
    patches: Tensor | None = None  # (B, rows, columns): what each patch weighs; it sums to 1


class Seer(nn.Module):
    """pictures (B, C, H, W) from 0 to 1 -> `SeenPictures`; outside of training it is always the same."""

    def forward(self, pictures: Tensor) -> SeenPictures:
        raise NotImplementedError(t("{kind} does not say what it sees", kind=type(self).__name__))

    def costs(self, pictures: Tensor, label: Tensor, smoothing: float = 0.0) -> Tensor:
        """(B,): what is learnt from. Here, -log p(label)."""
        logits = self(pictures).logits.float()
        return F.cross_entropy(logits, label, reduction="none", label_smoothing=smoothing)
