"""One kind of attention in a record: its weights, and what led to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.records.kinds import brief, text, texts
from regard.records.packed_arrays import pack, pack_bits, unpack
from regard.records.side import NotARecord
from regard.words import t

Array = NDArray[np.float32]
ARRAYS = (
    "weights",
    "scores",
    "allowed",
    "factor",
    "values",
    "query_vectors",
    "key_vectors",
    "score_vector",
)  # of a map


@dataclass(frozen=True, repr=False)
class AttentionMap:
    """The weights of one kind of attention: L layers, H heads, Q queries, K keys.

    What led to the weights may be kept as well: scores before the region, which pairs were allowed,
    a factor after the softmax (predicted windows), the values that were summed.
    """

    name: str  # "cross", "encoder", "decoder", "pooling"; one of its kind in a record
    queries: str  # the name of a side
    keys: str
    weights: Array  # (L, H, Q, K), as they were used
    layers: tuple[str, ...] = ()  # what each is called
    mechanism: str = (
        ""  # "score: additive · region: everywhere · normalize: softmax · kind: general"
    )
    normalizer: str = ""  # "softmax", "sparsemax", "softmax(temperature=2)"; "": not known
    reported: str = ""  # which of them the model itself reports: "layer 2, mean over heads"
    shown: tuple[int | str, int | str] = (
        "mean",
        "mean",
    )  # layer and head to begin with: 0 …, mean, max
    scores: Array | None = None  # (L, H, Q, K), before region and normaliser
    allowed: NDArray[np.bool_] | None = None  # broadcast to (L, H, Q, K); None: all pairs
    factor: Array | None = None  # broadcast to (L, H, Q, K)
    values: Array | None = None  # (L, H, K, D)
    query_vectors: Array | None = None  # (L, H, Q, E), scaled: Σ q ⊙ k is the score without a bias
    key_vectors: Array | None = None  # (L, H, K, E)
    score_vector: Array | None = None  # (L, H, E): then Σ v ⊙ tanh(q + k) is the score

    def __post_init__(self) -> None:
        if self.weights.ndim != 4:
            raise NotARecord(
                t(
                    "the weights of a map are (layers, heads, queries, keys), not {shape}",
                    shape=self.weights.shape,
                )
            )
        if 0 in self.weights.shape[:2]:
            raise NotARecord(
                t("weights {shape} have no layer or no head", shape=self.weights.shape)
            )

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.weights.shape))
        return f"<AttentionMap {self.name!r}: {self.queries} → {self.keys}, {shape}>"

    def to_dict(self) -> dict[str, Any]:
        shape = self.weights.shape
        whole = None if self.allowed is None else np.broadcast_to(self.allowed, shape)
        return {
            "name": self.name,
            "queries": self.queries,
            "keys": self.keys,
            "layers": list(self.layers) or [str(n + 1) for n in range(shape[0])],
            "mechanism": self.mechanism,
            "normalizer": self.normalizer,
            "reported": self.reported,
            "shown": list(self.shown),
            "weights": pack(self.weights),
            "scores": None if self.scores is None else pack(self.scores, weights=False),
            "allowed": None if whole is None else pack_bits(whole),
            "factor": None
            if self.factor is None
            else pack(np.broadcast_to(self.factor, shape), weights=False),
            **{
                name: None if (kept := getattr(self, name)) is None else pack(kept, weights=False)
                for name in ("values", "query_vectors", "key_vectors", "score_vector")
            },
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> AttentionMap:
        kept: dict[str, Any] = {
            name: unpack(given[name]).astype(bool if name == "allowed" else np.float32)
            for name in ARRAYS
            if given.get(name) is not None
        }
        words: dict[str, Any] = {
            name: text(given.get(name, ""), name)
            for name in ("name", "queries", "keys", "mechanism", "normalizer", "reported")
        }
        layer, head = given.get("shown", ("mean", "mean"))
        layers = texts(given.get("layers", ()), "layers")
        made = cls(**words, layers=layers, shown=(layer, head), **kept)
        made._check_shapes()
        made._check_shown()
        return made

    def _check_shown(self) -> None:
        for wish, count in zip(self.shown, self.weights.shape[:2], strict=True):
            place = type(wish) is int and 0 <= wish < count
            if not place and wish not in ("mean", "max"):
                raise NotARecord(
                    t(
                        "map {name} is shown from a layer and a head that it has, counted from 0, "
                        "mean or max; given {given}",
                        name=repr(self.name),
                        given=brief(list(self.shown)),
                    )
                )

    def _check_shapes(self) -> None:
        """Whether all that was kept has the axes of the weights."""
        layers, heads, queries, keys = self.weights.shape
        over: dict[str, tuple[int, ...]] = {
            "scores": (layers, heads, queries, keys),
            "values": (layers, heads, keys),
            "query_vectors": (layers, heads, queries),
            "key_vectors": (layers, heads, keys),
        }
        for name, wanted in over.items():
            kept = getattr(self, name)
            if kept is not None and (kept.ndim != 4 or kept.shape[: len(wanted)] != wanted):
                raise NotARecord(self._misshapen(name, kept))
        self._check_vectors()
        for name in ("allowed", "factor"):
            kept = getattr(self, name)
            try:
                _ = kept is None or np.broadcast_to(kept, self.weights.shape)
            except ValueError:
                raise NotARecord(self._misshapen(name, kept)) from None

    def _check_vectors(self) -> None:
        """Whether queries, keys and the vector of their scores are of one size, and none lacks another."""
        names = ("query_vectors", "key_vectors", "score_vector")
        query, key, vector = (getattr(self, name) for name in names)
        if query is not None and key is not None and query.shape[-1] != key.shape[-1]:
            raise NotARecord(self._misshapen("query_vectors", query))
        if vector is not None and (key is None or vector.shape != (*key.shape[:2], key.shape[-1])):
            raise NotARecord(self._misshapen("score_vector", vector))

    def _misshapen(self, name: str, kept: NDArray[Any]) -> str:
        return t(
            "{part} of map {name} have the shape {given}, which does not fit its weights {shape}",
            part=name,
            name=repr(self.name),
            given=kept.shape,
            shape=self.weights.shape,
        )
