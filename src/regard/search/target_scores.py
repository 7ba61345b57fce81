"""The log-probabilities of translations that are given."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.layers.contracts import Decoder, Encoded
from regard.layers.special_tokens import BOS


def score(decoder: Decoder, encoded: Encoded, targets: Tensor, mask: Tensor) -> Tensor:
    """log p(y_t | y_1 … y_(t-1), source) of every token: (B, T), 0 where there is none.

    targets (B, T) are y1 … ym EOS, without BOS, then padding; mask (B, T) is True where they are real.
    The sum over a row is the `log_prob` that a search reports for these tokens.
    """
    begin = torch.full_like(targets[:, :1], BOS)
    decoded = decoder.forward(torch.cat([begin, targets[:, :-1]], 1), encoded)
    logits = decoder.project(decoded.outputs).float()
    return -F.cross_entropy(logits.mT, targets, reduction="none").masked_fill(~mask, 0.0)
