"""Encoded examples → named tensors, one batch after the other.

batches = LengthBatches(lengths, tokens=4096, seed=1)
for batch in Loader(store, fields, batches): module(**batch)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.fields import Field, Parts
from regard.data.length_batches import LengthBatches
from regard.data.store import Store
from regard.words import t


@dataclass(frozen=True)
class Batch(Mapping[str, Tensor]):
    """Tensors by name, as fields make them, and the places of the examples in the corpus."""

    tensors: Mapping[str, Tensor]
    rows: Tensor  # (B,) int64

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        """How many tensors there are: `rows` are the examples."""
        return len(self.tensors)

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> Batch:
        moved = {name: x.to(device, non_blocking=non_blocking) for name, x in self.items()}
        return Batch(moved, self.rows)

    def describe(self) -> str:
        """Its shapes in words."""
        shapes = (f"{name} {tuple(x.shape)}" for name, x in self.items() if x.dtype != torch.bool)
        return ", ".join(shapes)


def collate(
    fields: Sequence[Field],
    examples: Sequence[Mapping[str, Parts]],
    rows: Sequence[int] | NDArray[Any] | None = None,
) -> Batch:
    """A batch of encoded examples. Without rows they are counted from 0."""
    tensors: dict[str, Tensor] = {}
    for field in fields:
        tensors |= field.collate([example[field.name] for example in examples])
    places = np.array(range(len(examples)) if rows is None else rows, np.int64)
    return Batch(tensors, torch.from_numpy(places))


class Loader:
    """The batches of a store, one epoch after the other, from any place on.

    Collating takes a millisecond or two, so it runs where it is used: no workers, one order.
    `state_dict` says how many batches of the epoch were given out; after `load_state_dict` the
    next iteration goes on there, reading nothing it does not give out.
    """

    def __init__(self, store: Store, fields: Sequence[Field], batches: LengthBatches) -> None:
        self.store, self.fields, self.batches = store, fields, batches
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
            tensors: dict[str, Tensor] = {}
            for field in self.fields:
                tensors |= self._collated(field, rows)
            yield Batch(tensors, torch.from_numpy(np.asarray(rows, np.int64)))
        self._given = 0

    def _collated(self, field: Field, rows: NDArray[Any]) -> dict[str, Tensor]:
        """Where all examples are of one length, as pictures are, none is taken by itself."""
        if (even := self.store.even_parts(field.name, rows)) is not None:
            return field.collate_even(even)
        return field.collate([self.store.parts(field.name, row) for row in rows.tolist()])

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self._epoch, "given": self._given, "batches": self.batches.fingerprint}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if state["batches"] != self.batches.fingerprint:
            raise ValueError(
                t(
                    "the corpus, the batch size, the seed or the number of processes has changed "
                    "since the checkpoint: its place in the epoch means nothing now. Start a new "
                    "run"
                )
            )
        self._epoch, self._given = state["epoch"], state["given"]
