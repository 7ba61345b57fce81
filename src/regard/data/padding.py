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
    if bos:
        ids[:, 0] = BOS
    for row, (sequence, length) in enumerate(zip(sequences, lengths, strict=True)):
        ids[row, first : length - eos] = sequence
        if eos:
            ids[row, length - 1] = EOS
    mask = np.arange(width) < lengths[:, None]
    return torch.from_numpy(ids), torch.from_numpy(mask)
