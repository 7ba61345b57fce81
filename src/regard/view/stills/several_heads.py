"""Several heads of a map at once: which they are, as a page's address names them."""

from __future__ import annotations

import re
from dataclasses import replace

from regard.records.record import AttentionRecord
from regard.view.captions import kind_of
from regard.view.picked_matrix import Matrix, NoSuchPart, Pick, picked
from regard.words import t

MOST_HEADS = 6  # colours that everybody can tell from each other
WRITTEN = re.compile(r"\d{1,4}\.\d{1,4}(,\d{1,4}\.\d{1,4})*", re.ASCII)


def chosen_heads(record: AttentionRecord, pick: Pick) -> dict[str, Matrix]:
    """ "1.2" -> the matrix of layer 1, head 2; in their order, and nothing if none are chosen."""
    return {
        name: picked(record, replace(pick, heads="", layer=layer, head=head))
        for name, (layer, head) in _places(pick.heads).items()
    }


def heads_title(record: AttentionRecord, pick: Pick) -> str:
    """What is drawn: the kind of the map, and the heads."""
    found = record.map(pick.map)
    rows, columns = record.sides[found.queries], record.sides[found.keys]
    kind = kind_of(found.name, rows.title or found.queries, columns.title or found.keys)
    names = ", ".join(_places(pick.heads))
    return " · ".join((kind, t("heads {heads}, each in its colour", heads=names)))


def _places(heads: str) -> dict[str, tuple[int, int]]:
    if not heads:
        return {}
    if not isinstance(heads, str) or not WRITTEN.fullmatch(heads):
        raise NoSuchPart(
            t(
                "heads are written as layer.head, counted from 1: 1.2,3.1; given {given}",
                given=repr(heads),
            )
        )
    places = {}
    for each in heads.split(","):
        layer, head = map(int, each.split("."))
        places[f"{layer}.{head}"] = layer, head
    if len(places) > MOST_HEADS:
        raise NoSuchPart(
            t(
                "{count} heads are too many to be told apart: at most {most}",
                count=len(places),
                most=MOST_HEADS,
            )
        )
    return places
