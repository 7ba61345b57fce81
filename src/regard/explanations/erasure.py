"""Taking tokens out: is an answer lost without those that an explanation names, and kept by them alone?

    comprehensiveness = mean over k of p(y | x) - p(y | x without r_k)     large: they were needed
    sufficiency       = mean over k of p(y | x) - p(y | r_k alone)         small: they are enough

— DeYoung et al. 2020 (ERASER), https://arxiv.org/abs/1911.03429: r_k are the most important k % of the
tokens, for k = 1, 5, 10, 20 and 50, rounded up to whole tokens. Legend: Q answers, K keys, B shares.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

PERCENT = (1, 5, 10, 20, 50)


def rationales(importance: Tensor, erasable: Tensor, percent: Sequence[int] = PERCENT) -> Tensor:
    """The most important tokens, of those that may be taken out: (Q, K), bool (Q, K) -> bool (B, Q, K)

    Among equals the first. A number that is none (NaN) is the least important.
    """
    least = torch.full_like(importance, -torch.inf)
    known = importance.where(erasable & ~importance.isnan(), least)
    order = known.argsort(dim=-1, descending=True, stable=True)
    # what may not be taken out comes last, behind those that are -inf themselves
    order = order.gather(-1, (~erasable).gather(-1, order).byte().argsort(dim=-1, stable=True))
    place = order.argsort(dim=-1)
    count = erasable.sum(-1, keepdim=True)
    return torch.stack([(place < -(-count * k // 100)) & erasable for k in percent])


def comprehensiveness(whole: Tensor, without: Tensor) -> Tensor:
    """p(y | x) (Q,) and p(y | x without r_k) (B, Q) -> (Q,)"""
    return (whole - without).mean(0)


def sufficiency(whole: Tensor, alone: Tensor) -> Tensor:
    """p(y | x) (Q,) and p(y | r_k alone) (B, Q) -> (Q,)"""
    return (whole - alone).mean(0)
