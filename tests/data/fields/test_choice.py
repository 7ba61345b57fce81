"""A choice: candidates of an example's own, and which is right."""

from __future__ import annotations

import json

import pytest
from lives import batch_of, reloaded, stored

from regard.data.fields import Alternatives, Choice, Text, Unusable
from regard.data.tokenizer import PAD, UNK

CITIES = Alternatives(("Paris", "Rome", "New York"), 1)


def learnt(**settings) -> Choice:
    field = Choice("city", **settings)
    field.learn([CITIES, Alternatives(("Bonn", "Rome"))])
    return field


def test_what_can_be_read():
    read = Choice("city").read
    named = {"candidates": ["Paris", "Rome", "New  York"], "answer": 1}
    for cell in (
        named,
        named | {"answer": "Rome"},
        json.dumps(named),
        "Paris|*Rome|New York",
        "Paris | * Rome | New York",
    ):
        assert read(cell) == CITIES
    assert (
        read("Paris|Rome")
        == read({"candidates": ["Paris", "Rome"]})
        == read(["Paris", "Rome"])
        == Alternatives(("Paris", "Rome"))
    )
    assert read({"candidates": [1, 2], "answer": 1}) == Alternatives(("1", "2"), 1)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ({"candidates": ["a", "b"], "answer": 2}, "no candidate"),
        ({"candidates": ["a", "b"], "answer": -1}, "no candidate"),
        ({"candidates": ["a", "b"], "answer": True}, "no candidate"),
        ({"candidates": ["a", "b"], "answer": 10**400}, "no candidate"),
        ({"candidates": ["a", "b"], "answer": "c"}, "no candidate"),
        ({"candidates": ["a", "b"], "answer": ["a"]}, "no candidate"),
        ({"candidates": ["a", " a"], "answer": 0}, "same candidate twice"),
        ({"candidates": ["a"], "answer": 0}, "two candidates"),
        ({"candidates": ["a", " "], "answer": 0}, "two candidates"),
        ({"candidates": ["a", ["b"]]}, "list of candidates"),
        ({"candidates": "ab"}, "list of candidates"),
        ("{" * 5000, "not in JSON"),
        ('{"candidates": ["a"', "not in JSON"),
        ('{"a": 1}', "list of candidates"),
        ("*a|*b", "two answers"),
        ("", "two candidates"),
        (3, "list of candidates"),
        (None, "list of candidates"),
        (["a", True], "list of candidates"),
    ],
)
def test_what_cannot(cell, said):
    with pytest.raises(Unusable, match=said):
        Choice("city").read(cell)


def test_a_batch_by_hand(tmp_path):
    field = learnt()
    paris, rome, new, york, bonn = (
        field.tokenizer.encode(word).ids[0] for word in ("Paris", "Rome", "New", "York", "Bonn")
    )
    examples = [{"city": CITIES}, {"city": Alternatives(("Bonn", "Oslo"), 0)}]
    batch = batch_of(tmp_path, [field], examples)
    assert batch["city"].tolist() == [
        [[paris, PAD], [rome, PAD], [new, york]],
        [[bonn, PAD], [UNK, PAD], [PAD, PAD]],
    ]
    assert batch["city_mask"].sum(-1).tolist() == [[1, 1, 2], [1, 1, 0]]
    assert batch["city_answer"].tolist() == [1, 0]
    assert stored(tmp_path, [field], examples).lengths(field).tolist() == [6, 2]


def test_without_an_answer_it_can_be_asked_but_not_trained_on():
    field = learnt()
    (parts,) = field.encode([{"city": Alternatives(("a", "b"))}])
    assert field.too_long(parts) == "{}lines without an answer"
    assert field.collate([parts])["city_answer"].tolist() == [-100]
    (parts,) = field.encode([{"city": CITIES}])
    assert field.too_long(parts) is None


def test_a_candidate_has_a_token_and_not_too_many():
    field = learnt(words=1)
    (parts,) = field.encode([{"city": Alternatives(("New York", "\x01"), 0)}])
    assert [int(x) for x in parts[1]] == [1, 1]
    assert int(parts[0][1]) == UNK


def test_what_is_learnt_is_saved_or_shared():
    field = learnt()
    reloaded(field, Choice("city"))
    text = Text("text", kind="word")
    text.learn(["Rome"])
    assert Choice("city", like=text).file is None
    assert Choice("city", like=text).size == text.size
    with pytest.raises(ValueError, match="has no tokenizer"):
        Choice("city", like=Choice("other"))


def test_shown_and_told_apart():
    field = Choice("city")
    assert field.show(CITIES) == "Paris|*Rome|New York"
    assert field.read(field.show(CITIES)) == CITIES
    assert field.identity(CITIES) == field.identity(Alternatives(("rome", "new york", "paris"), 0))
