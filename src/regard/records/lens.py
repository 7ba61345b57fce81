"""What a model would say after each of its layers, in a record: the logit lens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regard.records.attention_map import Array
from regard.records.kinds import text, texts
from regard.records.packed_arrays import pack, unpack
from regard.records.side import NotARecord


@dataclass(frozen=True)
class Lens:
    """What would be said at each position if the model ended after each layer: the logit lens.

    The last line is what the model itself says. Legend: N lines, Q positions, T likeliest.
    """

    side: str  # the name of the side that the positions are of
    layers: tuple[str, ...]  # N: what each line is called
    tokens: tuple[tuple[tuple[str, ...], ...], ...]  # (N, Q, T), the likeliest first
    probabilities: Array  # (N, Q, T)

    def __post_init__(self) -> None:
        lines = {(len(line), *{len(each) for each in line}) for line in self.tokens}
        if lines != {self.probabilities.shape[1:]} or len(self.layers) != len(self.tokens):
            raise NotARecord(
                f"a lens has a token for each of its probabilities {self.probabilities.shape}"
            )

    def to_dict(self) -> dict[str, Any]:
        return {
            "side": self.side,
            "layers": list(self.layers),
            "tokens": [[list(each) for each in line] for line in self.tokens],
            "probabilities": pack(self.probabilities),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Lens:
        tokens = tuple(tuple(texts(each, "tokens") for each in line) for line in given["tokens"])
        probabilities = unpack(given["probabilities"])
        return cls(
            text(given["side"], "side"), texts(given["layers"], "layers"), tokens, probabilities
        )
