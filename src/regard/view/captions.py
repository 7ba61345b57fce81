"""What still pictures, terminal and page all call a map and its weights: captions.json."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from regard.words import say

NO_TEXT = (
    "label",
    "number",
    "answer",
    "own queries",
)  # titles of rows that are no text, as in record.js


def kind_of(name: str, queries: str = "", keys: str = "") -> str:
    """ "cross-attention" of "cross"; "pooling attention" of a name that is not listed.

    queries, keys: the titles of the sides. Between two texts is cross-attention; what no text asks is
    "attention over the review".
    """
    if name == "cross" and queries in NO_TEXT:
        return caption("over", side=keys)
    kinds = _captions()["kinds"]
    return say(kinds[name]) if name in kinds else caption("other kind", name=name)


def measure_name(name: str) -> str:
    """What the numbers of an explanation are called; those that have no word as they are: JSD, τ."""
    names = _captions()["measures"]
    return say(names[name]) if name in names else name


def side_name(title: str) -> str:
    """What a side is called, where it is one that regard has named."""
    names = _captions()["sides"]
    return say(names[title]) if title in names else title


def scale_name(map_name: str) -> str:
    """What the colours of a map stand for, where that is no weight; empty: it is one."""
    names = _captions()["scales"]
    return say(names[map_name]) if map_name in names else ""


def caption(*place: str, **values: object) -> str:
    """The text at a place: caption("mean", "head", n=4) is "mean over 4 heads"."""
    text: Any = _captions()
    for name in place:
        text = text[name]
    return say(text, **values)


@cache
def _captions() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(
        (files(__package__) / "captions.json").read_text(encoding="utf-8")
    )
    return read
