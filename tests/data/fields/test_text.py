"""A text: tokens in, tokens out; words that are cut already stay as many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives import batch_of, reloaded

from regard.data.fields import Text, Unusable
from regard.data.tokenizer import BOS, EOS, PAD, UNK


def learnt(**settings) -> Text:
    field = Text("words", **({"kind": "split"} | settings))
    field.learn([field.read("a b c"), field.read(["b", "c"])])
    return field


def test_what_can_be_read():
    assert Text("t").read(" a  b ") == " a  b "
    assert Text("t", kind="split").read(" a  b ") == ["a", "b"]
    assert Text("t", kind="split").read(["New York", "b"]) == ["New_York", "b"]
    for cell in ("", " ", "\u3000"):
        with pytest.raises(Unusable, match=r"empty \{\}lines"):
            Text("t").read(cell)
    assert Text("t", blank=True).read("") == ""
    for cell in (3, None, {"a": 1}, ["a"]):
        with pytest.raises(Unusable, match="without a text"):
            Text("t").read(cell)
    for cell in ([], ["a", ""], ["a", "\x00"]):
        with pytest.raises(Unusable, match="empty"):
            Text("t", kind="split").read(cell)


@given(st.lists(st.text(max_size=6), min_size=1, max_size=6))
def test_words_stay_as_many_whatever_is_in_them(words):
    field = learnt()
    try:
        value = field.read(words)
    except Unusable:
        return
    assert len(field.tokenizer.encode(" ".join(value))) == len(value) == len(words)


def test_a_batch_by_hand(tmp_path):
    field = learnt(bos=True)
    a, b, c = (field.tokenizer.encode(word).ids[0] for word in "abc")
    batch = batch_of(tmp_path, [field], [{"words": ["a", "b", "c"]}, {"words": ["c", "x"]}])
    assert batch["words"].tolist() == [[BOS, a, b, c, EOS], [BOS, c, UNK, EOS, PAD]]
    assert batch["words_mask"].tolist() == [[True] * 5, [True] * 4 + [False]]


def test_what_is_learnt_is_saved():
    again = Text("words", kind="split")
    with pytest.raises(ValueError, match="learnt no tokenizer yet"):
        again.to_json()
    reloaded(learnt(), again)
    with pytest.raises(ValueError):  # noqa: PT011, in the words of the library
        again.load("[]")


def test_long_texts_are_cut_or_left_out():
    (parts,) = learnt(max_length=2).encode([{"words": ["a", "b", "c"]}])
    assert learnt(max_length=2).too_long(parts) == "{}lines over 2 tokens"
    assert learnt(max_length=3).too_long(parts) is None
    (cut,) = learnt(max_length=2, cut=True).encode([{"words": ["a", "b", "c"]}])
    assert len(cut[0]) == 2
    assert learnt(max_length=2, cut=True).too_long(parts) is None


def test_shown_in_one_line_and_told_apart():
    assert Text("t").show("a\n b") == "a b"
    assert Text("t", kind="split").show(["a", "b"]) == "a b"
    assert Text("t").identity("A b!") == Text("t").identity("ab")
