"""The numbers of a record as CSV, npz and JSON are the numbers of the record."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from regard.looking.look import look
from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import Beam, BeamNode
from regard.records.explanation import Explanation
from regard.records.json_text import MOST, left_packed
from regard.records.record import AttentionRecord
from regard.records.side import Side


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


@pytest.fixture
def record() -> AttentionRecord:
    source = Side.of("abc d", ["ab", "c", "d"], [(0, 2), (2, 3), (4, 5)], title="source")
    target = Side.of("x y", ["x", "y"], [(0, 1), (2, 3)], title="target")
    allowed = np.array([[True, True, False], [True, True, True]])
    scores = numbers(2, 2, 2, 3, seed=1)
    scores[0, 0, 0] = np.nan, np.inf, -np.inf
    cross = AttentionMap(
        "cross",
        "target",
        "source",
        numbers(2, 2, 2, 3),
        scores=scores,
        allowed=allowed[None, None],
        values=numbers(2, 2, 3, 4, seed=2),
        query_vectors=numbers(2, 2, 2, 5, seed=3),
        key_vectors=numbers(2, 2, 3, 5, seed=4),
        score_vector=numbers(2, 2, 5, seed=5),
    )
    beam = Beam((BeamNode(-1, "x", -0.5, -0.5, "ended", -0.5, 0),), numbers(1, 3))
    told = Explanation("gradient", "g", "r", "cross", numbers(2, 3), {"τ": [0.5, np.nan]})
    return AttentionRecord(
        {"source": source, "target": target},
        (cross,),
        "abc d",
        "m",
        beam=beam,
        explanations=(told,),
    )


def test_the_csv_has_the_whole_matrix_that_is_shown(record, tmp_path):
    view = look(record, layer=2, head=1, tokens=True)
    lines = list(csv.reader(view.save(tmp_path / "a.csv").open(encoding="utf-8", newline="")))
    assert lines[0] == ["", "ab", "c", "d"]
    assert [line[0] for line in lines[1:]] == ["x", "y"]
    read = [[np.float32(cell) if cell else None for cell in line[1:]] for line in lines[1:]]
    expected = record.maps[0].weights[1, 0].tolist()
    expected[0][2] = None  # not allowed
    assert read == expected
    words = list(csv.reader(io.StringIO(look(record).to_csv())))
    assert words[0] == ["", "abc", "d"]


def test_a_spreadsheet_computes_nothing_and_records_follow_each_other():
    made = AttentionRecord.of([[1.0, 0.0]], ["=1+1"], ["-2", "a,b"])
    text = look(made, made).to_csv()
    assert text.startswith(",'-2,\"a,b\"\r\n'=1+1,1,0\r\n\r\n")
    assert text.count("=1+1") == 2


def test_the_npz_has_every_array_and_needs_no_pickle(record, tmp_path):
    found = np.load(look(record).save(tmp_path / "a.npz"), allow_pickle=False)
    cross = record.maps[0]
    for name in ("weights", "scores", "values", "query_vectors", "key_vectors", "score_vector"):
        np.testing.assert_array_equal(found[f"cross/{name}"], getattr(cross, name))
    assert found["cross/allowed"].shape == cross.weights.shape
    assert found["source/tokens"].tolist() == ["ab", "c", "d"]
    assert found["source/words"].tolist() == [0, 0, 1]
    np.testing.assert_array_equal(found["beam/weights"], record.beam.weights)
    np.testing.assert_array_equal(found["cross/gradient"], record.explanations[0].matrix)
    np.testing.assert_array_equal(found["cross/gradient/τ"], [0.5, np.nan])
    both = np.load(look(record, record).save(tmp_path / "b.npz"))
    np.testing.assert_array_equal(both["2/cross/weights"], cross.weights)


def test_the_json_has_numbers_that_are_read_back_exactly(record):
    text = record.to_json()
    plain = json.loads(text)
    weights = plain["maps"][0]["weights"]
    assert weights["type"] == "numbers"
    np.testing.assert_array_equal(np.array(weights["data"], np.float32), record.maps[0].weights)
    assert plain["maps"][0]["scores"]["data"][0][0][0] == [None, "Infinity", "-Infinity"]
    assert plain["maps"][0]["allowed"]["data"][1][1] == [[1, 1, 0], [1, 1, 1]]
    row = ", ".join(str(x) for x in record.maps[0].weights[0, 0, 0])
    assert f"[{row}]" in [line.strip(" ,") for line in text.splitlines()]  # a row to a line
    again = AttentionRecord.from_json(text)
    assert again.to_dict() == record.to_dict()
    assert again.to_json() == text


def test_an_array_too_large_to_be_read_stays_packed_and_says_so():
    large = AttentionRecord.of(numbers(1, 1, 257, 256), range(257), range(256))
    written = json.loads(large.to_json())["maps"][0]["weights"]
    assert (written["type"], MOST < 257 * 256) == ("float32", True)
    assert written["note"].startswith("65,792 numbers as bytes in base64")
    assert left_packed(large.to_dict()) == ["maps.attention.weights"]
    again = AttentionRecord.from_json(large.to_json())
    np.testing.assert_array_equal(again.maps[0].weights, large.maps[0].weights)


@pytest.mark.parametrize(
    "data", [[[[[0.5]]]], [[[[0.5, "x"]]]], [[[0.5, 0.5]]], [[[[[1], 1]]]], 3, [[[[0.5, {}]]]]]
)
def test_lists_of_another_shape_are_refused(data):
    given = AttentionRecord.of([[0.5, 0.5]], ["a"], ["b", "c"]).to_dict()
    given["maps"][0]["weights"] = {"type": "numbers", "shape": [1, 1, 1, 2], "data": data}
    with pytest.raises(ValueError, match="a part of the record is missing or of another kind"):
        AttentionRecord.from_dict(given)


def test_the_repr_of_a_record_is_one_line(record):
    assert repr(record) == "<AttentionRecord 'abc d' · by 'm' · cross 2 × 2 × 2 × 3>"
    long = AttentionRecord.of(numbers(3, 3), list("abc"), title="line\nafter line " * 30)
    assert "\n" not in repr(long)
    assert len(repr(long)) < 120
    assert repr(record.maps[0]) == "<AttentionMap 'cross': target → source, 2 × 2 × 2 × 3>"
