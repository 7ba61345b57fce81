"""Queries and keys rearranged so that those which may attend to each other stand together.

The new axis goes before the last leading one, so that a mask shared by all heads stays shared.
Legend: H the last leading axis, L positions, D features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from regard.attention.plans.layout import block_size
from regard.attention.region import Pattern
from regard.attention.shapes import of_rank

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall


def deal(x: Tensor, rate: int) -> Tensor:
    """(..., H, L, D) -> (..., rate, H, ⌈L / rate⌉, D): row r holds the positions r, r + rate, ..."""
    x = _lengthen(x, -x.shape[-2] % rate)
    return _lift(x.unflatten(-2, (-1, rate)).transpose(-2, -3))


def collect(x: Tensor, rate: int, length: int) -> Tensor:
    """The inverse of `deal`."""
    return _lift(x).transpose(-2, -3).flatten(-3, -2)[..., :length, :]


def cut_queries(q: Tensor, pattern: Pattern) -> Tensor:
    """(..., H, Lq, D) -> (..., blocks, H, size, D)"""
    size = block_size(pattern)
    return _lift(_lengthen(q, -q.shape[-2] % size).unflatten(-2, (-1, size)))


def join(x: Tensor, length: int) -> Tensor:
    """The inverse of `cut_queries`."""
    return _lift(x).flatten(-3, -2)[..., :length, :]


def spans(x: Tensor, pattern: Pattern, queries: int) -> Tensor:
    """(..., H, Lk, D) -> (..., blocks, H, span, D): the keys that some query of the block can see."""
    size, before, after = block_size(pattern), int(pattern.before), int(pattern.after)
    span, count = size + before + after, -(-queries // size)
    pieces = -(-span // size)  # a span is this many blocks of keys, the last one cut
    left = before - pattern.offset  # the first span begins at key -left
    right = (count - 1 + pieces) * size - left - x.shape[-2]
    x = nn.functional.pad(x, (0, 0, left, right)).unflatten(-2, (-1, size))
    shifted = [x[..., piece : piece + count, :, :] for piece in range(pieces)]
    return _lift(torch.cat(shifted, -2)[..., :span, :])


def span_mask(call: AttentionCall, pattern: Pattern) -> Tensor:
    """(..., blocks, H or 1, size, span): the band inside a block, and which keys exist."""
    size, width = block_size(pattern), int(pattern.before + pattern.after)
    i = torch.arange(size, device=call.query.device)[:, None]
    c = torch.arange(size + width, device=call.query.device)
    exists = spans(key_mask(call).mT, pattern, call.query.shape[-2]).mT
    return exists & (i <= c) & (c <= i + width)


def dealt_bias(bias: Tensor, rate: int, queries: int) -> Tensor:
    """The bias of the pairs that `deal` leaves together: (..., rate, H, ⌈Lq / rate⌉ or 1, ⌈Lk / rate⌉)"""
    first = torch.arange(rate, device=bias.device)[:, None]
    rows, columns = (
        first + rate * torch.arange(-(-length // rate), device=bias.device)
        for length in (queries, bias.shape[-1])
    )
    return _bias_at(bias, rows, columns, queries)


def cut_bias(bias: Tensor, pattern: Pattern, queries: int) -> Tensor:
    """The bias of the pairs in each block: (..., blocks, H, size or 1, span)"""
    size, before, after = block_size(pattern), int(pattern.before), int(pattern.after)
    first = torch.arange(0, queries, size, device=bias.device)[:, None]
    rows = first + torch.arange(size, device=bias.device)
    columns = torch.arange(size + before + after, device=bias.device) + first
    return _bias_at(bias, rows, columns + pattern.offset - before, queries)


def _bias_at(bias: Tensor, rows: Tensor, columns: Tensor, queries: int) -> Tensor:
    """bias (..., H, Lq or 1, Lk) at the pairs of rows (R, A) and columns (R, B) -> (..., R, H, A or 1, B)

    Beyond the keys there is anything, which no query may attend; beyond the queries there is 0.
    """
    if bias.shape[-2] == 1 and rows.numel() == queries:
        rows, beyond = torch.zeros_like(rows[:, :1]), None
    else:
        beyond = (rows >= queries)[..., None] if rows.numel() != queries else None
        rows = rows.clamp(max=bias.shape[-2] - 1)
    picked = bias[..., rows[:, :, None], columns.clamp(0, bias.shape[-1] - 1)[:, None, :]]
    return _lift(picked if beyond is None else picked.masked_fill(beyond, 0.0))


def _lengthen(x: Tensor, by: int) -> Tensor:
    """Zeros at the end of the length; nothing is copied for nothing, but in a graph of many lengths."""
    return nn.functional.pad(x, (0, 0, 0, by)) if torch.compiler.is_compiling() or by else x


def _lift(x: Tensor) -> Tensor:
    return x.transpose(-3, -4) if x.dim() > 3 else x


def key_mask(call: AttentionCall) -> Tensor:
    """Which keys exist, with as many axes as the tensors: (..., 1, Lk)."""
    mask, lead = call.limits.mask, call.lead
    if mask is None:
        mask = torch.ones(1, call.key.shape[-2], dtype=torch.bool, device=call.query.device)
    return of_rank(mask, len(lead) + 2)
