"""One record of what was attended to: everything the page, a file and a program need, as plain data.

    record = AttentionRecord.of(weights, queries=["I", "am"], keys=["我", "是"])
    record.to_json() == AttentionRecord.from_json(record.to_json()).to_json()

A record has sides (rows and columns are tokens of one of them) and maps (weights of layers × heads
× queries × keys). What each field means in JSON is said in docs/viewer/record.md; the format has a
name, and readers refuse one that they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.records.json_text import json_text
from regard.records.kinds import brief, listed, named, number, parents, text, texts
from regard.records.levels import Levels
from regard.records.packed_arrays import pack, pack_bits, unpack
from regard.records.side import NotARecord, Side
from regard.records.sights import Sight, read_sight
from regard.words import t

FORMAT = "regard.attention/1"

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
Box = tuple[float, float, float, float]  # left, top, width, height, as shares of the picture
LONGEST = 40  # characters of a text in a line
Places = tuple[tuple[int, int], ...]  # in characters, from start up to end


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _box(given: Sequence[Any]) -> Box:
    left, top, width, height = (number(each, "glimpses") for each in given)
    return left, top, width, height


def parsed(text: str) -> Any:
    """What a text of JSON says."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise NotARecord(t("this is no JSON: {error}", error=error)) from error
    except RecursionError:
        raise NotARecord(t("this is no record: its lists are nested too deeply")) from None


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
            name: unpack(given[name]) for name in ARRAYS if given.get(name) is not None
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


