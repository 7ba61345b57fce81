"""The numbers of records for other programs: the matrix that is shown as CSV, every array as npz."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.records.record import AttentionRecord
from regard.view.picked_matrix import Pick, by_hop
from regard.view.stills.several_heads import chosen_heads

VECTORS = ("values", "query_vectors", "key_vectors", "score_vector")
FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)  # what a spreadsheet would compute


def matrices_csv(records: Sequence[AttentionRecord], pick: Pick) -> str:
    """A line of keys, then for each query its name and its weights. Records follow after a blank line, as
    do several heads, each with its name, 1.2, before the keys.

    A pair that the region does not allow is empty, never 0.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    shown = [
        (name, matrix)
        for record in records
        for name, matrix in (chosen_heads(record, pick) or {"": by_hop(record, pick)}).items()
    ]
    for number, (name, matrix) in enumerate(shown):
        if number:
            writer.writerow([])
        writer.writerow([name, *map(_cell, matrix.keys)])
        for query, weights, allowed in zip(
            matrix.queries, matrix.weights, matrix.allowed, strict=True
        ):
            cells = [
                _decimal(weight) if is_open else ""
                for weight, is_open in zip(weights, allowed, strict=True)
            ]
            writer.writerow([_cell(query), *cells])
    return file.getvalue()


def arrays_npz(records: Sequence[AttentionRecord]) -> bytes:
    """Every array by its name, "cross/weights" (L, H, Q, K); of several records, "2/cross/weights"."""
    named: dict[str, NDArray[Any]] = {}
    for number, record in enumerate(records, 1):
        before = f"{number}/" if len(records) > 1 else ""
        named |= {before + name: array for name, array in arrays_of(record).items()}
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **named)
    return file.getvalue()


def arrays_of(record: AttentionRecord) -> dict[str, NDArray[Any]]:
    """Tokens of each side, the arrays of each map, what each node of the beam looked at, the measures."""
    found: dict[str, NDArray[Any] | None] = {}
    for name, side in record.sides.items():
        found[f"{name}/tokens"] = np.array(side.tokens, np.str_)
        found[f"{name}/words"] = np.array(side.words, np.int64)
    for each in record.maps:
        for name in ("weights", "scores", "factor", *VECTORS):
            found[f"{each.name}/{name}"] = getattr(each, name)
        if each.allowed is not None:
            found[f"{each.name}/allowed"] = np.broadcast_to(each.allowed, each.weights.shape)
    if record.beam is not None:
        found["beam/weights"] = record.beam.weights
    for measure in record.explanations:
        found[f"{measure.map}/{measure.name}"] = measure.matrix
        for row, numbers in measure.rows.items():
            found[f"{measure.map}/{measure.name}/{row}"] = np.array(numbers, np.float64)
    return {name: array for name, array in found.items() if array is not None}


def _cell(text: str) -> str:
    return f"'{text}" if FORMULA.match(text) else text


def _decimal(weight: np.float32) -> str:
    """The shortest that is read back as the same number."""
    return np.format_float_positional(weight, unique=True, trim="-")
