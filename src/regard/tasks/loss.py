"""What a wrong token costs."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.data.tokenizer import BOS, PAD

NEVER_PREDICTED = [PAD, BOS]


def smoothed_cross_entropy(logits: Tensor, wanted: Tensor, smoothing: float = 0.0) -> Tensor:
    """Σ over the tokens of  -(1 - ε) log p(wanted) - ε/(V - 2) Σ_v log p(v)

    logits (M, V), wanted (M,) -> a sum, not a mean. v runs over all tokens that can be an output:
    smoothing gives nothing to PAD and BOS. — Szegedy et al. 2016, https://arxiv.org/abs/1512.00567
    """
    logits = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    if not smoothing:
        return F.cross_entropy(logits, wanted, reduction="sum")
    if logits.dtype == torch.float64:  # the definition, which can be differentiated twice
        log_probs = logits.log_softmax(-1)
        likelihood = log_probs.gather(-1, wanted[:, None]).sum()
        spread = log_probs.sum() - log_probs[:, NEVER_PREDICTED].sum()
        return -(1 - smoothing) * likelihood - smoothing / (logits.shape[-1] - 2) * spread
    return _Smoothed.apply(logits, wanted, smoothing)


class _Smoothed(torch.autograd.Function):
    """The same in six quick passes over the logits, half the time of autograd's."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, wanted: Tensor, smoothing: float) -> Tensor:
        probabilities = logits.softmax(-1)
        # log Σ exp, from the largest logit and its probability, which is never 0
        normalizer = logits.amax(-1) - probabilities.amax(-1).log()
        likelihood = logits.gather(-1, wanted[:, None]).sum() - normalizer.sum()
        outputs = logits.shape[-1] - len(NEVER_PREDICTED)
        spread = logits.sum() - logits[:, NEVER_PREDICTED].sum() - outputs * normalizer.sum()
        ctx.save_for_backward(probabilities, wanted)
        ctx.smoothing = smoothing
        return -(1 - smoothing) * likelihood - smoothing / outputs * spread

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        probabilities, wanted = ctx.saved_tensors
        each = grad * (ctx.smoothing / (probabilities.shape[-1] - len(NEVER_PREDICTED)))
        of_logits = (probabilities * grad).sub_(each)
        of_logits[:, NEVER_PREDICTED] += each
        rows = torch.arange(len(wanted), device=wanted.device)
        of_logits[rows, wanted] -= grad * (1 - ctx.smoothing)
        return of_logits, None, None


def masked_cross_entropy(
    logits: Tensor, wanted: Tensor, scored: Tensor, smoothing: float = 0.0
) -> Tensor:
    """`smoothed_cross_entropy` of the rows that are scored (M,), the others counted as 0.

    No shape depends on how many are scored, and nothing is read by Python: the work of a batch can be
    recorded once and replayed for all batches of its shape.
    """
    return _Masked.apply(logits, wanted, scored, smoothing)


class _Masked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, wanted: Tensor, scored: Tensor, smoothing: float
    ) -> Tensor:
        exact = torch.promote_types(logits.dtype, torch.float32)
        probabilities = logits.softmax(-1, dtype=exact)
        # log Σ exp, from the largest logit and its probability, which is never 0
        normalizer = logits.amax(-1).to(exact) - probabilities.amax(-1).log()
        likelihood = logits.gather(-1, wanted[:, None]).squeeze(-1).to(exact) - normalizer
        losses = -(1 - smoothing) * likelihood
        if smoothing:
            outputs = logits.shape[-1] - len(NEVER_PREDICTED)
            spread = logits.sum(-1, dtype=exact) - outputs * normalizer
            for token in NEVER_PREDICTED:
                spread = spread - logits[:, token]
            losses = losses - smoothing / outputs * spread
        ctx.save_for_backward(probabilities, wanted, scored)
        ctx.smoothing, ctx.dtype = smoothing, logits.dtype
        return losses.masked_fill(~scored, 0.0).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        probabilities, wanted, scored = ctx.saved_tensors
        rows = (grad * scored).to(probabilities.dtype)[:, None]  # (M, 1)
        of_logits = probabilities * rows
        if ctx.smoothing:
            each = rows * (ctx.smoothing / (probabilities.shape[-1] - len(NEVER_PREDICTED)))
            of_logits -= each
            for token in NEVER_PREDICTED:
                of_logits[:, token] += each[:, 0]
        of_logits.scatter_add_(1, wanted[:, None], rows * (ctx.smoothing - 1))
        return of_logits.to(ctx.dtype), None, None, None
