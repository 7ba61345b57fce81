"""Questions: what comes back as it went, and what is refused with a word that helps."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from regard.records.question import LONGEST, LONGEST_DOCUMENT, BadQuestion, Force, HeadOff, Question

QUESTIONS = [
    Question("我是一个学生。"),
    Question("a", prefix="b", beam=3, nbest=2, explain=True, details=False),
    Question("a", target="b c"),
    Question("a", force=Force(2, (0, 3))),
    Question("a", force=Force(0, (1,), layer=2, head=1)),
    Question("a", force=Force(0, (1, 4), weights=(0.5, 2))),
    Question("a", off=(HeadOff(1), HeadOff(2, 3, "encoder"))),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_comes_back_from_json_as_it_was(question):
    assert Question.from_dict(json.loads(json.dumps(question.to_dict()))) == question


@pytest.mark.parametrize(
    "sequence", [list, tuple, np.array, torch.tensor], ids=lambda s: s.__name__
)
def test_any_sequence_is_a_list_of_tokens_or_of_weights(sequence):
    force = Force(5, sequence([11, 3]), weights=sequence([1, 2]))
    assert force == Force(5, (11, 3), weights=(1, 2))
    assert Force(5, range(3)) == Force(5, (0, 1, 2))
    assert Question("a", off=[HeadOff(1)]) == Question("a", off=(HeadOff(1),))
    for wrong in ("11", {"11": 1}, 11, []):
        with pytest.raises(BadQuestion, match=r"force\.keys must be a list of one"):
            Force(5, wrong)


def test_what_is_left_out_is_as_usual():
    assert Question.from_dict({"text": "a"}) == Question("a")
    force = {"step": 1, "keys": [0]}
    assert Question.from_dict({"text": "a", "force": force}) == Question("a", force=Force(1, (0,)))
    assert Question.from_dict({"text": "a", "beam": None, "force": None}) == Question("a")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "a question is a JSON object, not []"),
        ({}, "a question needs 'text'; given nothing"),
        ({"txt": "a"}, "a question has no 'txt'. Did you mean 'text'?"),
        ({"text": "a", "n_best": 2}, "a question has no 'n_best'. Did you mean 'nbest'?"),
        ({"text": 3}, "text is a text, not 3"),
        ({"text": "a" * (LONGEST_DOCUMENT + 1)}, "text has 200,001 characters: at most 200,000"),
        ({"text": "a", "prefix": "a" * (LONGEST + 1)}, "prefix has 5,001 characters: at most 5,"),
        ({"text": "a", "prefix": None}, "prefix is a text, not None"),
        ({"text": "a", "beam": 0}, "beam must be a whole number from 1 to 50, not 0"),
        ({"text": "a", "beam": 51}, "beam must be a whole number from 1 to 50, not 51"),
        ({"text": "a", "beam": True}, "beam must be a whole number from 1 to 50, not True"),
        ({"text": "a", "nbest": 2.0}, "nbest must be a whole number from 1 to 50, not 2.0"),
        ({"text": "a", "beam": 2, "nbest": 3}, "nbest 3 needs a beam at least as wide"),
        ({"text": "a", "explain": "yes"}, "explain is true or false, not 'yes'"),
        ({"text": "a", "target": "b", "prefix": "c"}, "a target is given whole"),
        ({"text": "a", "force": 1}, "a force is a JSON object, not 1"),
        ({"text": "a", "force": {"step": 1}}, "a force needs 'keys'; given step"),
        ({"text": "a", "force": {"step": 1, "key": [0]}}, "no 'key'. Did you mean 'keys'?"),
        ({"text": "a", "force": {"step": 1, "keys": []}}, "force.keys must be a list of one"),
        ({"text": "a", "force": {"step": 1, "keys": 0}}, "force.keys must be a list of one"),
        ({"text": "a", "force": {"step": 1, "keys": [0, 0]}}, "force.keys names a source token tw"),
        ({"text": "a", "force": {"step": 1, "keys": ["0"]}}, "each of force.keys must be a whole"),
        ({"text": "a", "force": {"step": -1, "keys": [0]}}, "force.step must be a whole number"),
        ({"text": "a", "force": {"step": 1, "keys": [0], "head": 0}}, "force.head must be a who"),
        (
            {"text": "a", "force": {"step": 1, "keys": [0], "weights": [1, 2]}},
            "for each of the 1 keys",
        ),
        ({"text": "a", "force": {"step": 1, "keys": [0], "weights": 1}}, "for each of the 1 keys"),
        ({"text": "a", "force": {"step": 1, "keys": [0], "weights": [0]}}, "not all 0, given [0]"),
        ({"text": "a", "force": {"step": 1, "keys": [0], "weights": [-1]}}, "numbers from 0"),
        ({"text": "a", "force": {"step": 1, "keys": [0], "weights": ["1"]}}, "numbers from 0"),
        (
            {"text": "a", "force": {"step": 1, "keys": [0], "weights": [float("nan")]}},
            "numbers from",
        ),
        ({"text": "a", "off": 1}, "off is a list of {layer, head, map}, not 1"),
        ({"text": "a", "off": [1]}, "a head that is off is a JSON object, not 1"),
        ({"text": "a", "off": [{"head": 1}]}, "a head that is off needs 'layer'; given head"),
        ({"text": "a", "off": [{"layer": 0}]}, "off.layer must be a whole number from 1"),
        ({"text": "a", "off": [{"layer": 1, "head": 0}]}, "off.head must be a whole number from 1"),
        ({"text": "a", "off": [{"layer": 1, "map": "x"}]}, "off.map is one of cross, encoder, dec"),
        ({"text": "a", "off": [{"layer": 1}, {"layer": 1}]}, "off names a head twice"),
    ],
)
def test_a_mistake_is_named_in_one_line(given, message):
    with pytest.raises(BadQuestion) as error:
        Question.from_dict(given)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


def test_only_a_document_may_be_longer_than_a_text():
    long = Question("a" * (LONGEST + 1))
    with pytest.raises(BadQuestion, match="text has 5,001 characters: at most 5,000"):
        long.check_text_alone("a classifier")
    long.check_text_alone("a reader of documents", LONGEST_DOCUMENT)


PICTURE = "data:image/png;base64," + "iVBO" * 100_000


def test_a_picture_is_asked_about_as_a_text_and_called_by_its_name():
    alone = Question(PICTURE, name="digit.png")
    assert (alone.title, alone.shows_picture) == ("digit.png", True)
    assert Question(PICTURE).title == "a picture"
    both = Question(f'{{"image": "{PICTURE}", "text": "red?"}}', name=r"a\1.png")
    assert both.title == r'{"image": "a\1.png", "text": "red?"}'
    assert (Question("red?").title, Question("red?").shows_picture) == ("red?", False)
    assert Question.from_dict(alone.to_dict()) == alone
    alone.check_picture_alone("a model of pictures")
    both.check_picture_alone("a model of pictures")


def test_a_picture_does_not_lengthen_what_a_text_may_be():
    with pytest.raises(BadQuestion, match="at most 5,000"):
        Question(PICTURE).check_text_alone("a classifier")
    with pytest.raises(BadQuestion, match="at most 5,000"):
        Question(f'{{"image": "{PICTURE}", "text": "{"a" * 6000}"}}').check_picture_alone("it")
    with pytest.raises(BadQuestion, match="at most 16,777,216"):
        Question("data:image/png;base64," + "A" * (1 << 24))
    with pytest.raises(BadQuestion, match="has no beam: ask it about a picture alone"):
        Question(PICTURE, beam=2).check_picture_alone("a model of pictures")
