"""A record that was damaged in its file is refused with one sentence, before anything is drawn of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from test_attention_record import whole_record

from regard.records.record import AttentionRecord
from regard.records.side import NotARecord

Plain = dict[str, Any]


def at(*path: str | int, value: Any) -> Callable[[Plain], None]:
    """What puts a value at this place of a record."""

    def put(given: Any) -> None:
        for name in path[:-1]:
            given = given[name]
        given[path[-1]] = value

    return put


DAMAGES = {
    "the beam is a circle": (at("beam", "nodes", 0, "parent", value=1), "earlier node"),
    "a parent of itself": (at("beam", "nodes", 1, "parent", value=1), "earlier node"),
    "a parent that there is not": (at("beam", "nodes", 1, "parent", value=99), "earlier node"),
    "a parent below -1": (at("beam", "nodes", 0, "parent", value=-2), "earlier node"),
    "a parent that is true": (at("beam", "nodes", 1, "parent", value=False), "earlier node"),
    "a total that is none": (at("beam", "nodes", 1, "total", value=None), "total is a number"),
    "a text as log-probability": (at("beam", "nodes", 0, "log_prob", value="x"), "log_prob is"),
    "weights of another beam": (
        at("beam", "weights", value={"type": "numbers", "shape": [1, 3], "data": [[0, 0, 1]]}),
        "2 nodes",
    ),
    **{
        f"words {words}": (at("sides", "source", "words", value=words), "words are")
        for words in (
            [0, 2, 3],
            [0, 1, 0],
            [-1, 0, 1],
            [2, 1, 0],
            [5, 5, 5],
            [10**9] * 3,
            [0, 0.5, 1],
            [0.0, 1.0, 2.0],
            [float("nan")] * 3,
            ["a"] * 3,
            [False, True, True],
            [None] * 3,
        )
    },
}


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_record_is_refused(damage: Callable[[Plain], None], said: str) -> None:
    given = json.loads(whole_record().to_json())
    AttentionRecord.from_dict(given)  # it can be read before
    damage(given)
    with pytest.raises(NotARecord, match=said):
        AttentionRecord.from_json(json.dumps(given))
