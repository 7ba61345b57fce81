"""A document: sentences, words, their places, and blocks of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives import batch_of, reloaded, stored

from regard.data.fields import Document, Sentences, Text, Unusable
from regard.data.sentences import sentence_places
from regard.data.tokenizer import PAD, UNK


def learnt(**settings) -> Document:
    field = Document("story", **settings)
    field.learn([field.read("a b. c d."), field.read("a b c d .")])
    return field


def test_a_text_is_cut_where_sentences_end():
    for text, wanted in (
        (
            "Dr. Li has 3.14 dollars. Why?! She left.",
            ["Dr. Li has 3.14 dollars.", "Why?!", "She left."],
        ),
        ("他来了。“真的吗？”她问。", ["他来了。", "“真的吗？”", "她问。"]),
        ('He said "no." Then he left', ['He said "no."', "Then he left"]),
        ("one\ntwo\r\n\n three ", ["one", "two", "three"]),
        (
            "I saw J. Smith, e.g. here. He ran... and ran.",
            ["I saw J. Smith, e.g. here.", "He ran... and ran."],
        ),
        ("It was I. You knew.", ["It was I.", "You knew."]),
        ("no end", ["no end"]),
        (" \n ", []),
    ):
        assert [text[a:b] for a, b in sentence_places(text)] == wanted


@pytest.mark.parametrize("text", ["." * 100_000 + "x", "!" + "'" * 100_000 + "x", "A. " * 30_000])
def test_hostile_texts_take_no_longer_than_others(text):
    assert sentence_places(text)[-1][1] == len(text.rstrip())


@given(st.text(alphabet="aB .!?。”\n…'", max_size=40))
def test_sentences_leave_out_nothing_but_blanks(text):
    places = sentence_places(text)
    kept = {i for a, b in places for i in range(a, b)}
    assert all(text[i].isspace() for i in range(len(text)) if i not in kept)
    assert all(a < b for a, b in places)
    assert places == sorted(places)


def test_what_can_be_read():
    field = Document("story")
    assert list(field.read("One. Two.")) == ["One.", "Two."]
    assert list(field.read(["One. Two.", " three "])) == ["One. Two.", "three"]
    assert list(field.read([["a", "b"], [], ["c"]])) == ["a b", "c"]
    assert list(Document("s", kind="split").read([["New York", "b"]])) == ["New_York b"]
    value = field.read(["One.", "Two."])
    assert value == Sentences("One. Two.", ((0, 4), (5, 9)))
    for cell in (3, None, {"a": "b"}, ["a", 3], [["a", 3]], [[["a"]]], [None]):
        with pytest.raises(Unusable, match="without a text"):
            field.read(cell)
    for cell in ("", " \n", [], [" ", []]):
        with pytest.raises(Unusable, match=r"empty \{\}lines"):
            field.read(cell)


def test_a_batch_by_hand(tmp_path):
    field = learnt(kind="split")
    a, b, c = (field.tokenizer.encode(word).ids[0] for word in "abc")
    values = [[["a", "b"], ["c"]], [["c"]], [["a"], ["x", "b", "c"]]]
    examples = [{"story": field.read(value)} for value in values]
    batch = batch_of(tmp_path, [field], examples)
    assert batch["story"].tolist() == [
        [[a, b, PAD], [c, PAD, PAD]],
        [[c, PAD, PAD], [PAD, PAD, PAD]],
        [[a, PAD, PAD], [UNK, b, c]],
    ]
    assert batch["story_mask"].sum(-1).tolist() == [[2, 1], [1, 0], [1, 3]]
    assert batch["story_mask"][2].tolist() == [[True, False, False], [True] * 3]
    assert stored(tmp_path, [field], examples).lengths(field).tolist() == [4, 1, 6]  # S · W


def test_limits_cut():
    field = learnt(sentences=2, words=3)
    value = field.read(["a b c d a.", "b.", "c d."])
    (parts,) = field.encode([{"story": value}])
    assert list(map(int, parts[1])) == [3, 2]
    (tokens,) = field.tokens([value])
    assert [t.pieces for t in tokens] == [["a", "b", "c"], ["b", "."]]
    assert [value.text[slice(*place)] for t in tokens for place in t.offsets] == [
        "a",
        "b",
        "c",
        "b",
        ".",
    ]
    assert [t.ids for t in tokens] == [list(parts[0][:3]), list(parts[0][3:5])]
    with pytest.raises(ValueError, match="holds nothing"):
        Document("story", words=0)


def test_a_sentence_of_no_words_is_none():
    field = learnt()
    (parts,) = field.encode([{"story": Sentences("\x01 a", ((0, 1), (2, 3)))}])
    assert list(parts[1]) == [1]
    (nothing,) = field.encode([{"story": Sentences("\x01", ((0, 1),))}])
    assert field.too_long(nothing) == "{}lines without a word"
    assert field.collate([nothing])["story"].shape == (1, 0, 0)
    assert field.collate([nothing, parts])["story_mask"].tolist() == [[[False]], [[True]]]


def test_what_is_learnt_is_saved_or_shared():
    field = learnt()
    reloaded(field, Document("story"))
    other = Document("other", like=field)
    assert other.file is None
    assert other.tokenizer is field.tokenizer
    text = Text("text")
    text.learn(["a b"])
    assert Document("story", like=text).tokenizer is text.tokenizer
    with pytest.raises(ValueError, match="learnt no tokenizer yet"):
        Document("story").tokenizer  # noqa: B018


def test_shown_and_told_apart():
    field = Document("story")
    assert field.show(field.read("One.\nTwo.")) == "One. Two."
    assert field.identity(field.read("One.\nTwo!")) == field.identity(field.read(["one", "two"]))
