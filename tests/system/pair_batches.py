"""Batches of pairs of ids, as a translator is trained on them."""

from __future__ import annotations

from collections.abc import Sequence

from regard.data.batch import Batch, collate
from regard.data.fields import Text

SIDES = (Text("source"), Text("target", bos=True))


def pair_batch(
    pairs: Sequence[tuple[list[int], list[int]]], rows: Sequence[int] | None = None
) -> Batch:
    examples = [{"source": (source,), "target": (target,)} for source, target in pairs]
    return collate(SIDES, examples, rows)
