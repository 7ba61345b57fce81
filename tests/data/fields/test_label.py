"""A label: one of a few, in the order of the alphabet."""

from __future__ import annotations

import pytest
from lives import batch_of, reloaded

from regard.data.fields import Label, Unusable


def learnt() -> Label:
    field = Label("label")
    field.learn(field.read(cell) for cell in ("pos", " New York ", "neg", "pos"))
    return field


def test_labels_are_numbered_in_the_order_of_the_alphabet(tmp_path):
    field = learnt()
    assert field.labels == ["New York", "neg", "pos"]
    assert (field.number("pos"), field.size) == (2, 3)
    assert "neg" in field
    assert "New" not in field
    again = Label("label")
    reloaded(field, again)
    examples = [{"label": "pos"}, {"label": "New York"}]
    assert batch_of(tmp_path, [again], examples)["label"].tolist() == [2, 0]


def test_what_can_be_read():
    assert Label("label").read(7) == "7"
    for cell in (True, 1.5, None, ["a"], {}):
        with pytest.raises(Unusable, match="without a text"):
            Label("label").read(cell)
    with pytest.raises(Unusable, match="empty"):
        Label("label").read(" ")


def test_too_many_labels_are_texts():
    with pytest.raises(ValueError, match=r"more than 1,000 different labels .* another column"):
        Label("label").learn(f"text {i}" for i in range(2000))
    with pytest.raises(ValueError, match="the only label is 'a'"):
        Label("label").learn(["a", "a"])
    for text in ("{}", '{"labels": []}', '{"labels": [1]}', "[]"):
        with pytest.raises(ValueError, match="no list of labels"):
            Label("label").load(text)


def test_control_characters_reach_no_terminal():
    assert Label("label").read("D\x1b[2J\x00X") == "D [2J X"


def test_a_label_for_every_text_is_refused():
    label = Label("label")
    with pytest.raises(
        ValueError, match=r"603 examples have 603 different labels .* another column"
    ):
        label.learn(str(number) for number in range(603))
    with pytest.raises(ValueError, match="100 examples have 95 different labels"):
        label.learn(str(max(number, 5)) for number in range(100))
    label.learn(str(number // 2) for number in range(100))  # two texts each
    assert label.size == 50
    label.learn("abcdefghij")  # few texts, as of a trial
    assert label.size == 10


def test_a_file_that_holds_a_label_twice_is_none():
    with pytest.raises(ValueError, match="a label twice"):
        Label("label").load('{"labels": ["a", "b", "a"]}')


def test_labels_that_look_alike_are_one() -> None:
    field = Label("label")
    assert field.read("caf\u00e9") == field.read("cafe\u0301")


@pytest.mark.parametrize(("name", "said"), [("label", "2 labels"), ("fits", "2 values of fits")])
def test_labels_are_told_by_the_name_of_their_field(name, said):
    field = Label(name)
    field.learn(["odd", "fits", "odd"])
    assert field.describe({}) == f"{said}: fits, odd"
