"""Pairs of token ids → padded tensors, and which pairs go together.

    batches = Batches(store.source_lengths, store.target_lengths, tokens=4096, seed=1)
    for batch in Loader(store, batches): ...

Legend: B pairs, S the longest source with EOS, T the longest target with EOS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batches import Batches
from regard.data.store import Store
from regard.data.tokenizer import BOS, EOS, PAD

__all__ = ["Batch", "Batches", "Loader", "collate", "pad"]


@dataclass(frozen=True)
class Batch:
    """Sources x1 … xn EOS and targets BOS y1 … ym EOS, filled up with PAD."""

    source: Tensor  # (B, S) int64
    source_mask: Tensor  # (B, S) bool, True where a token is real
    target: Tensor  # (B, T + 1) int64
    target_mask: Tensor  # (B, T + 1) bool
    rows: Tensor  # (B,) int64, the place of each pair in the corpus

    @property
    def inputs(self) -> Tensor:
        """What a decoder is given, BOS y1 … ym: (B, T)."""
        return self.target[:, :-1]

    @property
    def outputs(self) -> Tensor:
        """What it shall answer, y1 … ym EOS: (B, T)."""
        return self.target[:, 1:]

    @property
    def output_mask(self) -> Tensor:
        """True where an answer counts: (B, T)."""
        return self.target_mask[:, 1:]

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> Batch:
        moved = (getattr(self, f.name).to(device, non_blocking=non_blocking) for f in fields(self))
        return Batch(*moved)

    def __len__(self) -> int:
        return len(self.rows)


def pad(
    sentences: Sequence[Sequence[int] | NDArray[Any]], *, bos: bool = False
) -> tuple[Tensor, Tensor]:
    """Ids (B, L) and mask (B, L) of these sentences, each with EOS at its end, and BOS before it if told."""
    first = int(bos)
    lengths = np.array([len(ids) for ids in sentences], np.int64) + 1 + first
    width = int(lengths.max(initial=0))
    ids = np.full((len(sentences), width), PAD, np.int64)
    if bos:
        ids[:, 0] = BOS
    for row, (sentence, length) in enumerate(zip(sentences, lengths, strict=True)):
        ids[row, first : length - 1] = sentence
        ids[row, length - 1] = EOS
    mask = np.arange(width) < lengths[:, None]
    return torch.from_numpy(ids), torch.from_numpy(mask)


def collate(
    pairs: Sequence[tuple[Sequence[int] | NDArray[Any], Sequence[int] | NDArray[Any]]],
    rows: Sequence[int] | NDArray[Any] | None = None,
) -> Batch:
    """Pairs of ids without BOS and EOS → a batch. Without rows they are counted from 0."""
    source, source_mask = pad([source for source, _ in pairs])
    target, target_mask = pad([target for _, target in pairs], bos=True)
    places = np.array(range(len(pairs)) if rows is None else rows, np.int64)
    return Batch(source, source_mask, target, target_mask, torch.from_numpy(places))


class Loader:
    """The batches of a store, one epoch after the other, from any place on.

    Collating takes well under a millisecond, so it runs where it is used: no workers, one order.
    `state_dict` says how many batches of the epoch were given out; after `load_state_dict` the
    next iteration goes on there, reading nothing it does not give out.
    """

    def __init__(self, store: Store, batches: Batches) -> None:
        self.store, self.batches = store, batches
        self._epoch, self._given = 0, 0

    def set_epoch(self, epoch: int) -> None:
        """From the start of that epoch, or from where it was if that is the epoch already."""
        if epoch != self._epoch:
            self._epoch, self._given = epoch, 0

    def __len__(self) -> int:
        """Batches in an epoch, the same for every epoch."""
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        for rows in self.batches.epoch(self._epoch)[self._given :]:
            self._given += 1
            yield collate([self.store.pair(int(row)) for row in rows], rows)
        self._given = 0

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self._epoch, "given": self._given, "batches": self.batches.fingerprint}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["batches"] != self.batches.fingerprint:
            raise ValueError(
                "the corpus, the batch size, the seed or the number of processes has changed since "
                "the checkpoint: its place in the epoch means nothing now. Start a new run"
            )
        self._epoch, self._given = state["epoch"], state["given"]
