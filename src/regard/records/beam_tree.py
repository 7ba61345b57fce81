"""The tree of a beam search in a record: what was tried, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regard.records.attention_map import Array
from regard.records.kinds import listed, number, parents, text
from regard.records.packed_arrays import pack, unpack
from regard.records.side import NotARecord
from regard.words import t


@dataclass(frozen=True)
class BeamNode:
    """One token of a hypothesis of a search; the path to the root is what came before it."""

    parent: int  # the number of another node; -1: it is a first token
    token: str
    log_prob: float  # of this token
    total: float  # of all tokens up to this one
    fate: str  # "open": it went on, "ended": a whole hypothesis, "dropped": others were better
    score: float | None = None  # of a whole hypothesis: what it was ranked by
    rank: int | None = None  # 0: the best of those returned

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> BeamNode:
        for name in ("log_prob", "total", "score", "rank"):
            if name in ("log_prob", "total") or given.get(name) is not None:
                number(given[name], name)
        for name in ("token", "fate"):
            text(given[name], name)
        return cls(**given)


@dataclass(frozen=True)
class Beam:
    """The tree of a beam search, in the order of the steps."""

    nodes: tuple[BeamNode, ...]
    weights: Array | None = None  # (nodes, K): what each looked at, over the keys of side `keys`
    keys: str = "source"

    def to_dict(self) -> dict[str, Any]:
        return {
            "keys": self.keys,
            "nodes": [vars(node) for node in self.nodes],
            "weights": None if self.weights is None else pack(self.weights),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Beam:
        listed(given["nodes"], "nodes")
        parents(given["nodes"])
        nodes = tuple(BeamNode.from_dict(node) for node in given["nodes"])
        weights = None if given.get("weights") is None else unpack(given["weights"])
        if weights is not None and (weights.ndim != 2 or len(weights) != len(nodes)):
            raise NotARecord(
                t(
                    "the weights of a beam of {count} nodes are (nodes, keys), not {shape}",
                    count=len(nodes),
                    shape=weights.shape,
                )
            )
        keys = given.get("keys", "source")
        return cls(nodes, weights, "" if keys is None else text(keys, "keys"))
