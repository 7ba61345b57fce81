"""Biases by position as one number for each key, for causal attention: O(L) of them instead of O(L²).

What is added to a whole row of scores cancels in its softmax. So a bias that is a difference of two terms,
one of the query and one of the key, is the same as the key's term alone, wherever no later key is seen:

    regard.attend(q, k, v, region="causal", bias=regard.biases.alibi(heads, k.shape[-2]))

That holds for a softmax without sinks. Scores and biases meet in float32: at 4,096 keys the largest slope,
1/2, leaves an error of 1e-4 in a score.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.words import t


def slopes(heads: int) -> list[float]:
    """m_h = 2^(−8h / H), h = 1 … H; of the power of two below H, and others in between, if H is none."""
    below = 1 << (heads.bit_length() - 1)
    first = [2.0 ** (-8 * h / below) for h in range(1, below + 1)]
    between = [2.0 ** (-4 * h / below) for h in range(1, 2 * (heads - below), 2)]
    return first + between


def alibi(heads: int, keys: int, *, device: torch.device | str | None = None) -> Tensor:
    """−m_h (i − j) for j <= i, without its rows: m_h (j − last), (heads, 1, keys)

    — Press, Smith and Lewis 2022, https://arxiv.org/abs/2108.12409
    """
    if heads < 1:
        raise ValueError(
            t("there is a slope for every head: heads must be at least 1, not {heads}", heads=heads)
        )
    back = torch.arange(1 - keys, 1, device=device, dtype=torch.float32)
    return torch.tensor(slopes(heads), device=device)[:, None, None] * back


def forgetting(log_gates: Tensor) -> Tensor:
    """Σ_(j < l <= i) log f_l for j <= i, without its rows: Σ_(l > j) log f_l, (..., L) -> (..., 1, L)

    log_gates: log f of every position, as `F.logsigmoid(gate(states))` gives it; gradients reach it.
    — Lin et al. 2025, https://arxiv.org/abs/2503.02130
    """
    if not log_gates.is_floating_point():
        raise TypeError(
            t(
                "log_gates are logarithms of gates, numbers up to 0; given {dtype}",
                dtype=log_gates.dtype,
            )
        )
    log_gates = log_gates if log_gates.dtype == torch.float64 else log_gates.float()
    after = log_gates.flip(-1).cumsum(-1).flip(-1) - log_gates  # of the positions behind each
    return after[..., None, :]
