"""Sequences of ids as one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.layers.special_tokens import BOS, EOS, PAD

Ids = Sequence[int] | NDArray[Any]


def pad(sequences: Sequence[Ids], *, bos: bool = False, eos: bool = True) -> tuple[Tensor, Tensor]:
    """Ids (B, L) and mask (B, L) of these sequences, with EOS at the end and BOS before them if told."""
    first = int(bos)
    lengths = np.array([len(ids) for ids in sequences], np.int64) + first + eos
    width = int(lengths.max(initial=0))
    ids = np.full((len(sequences), width), PAD, np.int64)
    ids[:, :first] = BOS
    at = np.arange(width)
    mask = at < lengths[:, None]
    if sequences and width:
        said = (at >= first) & (at < lengths[:, None] - eos)
        ids[said] = np.concatenate(sequences, dtype=np.int64, casting="unsafe")
        if eos:
            ids[np.arange(len(ids)), lengths - 1] = EOS
    return torch.from_numpy(ids), torch.from_numpy(mask)


def widened(x: Tensor, shape: Sequence[int]) -> Tensor:
    """x with zeros (PAD, False) behind it along each axis, so that it has this shape."""
    wide = x.new_zeros(*shape)
    wide[tuple(slice(size) for size in x.shape)] = x
    return wide


def block(rows: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of ids to be stored: padded to the longest, one after the other; and their lengths."""
    lengths = np.array([len(row) for row in rows], np.int64)
    ids = np.full((len(rows), int(lengths.max(initial=0))), PAD, np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    return ids.reshape(-1), lengths


def pad_blocks(blocks: Sequence[Sequence[Ids]]) -> tuple[Tensor, Tensor]:
    """Ids (B, S, W) and mask (B, S, W) of blocks as `block` makes them: ids first, then lengths."""
    high = max((len(lengths) for _, lengths, *_ in blocks), default=0)
    wide = max((len(ids) // max(len(lengths), 1) for ids, lengths, *_ in blocks), default=0)
    ids = np.full((len(blocks), high, wide), PAD, np.int64)
    real = np.zeros((len(blocks), high), np.int64)
    for number, (flat, lengths, *_) in enumerate(blocks):
        rows = len(lengths)
        real[number, :rows] = lengths
        if len(flat):
            ids[number, :rows, : len(flat) // rows] = np.asarray(flat).reshape(rows, -1)
    mask = np.arange(wide) < real[..., None]
    return torch.from_numpy(ids), torch.from_numpy(mask)
