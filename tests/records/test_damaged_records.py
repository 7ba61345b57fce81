"""A record that was damaged in its file is refused with one sentence, before anything is drawn of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_attention_record import whole_record

from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.view.attention_view import View
from regard.view.picked_matrix import Pick
from regard.view.saved_records import read_saved

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

ONE = {"type": "numbers", "shape": [1, 1, 1, 1], "data": [[[[0.5]]]]}
LINE = {"type": "numbers", "shape": [2], "data": [0.5, 0.5]}
SQUARE = {"type": "numbers", "shape": [2, 2], "data": [[0.5, 0.5], [0.5, 0.5]]}
DAMAGES |= {
    f"{part} {array['shape']}": (at("maps", 0, part, value=array), f"{part} of map 'cross'")
    for part in ("scores", "values", "query_vectors", "key_vectors", "score_vector")
    for array in (ONE, LINE)
}
DAMAGES |= {
    "more bits than bytes": (
        at("maps", 0, "allowed", value={"type": "bits", "shape": [10**9, 10**9], "data": "AA=="}),
        "1,000,000,000,000,000,000 bits are not 1 bytes",
    ),
    "allowed of another shape": (at("maps", 0, "allowed", value=SQUARE), "allowed of map"),
    "factor of another shape": (at("maps", 0, "factor", value=LINE), "factor of map"),
    "a matrix of other axes": (at("explanations", 0, "matrix", value=SQUARE), "'gradient' is of"),
    "a matrix that is a line": (at("explanations", 0, "matrix", value=LINE), "'gradient' is of"),
    "rows of other queries": (
        at("explanations", 0, "rows", value={"τ": [1.0]}),
        "'gradient' is of",
    ),
    "rows of texts": (at("explanations", 0, "rows", value={"τ": ["a"] * 3}), "τ is a number"),
}

ALL_KEYS = {"type": "numbers", "shape": [1, 1, 3, 2], "data": [[[[0.5, 0.5]] * 3]]}
ALL_QUERIES = {"type": "numbers", "shape": [1, 1, 3, 1], "data": [[[[0.5]] * 3]]}


def with_vectors(given: Plain) -> None:
    given["maps"][0] |= {"query_vectors": ALL_QUERIES, "key_vectors": ALL_KEYS}


DAMAGES["queries of another size than keys"] = (with_vectors, "query_vectors of map")

NAN = float("nan")
KINDS: list[tuple[tuple[str | int, ...], tuple[Any, ...]]] = [
    (("title",), (NAN, None, [])),
    (("model",), ({}, 1)),
    (("notes",), ("x", [None])),
    (("question",), ("x", NAN, None, [])),
    (("sides", "source", "language"), (None, {}, [None])),
    (("sides", "source", "text"), (None, 5)),
    (("sides", "source", "tokens"), ({}, "我是。", [{}] * 3, [1] * 3)),
    (("sides", "source", "offsets"), ([["a", "b"]] * 3, [[0, 1e308]] * 3, [[0]] * 3, {})),
    (("maps", 0, "name"), ([], None)),
    (("maps", 0, "layers"), ([None], "x", ["max", None])),
    (("maps", 0, "normalizer"), ([], [0.5])),
    (("maps", 0, "shown"), ([99, 0], [0, -1], [0.5, 0.5], [True, False], ["max", None], [[], {}])),
    (("beam", "nodes", 0, "token"), (None, 1)),
    (("beam", "nodes"), ({}, "x", [None])),
    (("explanations", 0, "title"), (None, [])),
    (("glimpses",), ([[[0, 0, 1]]], [[["a"] * 4]], 5)),
]
DAMAGES |= {
    f"{'.'.join(map(str, path))}: {value}": (at(*path, value=value), "of another kind|shown from")
    for path, values in KINDS
    for value in values
}


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_record_is_refused(damage: Callable[[Plain], None], said: str) -> None:
    given = json.loads(whole_record().to_json())
    AttentionRecord.from_dict(given)  # it can be read before
    damage(given)
    with pytest.raises(NotARecord, match=said):
        AttentionRecord.from_json(json.dumps(given))


@pytest.mark.parametrize("read", [AttentionRecord.from_json, read_saved])
def test_a_file_that_is_nested_deeply_is_refused(read: Callable[[str], object]) -> None:
    deep = '{"format": ' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(NotARecord, match="nested"):
        read(deep)


@pytest.mark.parametrize("scored", [None, {}, "x", [7], [None], [[]], [{}], [{"format": 1}]])
def test_damaged_readings_are_refused(scored: Any) -> None:
    given = json.loads(whole_record().to_json())
    assert read_saved(json.dumps([given, given])).scored == ()  # as older files have it
    with pytest.raises(NotARecord) as refused:
        read_saved(json.dumps([given, given | {"scored": scored}]))
    assert "\n" not in str(refused.value)


def test_a_number_of_too_many_digits_is_refused() -> None:
    with pytest.raises(NotARecord, match="too long to be read"):
        read_saved('{"format": ' + "1" * 5_000 + "}")


def test_which_pairs_are_allowed_may_be_numbers() -> None:
    given = json.loads(whole_record().to_json())
    numbers = [[[[1, 0, 1]] * 3]]
    given["maps"][0]["allowed"] = {"type": "numbers", "shape": [1, 1, 3, 3], "data": numbers}
    record = AttentionRecord.from_json(json.dumps(given))
    assert record.map("cross").allowed.tolist() == np.array(numbers, bool).tolist()
    assert AttentionRecord.from_json(record.to_json()).map("cross").allowed is not None


@pytest.mark.parametrize("part", ["weights", "scores", "values"])
@pytest.mark.parametrize("number", [1e38, -1e38, None, "Infinity", "-Infinity"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_beyond_all_sizes_are_drawn(part: str, number: Any, tmp_path: Path) -> None:
    given = json.loads(whole_record().to_json())
    array = given["maps"][0][part]
    array["data"] = np.full(array["shape"], number, object).tolist()
    view = View(read_saved(json.dumps(given)).records, pick=Pick("cross", 1, 1, tokens=True))
    for tab in ("steps", "explain", "table"):
        view.save(tmp_path / "a.svg", tab=tab)
