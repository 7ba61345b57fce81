"""Hypotheses that attend to the memory of their sentence, which is kept once for all of them."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.module import AttentionModule
from regard.attention.normalizers import HardChoice


def attend_per_sentence(
    attention: AttentionModule, query: Tensor, memory: Memory, *, position: int, weights: bool
) -> Attended:
    """query (N, L, D) over the memory of B sentences, N = B · k, those of a sentence side by side.

    The first of the L stands at `position`. k > 1 is a step of a search, where L is 1: the k queries of
    a sentence are passed as k positions of one row, so that its memory is never copied for them.
    """
    sentences, each = len(memory.keys), len(query) // len(memory.keys)
    if each == 1:
        return attention(query, memory, offset=position, weights=weights)
    if not attention.region.forgets_positions:
        # positions matter, and all k stand at the same one
        rows = torch.arange(sentences, device=query.device).repeat_interleave(each)
        return attention(query, memory.select(rows), offset=position, weights=weights)
    attended = attention(query.view(sentences, each, -1), memory, weights=weights)
    return Attended(
        attended.context.flatten(0, 1).unsqueeze(1),
        None if attended.weights is None else _apart(attended.weights, attention),
        None
        if attended.choice is None
        else HardChoice(*(_apart(c, attention) for c in attended.choice)),
    )


def _apart(x: Tensor, attention: AttentionModule) -> Tensor:
    """What a sentence's k queries have, (B, [H,] k, ...), for each hypothesis: (N, [H,] 1, ...)."""
    axis = 2 if attention.heads_axis else 1
    return x.movedim(axis, 1).flatten(0, 1).unsqueeze(axis)
