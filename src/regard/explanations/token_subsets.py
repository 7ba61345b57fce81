"""Some tokens of a text, without the others: every choice of them as a row of a ragged batch.

Legend: N choices, K tokens, W of the longest choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from regard.explanations.model_work import pieces
from regard.layers.special_tokens import PAD


def packed(ids: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
    """The kept ones of ids (K,) side by side: bool (N, K) -> ids (N, W), PAD behind them, and a mask"""
    lengths = kept.sum(-1)
    width = int(lengths.max()) if len(kept) else 0
    order = (~kept).byte().argsort(dim=-1, stable=True)[:, :width]
    mask = torch.arange(width, device=ids.device) < lengths[:, None]
    return ids[order].where(mask, PAD), mask


def of_each_choice(
    kept: Tensor, work: float, read: Callable[[Tensor], Tensor]
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Every different choice of kept (N, K) is read once, those of like lengths together.

    read: choices (n, K) -> what is found of each, (n, ...). Yields which of the N these are (m,), the place
    of each among the n, and what was found.
    """
    choices, which = kept.unique(dim=0, return_inverse=True)
    order = choices.sum(-1).argsort(stable=True)
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device)
    which = place[which]
    for part in pieces(len(choices), work):
        here = ((which >= part.start) & (which < part.stop)).nonzero().flatten()
        yield here, which[here] - part.start, read(choices[order[part]])
