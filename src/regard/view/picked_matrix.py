"""One matrix of a record: which layer, which head, words or tokens, and what that is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from regard.records.attention_map import Array, AttentionMap
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Side
from regard.records.token_words import merge_words
from regard.view.captions import caption, kind_of, layer_name
from regard.words import t

TOGETHER = ("mean", "max")
BETWEEN = ("AA", "AB", "BA", "BB")  # of a pair of texts: which asks, and which is read
Allowed = NDArray[np.bool_]


class NoSuchPart(NotARecord):
    """A map, a layer or a head that the record does not have."""

    status = 2
    hint = "leave it out to see all there is"


@dataclass(frozen=True)
class Pick:
    """layer, head: a number from 1, as they are shown, or "mean" or "max" over all of them.

    Without a map, the first; without a layer and a head, those that the map is best shown by.
    """

    map: str | None = None
    layer: int | str | None = None
    head: int | str | None = None
    tokens: bool = False  # True: tokens as they are; False: those of a word are put together
    between: str | None = None  # of a pair of texts: "AB", from the first to the second
    heads: str = ""  # several at once, each in a colour: "1.2,3.1", layers and heads from 1


@dataclass(frozen=True)
class Matrix:
    """Weights (Q, K) with what their rows and columns stand for, and how they came about."""

    weights: Array
    allowed: Allowed
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    rows: Side
    columns: Side
    aggregation: str  # "layer 2 · mean over 4 heads · words: sum over keys, mean over queries"
    map: AttentionMap


def over_cells(matrix: Matrix) -> Matrix:
    """The keys that are cells of a picture: a mark among them, as [CLS], is none."""
    special = np.array(matrix.columns.special, bool)
    if len(special) != len(matrix.keys) or not special.any():
        return matrix
    return replace(
        matrix,
        weights=matrix.weights[:, ~special],
        allowed=matrix.allowed[:, ~special],
        keys=tuple(key for key, mark in zip(matrix.keys, special, strict=True) if not mark),
    )


def picked(record: AttentionRecord, pick: Pick) -> Matrix:
    """The matrix that is asked for; a name or number that there is not is refused."""
    if not record.maps:
        raise NotARecord(t("this record has no map of weights to draw"))
    if pick.map is not None and pick.map not in (names := [each.name for each in record.maps]):
        raise NoSuchPart(
            t(
                "no map {name}: this record has {names}",
                name=repr(pick.map),
                names=", ".join(names),
            )
        )
    found = record.map(pick.map)
    rows, columns = record.sides[found.queries], record.sides[found.keys]
    allowed = np.ones(found.weights.shape, bool)
    if found.allowed is not None:
        allowed = np.broadcast_to(found.allowed, found.weights.shape)
    layer, head = (
        (_from_one(usual) if wish is None else wish)
        for wish, usual in zip((pick.layer, pick.head), found.shown, strict=True)
    )
    weights, across_heads = _along(found.weights, 1, "head", head, head_names(found))
    weights, across_layers = _along(weights, 0, "layer", layer, layer_names(found))
    open_pairs = _any_along(_any_along(allowed, 1, head), 0, layer)
    kind = kind_of(found.name, rows.title or found.queries, columns.title or found.keys)
    said = [kind, across_layers, across_heads]
    queries, keys = rows.tokens, columns.tokens
    if not pick.tokens and (len(set(rows.words)), len(set(columns.words))) != weights.shape:
        weights = merge_words(weights, rows.words, columns.words)
        merged = merge_words(open_pairs.astype(np.float32), rows.words, columns.words)
        open_pairs = merged > 0
        queries, keys = word_labels(rows), word_labels(columns)
        said.append(caption("words"))
    if pick.between is not None:
        chosen = [
            _of_part(side, part, merged=len(labels) != len(side))
            for side, part, labels in zip(
                (rows, columns), _parts(pick.between), (queries, keys), strict=True
            )
        ]
        weights, open_pairs = weights[np.ix_(*chosen)], open_pairs[np.ix_(*chosen)]
        queries, keys = (
            tuple(labels[n] for n in places)
            for labels, places in zip((queries, keys), chosen, strict=True)
        )
        first, second = pick.between[0], pick.between[1]
        way = t(
            "from text {first} to text {second}, weights as they were", first=first, second=second
        )
        said.append(way)
    aggregation = " · ".join(part for part in said if part)
    return Matrix(weights, open_pairs, queries, keys, rows, columns, aggregation, found)


def _parts(between: str) -> tuple[int, int]:
    if between not in BETWEEN:
        raise NoSuchPart(
            t(
                "between is one of {choices}, not {given}",
                choices=", ".join(BETWEEN),
                given=repr(between),
            )
        )
    return "AB".index(between[0]), "AB".index(between[1])


def _of_part(side: Side, part: int, *, merged: bool) -> list[int]:
    """The words, or tokens, of one text of a pair."""
    if not side.parts:
        raise NoSuchPart(t("this record is of one text: only a pair has parts A and B"))
    places = [place for place, each in enumerate(side.parts) if each == part]
    return sorted({side.words[place] for place in places}) if merged else places


def by_hop(record: AttentionRecord, pick: Pick) -> Matrix:
    """A row for each hop of a pooling, and their mean, where no head is asked for."""
    usual = picked(record, pick)
    count = usual.map.weights.shape[1]
    if (
        pick.head is not None
        or pick.heads
        or count == 1
        or not usual.map.name.startswith("pooling")
    ):
        return usual
    mean = picked(record, replace(pick, head="mean"))
    rows = [*(picked(record, replace(pick, head=n)) for n in range(1, count + 1)), mean]
    said = mean.aggregation.split(" · ")
    said.remove(caption("mean", "head", n=count))
    names = (*(t("hop {n}", n=n) for n in range(1, count + 1)), t("mean"))
    return replace(
        mean,
        rows=Side.of_labels(names, title=t("hops")),
        weights=np.concatenate([row.weights for row in rows]),
        allowed=np.concatenate([row.allowed for row in rows]),
        queries=names,
        aggregation=" · ".join(said),
    )


def word_labels(side: Side) -> tuple[str, ...]:
    """What each word is called: its slice of the text, or its tokens where it has none."""
    labels = []
    for word in range(max(side.words, default=-1) + 1):
        members = [place for place, number in enumerate(side.words) if number == word]
        start, end = side.offsets[members[0]][0], side.offsets[members[-1]][1]
        whole = len(members) > 1 and side.text[start:end].strip()
        labels.append(whole or "".join(side.tokens[place] for place in members))
    return tuple(labels)


def layer_names(found: AttentionMap) -> list[str]:
    names = found.layers or [str(n + 1) for n in range(found.weights.shape[0])]
    return [layer_name(name) for name in names]


def head_names(found: AttentionMap) -> list[str]:
    return [t("head {n}", n=n + 1) for n in range(found.weights.shape[1])]


def _from_one(place: int | str) -> int | str:
    return place + 1 if isinstance(place, int) else place


def _along(
    weights: Array, axis: int, name: str, wish: int | str, names: Sequence[str]
) -> tuple[Array, str]:
    """One of the axis, or all together, and how that is called; nothing if there is but one."""
    count = weights.shape[axis]
    if wish not in TOGETHER:
        place = _number(wish, count, name)
        chosen = np.take(weights, [place], axis=axis).squeeze(axis)
        return chosen, names[place] if count > 1 else ""
    together = np.asarray(weights.mean(axis) if wish == "mean" else weights.max(axis))
    return together, caption(str(wish), name, n=count) if count > 1 else ""


def _any_along(allowed: Allowed, axis: int, wish: int | str) -> Allowed:
    if wish in TOGETHER:
        return np.asarray(allowed.any(axis=axis))
    return np.take(allowed, [int(wish) - 1], axis=axis).squeeze(axis)


def _number(wish: int | str, count: int, name: str) -> int:
    if str(wish).isdecimal() and 1 <= int(wish) <= count:
        return int(wish) - 1
    raise NoSuchPart(
        t.plural(
            count,
            "no {name} {wish}: there is only {name} 1, or mean, or max over them",
            "no {name} {wish}: there are {name}s 1 to {n}, or mean, or max over them",
            name={"layer": t("layer"), "head": t("head")}[name],
            wish=repr(wish),
        )
    )
