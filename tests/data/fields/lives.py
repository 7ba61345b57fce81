"""The life of a field, for the tests of each: read, learnt, stored, collated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.data.batch import collate
from regard.data.fields import Field
from regard.data.store import Store, Stored, make_store


def stored(folder: Path, fields: Sequence[Field], examples: Sequence[Mapping[str, Any]]) -> Store:
    """A store of these values."""
    columns = {field.name: field.encode(examples) for field in fields}

    def rows(_problems):
        for number in range(len(examples)):
            yield Stored(number + 1, {name: column[number] for name, column in columns.items()})

    return make_store(folder / "store", rows, [], fields, [], "example")


def batch_of(folder: Path, fields: Sequence[Field], examples) -> dict[str, torch.Tensor]:
    """The tensors of these values, by way of a store; each row is that of a batch of one."""
    store = stored(folder, fields, examples)
    rows = [store.example(row) for row in range(len(store))]
    whole = dict(collate(fields, rows))
    for number, row in enumerate(rows):
        for name, alone in collate(fields, [row]).items():
            among = whole[name][number]
            for axis, size in enumerate(alone.shape[1:]):
                rest = among.narrow(axis, size, among.shape[axis] - size)
                assert len(set(rest.flatten().tolist())) <= 1, f"padding of {name} is of one kind"
                among = among.narrow(axis, 0, size)
            assert torch.equal(among, alone[0]), name
    for field in fields:  # where all are of one length they are collated at once
        every = store.even_parts(field.name, np.arange(len(store)))
        for name, tensor in ({} if every is None else field.collate_even(every)).items():
            assert torch.equal(tensor, whole[name]), name
    for field in fields:
        assert "\n" not in field.describe(store.counts(field.name))
    for field in fields:  # nothing is a batch, too
        assert all(len(tensor) == 0 for tensor in field.collate([]).values())
    return whole


def reloaded(field: Field, again: Field) -> None:
    """What one field learnt, put into another that was made like it."""
    assert field.file is not None
    again.load(field.to_json())
    assert again.to_json() == field.to_json()
    assert again.size == field.size
    assert (again.types, again.parts, again.file) == (field.types, field.parts, field.file)
