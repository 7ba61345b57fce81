"""What is measured beside the weights of a record: gradients, words left out, other weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from regard.records.attention_map import Array, AttentionMap
from regard.records.kinds import number, text
from regard.records.packed_arrays import pack, unpack
from regard.records.side import NotARecord
from regard.words import t


@dataclass(frozen=True)
class Explanation:
    """A measure beside the weights of one map: on the same axes, a number for each query, or both."""

    name: str  # "gradient", "leave-one-out", "rollout", "uniform", "permuted", "adversarial"
    title: str
    reading: str  # one line: what it says of this model and this sentence
    map: str  # whose axes it has
    matrix: Array | None = None  # (Q, K)
    rows: Mapping[str, Sequence[float]] = field(
        default_factory=dict
    )  # name -> one for each query; NaN: undefined
    signed: bool = False  # the matrix may be negative: drawn with the diverging scale

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "reading": self.reading,
            "map": self.map,
            "signed": self.signed,
            "matrix": None if self.matrix is None else pack(self.matrix, weights=False),
            "rows": {
                name: [None if x != x else round(float(x), 6) for x in numbers]
                for name, numbers in self.rows.items()
            },
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Explanation:
        rows = {
            name: [float("nan") if x is None else number(x, name) for x in numbers]
            for name, numbers in given["rows"].items()
        }
        matrix = None if given.get("matrix") is None else unpack(given["matrix"])
        return cls(
            text(given["name"], "name"),
            text(given["title"], "title"),
            text(given["reading"], "reading"),
            text(given["map"], "map"),
            matrix,
            rows,
            given["signed"],
        )

    def check(self, maps: Sequence[AttentionMap]) -> None:
        """Whether it has the axes of its map, where that is there."""
        for shape in (each.weights.shape[2:] for each in maps if each.name == self.map):
            lengths = {len(numbers) for numbers in self.rows.values()} - {shape[0]}
            if lengths or (self.matrix is not None and self.matrix.shape != shape):
                raise NotARecord(
                    t(
                        "explanation {name} is of another shape than the {queries} queries and "
                        "{keys} keys of map {given}",
                        name=repr(self.name),
                        queries=shape[0],
                        keys=shape[1],
                        given=repr(self.map),
                    )
                )