@dataclass(frozen=True, repr=False)
class AttentionRecord:
    """What one model attended to in one input."""

    sides: Mapping[str, Side]
    maps: tuple[AttentionMap, ...]
    title: str = ""
    model: str = ""  # which model: a run, a checkpoint, a class
    output: str = ""  # what came out, in words: the translation, the label
    notes: tuple[str, ...] = ()  # what a reader must know: what was left out, what was forced
    beam: Beam | None = None
    explanations: tuple[Explanation, ...] = ()
    glimpses: tuple[tuple[Box, ...], ...] = ()  # for each query of the first map, where it looked
    question: Mapping[str, Any] = field(default_factory=dict)  # what was asked, to ask it again
    levels: Levels | None = None  # of a document: its sentences, and the words of each
    sight: Sight | None = (
        None  # of a picture: glimpses, canvases or warps; there may be no maps then
    )
    answer_places: Mapping[str, Places] = field(default_factory=dict)  # in the texts of sides
    changes: tuple[str, ...] = ()  # what was given or forced, in a few words each
    lens: Lens | None = None  # what is predicted at each position, layer by layer
    command: str = ""  # what puts the model behind the page: "regard serve --hf FOLDER"
    steerable: str = (
        ""  # the map whose rows can be forced, of what only reads; "": the cross-attention
    )

    def __post_init__(self) -> None:
        for each in self.maps:
            for axis, name in ((2, each.queries), (3, each.keys)):
                if name not in self.sides:
                    raise NotARecord(
                        t(
                            "map {name} names a side {given} that there is not",
                            name=repr(each.name),
                            given=repr(name),
                        )
                    )
                if each.weights.shape[axis] != len(self.sides[name]):
                    raise NotARecord(
                        t(
                            "map {name} has {shape} {value}, but its side {given} has {count} tokens",
                            name=repr(each.name),
                            shape=each.weights.shape[axis],
                            value=t("queries") if axis == 2 else t("keys"),
                            given=repr(name),
                            count=len(self.sides[name]),
                        )
                    )
        if self.levels is not None:
            self.levels.check(self.sides)
        if self.lens is not None and self.lens.probabilities.shape[1] != len(
            self.sides.get(self.lens.side, ())
        ):
            raise NotARecord(f"the lens is over another number of tokens than {self.lens.side!r}")

    @classmethod
    def of(
        cls,
        weights: Any,
        queries: Sequence[object] | Side,
        keys: Sequence[object] | Side | None = None,
        *,
        title: str = "",
        model: str = "",
        mechanism: str = "",
        name: str = "attention",
    ) -> AttentionRecord:
        """Of any weights (Q, K), (H, Q, K) or (L, H, Q, K), and what the rows and columns stand for.

        keys None: the queries attend to each other.
        """
        numbers = np.asarray(weights, dtype=np.float32)
        if numbers.ndim not in (2, 3, 4):
            raise NotARecord(
                t(
                    "weights are (queries, keys), with heads and layers before them if there are "
                    "any; given {numbers_shape}",
                    numbers_shape=numbers.shape,
                )
            )
        numbers = numbers.reshape((1,) * (4 - numbers.ndim) + numbers.shape)
        rows = queries if isinstance(queries, Side) else Side.of_labels(queries, title="queries")
        sides, columns = {"queries": rows}, "queries"
        if keys is not None:
            columns = "keys"
            sides["keys"] = keys if isinstance(keys, Side) else Side.of_labels(keys, title="keys")
        made = AttentionMap(name, "queries", columns, numbers, mechanism=mechanism)
        return cls(sides, (made,), title=title, model=model)

    @property
    def name(self) -> str:
        """Its input, and what was changed: what stands over a picture of it."""
        return " · ".join(filter(None, (self.title, *self.changes)))

    def __repr__(self) -> str:
        """One line: what was read, what came of it, and the maps with their shapes."""
        told = [repr(shorten(self.name))] if self.name else []
        told += [f"→ {shorten(self.output)!r}"] if self.output else []
        told += [f"by {shorten(self.model)!r}"] if self.model else []
        told += [f"{each.name} {' × '.join(map(str, each.weights.shape))}" for each in self.maps]
        told += [f"{self.sight.kind} of a picture"] if self.sight is not None else []
        return f"<AttentionRecord {' · '.join(told) or 'of nothing'}>".replace(" · →", " →")

    def map(self, name: str | None = None) -> AttentionMap:
        """The map of that name; without one, the first."""
        for each in self.maps:
            if name is None or each.name == name:
                return each
        raise NotARecord(
            t(
                "no map {name} in this record: {maps}",
                name=repr(name),
                maps=", ".join(m.name for m in self.maps),
            )
        )

    def with_words(self, side: str, words: Sequence[int]) -> AttentionRecord:
        """With the tokens of a side as other words, corrected by hand: the number of each token's word."""
        if side not in self.sides:
            raise NotARecord(
                t(
                    "no side {side} in this record: {sides}",
                    side=repr(side),
                    sides=", ".join(self.sides),
                )
            )
        return replace(self, sides={**self.sides, side: self.sides[side].with_words(words)})

    def with_explanations(self, more: Sequence[Explanation]) -> AttentionRecord:
        return replace(self, explanations=(*self.explanations, *more))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; arrays as bytes in base64, see `regard.records.packed_arrays`."""
        return {
            "format": FORMAT,
            "title": self.title,
            "model": self.model,
            "output": self.output,
            "notes": list(self.notes),
            "sides": {name: side.to_dict() for name, side in self.sides.items()},
            "maps": [each.to_dict() for each in self.maps],
            "beam": None if self.beam is None else self.beam.to_dict(),
            "explanations": [each.to_dict() for each in self.explanations],
            "glimpses": [[list(box) for box in boxes] for boxes in self.glimpses],
            "question": dict(self.question),
            "levels": None if self.levels is None else self.levels.to_dict(),
            "sight": None if self.sight is None else self.sight.to_dict(),
            "answer_places": {
                name: [list(place) for place in places]
                for name, places in self.answer_places.items()
            },
            "changes": list(self.changes),
            "lens": None if self.lens is None else self.lens.to_dict(),
            "command": self.command,
            "steerable": self.steerable,
        }

    def to_json(self) -> str:
        """For people: numbers as numbers, a row of weights to a line; see `regard.records.json_text`."""
        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> AttentionRecord:
        if given.get("format") != FORMAT:
            raise NotARecord(
                t(
                    "this is no record of the format {format}: it says {get}",
                    format=FORMAT,
                    get=repr(given.get("format")),
                )
            )
        try:
            made = cls(
                {name: Side.from_dict(side) for name, side in given["sides"].items()},
                tuple(AttentionMap.from_dict(each) for each in given["maps"]),
                text(given.get("title", ""), "title"),
                text(given.get("model", ""), "model"),
                text(given.get("output", ""), "output"),
                texts(given.get("notes", ()), "notes"),
                None if given.get("beam") is None else Beam.from_dict(given["beam"]),
                tuple(Explanation.from_dict(each) for each in given.get("explanations", ())),
                tuple(tuple(map(_box, boxes)) for boxes in given.get("glimpses", ())),
                named(given.get("question", {}), "question"),
                None if given.get("levels") is None else Levels.from_dict(given["levels"]),
                None if given.get("sight") is None else read_sight(given["sight"]),
                {
                    name: tuple((int(start), int(end)) for start, end in places)
                    for name, places in given.get("answer_places", {}).items()
                },
                texts(given.get("changes", ()), "changes"),
                None if given.get("lens") is None else Lens.from_dict(given["lens"]),
                text(given.get("command", ""), "command"),
                text(given.get("steerable", ""), "steerable"),
            )
            for each in made.explanations:
                each.check(made.maps)
            return made
        except NotARecord:
            raise
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise NotARecord(
                t("a part of the record is missing or of another kind: {error}", error=error)
            ) from error

    @classmethod
    def from_json(cls, text: str) -> AttentionRecord:
        given = parsed(text)
        if not isinstance(given, dict):
            raise NotARecord(t("a record is a JSON object, not {kind}", kind=type(given).__name__))
        return cls.from_dict(given)
