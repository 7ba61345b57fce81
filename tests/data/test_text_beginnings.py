"""The first tokens of a text are the same, however much of what follows them is read."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import text_beginnings
from regard.data.fields.document import Document, Sentences
from regard.data.text_beginnings import beginnings
from regard.data.tokenizer import KINDS, Tokenizer

TEXTS = [
    "Tom's daughter didn't know him.",
    'He said "no," and left the room: 2013, or 2014?',
    "我是一个学生。他说“不”，就离开了房间……",
    "한국어 문장 ภาษาไทย हिन्दी עברית",
] * 3
# what holds on to its neighbours, or looks as if it ended something
PIECES = st.sampled_from(
    [
        *"abé我是๐ำ한ᄀ한ൎ𑇂߀",
        *".,:;!?'’\"-<>()[]_。，！？；：、…",
        *" \t\n\r\x00\x1c\x85\u00a0\u3000▁",
        *[
            "\u0301",
            "\u200d",
            "\u200b",
            "\u0600",
            "\ufe0f",
            "👍",
            "🏽",
            "🇩",
            "Σ",
            "İ",
            "ﾞ",
            "\u0338",
        ],
        *["<mask>", "</s>", "<s>", " the ", "student", "学生", ", ", "。\n", "1 2", "a.b", "。我"],
    ]
)
LONG = st.lists(PIECES, min_size=20, max_size=120).map("".join)


@cache
def trained(kind: str, lowercase: bool, verbatim: bool, mask: bool) -> Tokenizer:
    how = {"lowercase": lowercase, "verbatim": verbatim, "mask": mask, "marks": not mask}
    return Tokenizer.train(TEXTS, kind=kind, size=200, **how)


TOKENIZERS = st.builds(trained, st.sampled_from(KINDS), st.booleans(), st.booleans(), st.booleans())


@given(text=LONG, tokenizer=TOKENIZERS, most=st.integers(0, 12))
@settings(max_examples=600, deadline=None)
def test_the_first_tokens_are_those_of_the_whole(text, tokenizer, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_beginnings, "LETTERS", 2)  # so that short texts are cut as well
        patch.setattr(text_beginnings, "MORE", 2)
        found = tokenizer.encode_many([text, "a", text], most)
        ids = tokenizer.encode_ids([text], most)
    whole = tokenizer.encode(text)[:most]
    assert found == [whole, tokenizer.encode("a")[:most], whole]
    assert ids == [whole.ids]


@given(text=LONG, tokenizer=TOKENIZERS)
@settings(max_examples=300, deadline=None)
def test_a_beginning_is_cut_as_the_whole_is(text, tokenizer):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_beginnings, "LETTERS", 2)
        patch.setattr(text_beginnings, "MORE", 2)
        *some, whole = beginnings(text, 3, split=tokenizer.kind == "split")
    assert whole == text
    (every,) = tokenizer.encode_ids([text])
    for ids in tokenizer.encode_ids(some):
        assert ids == every[: len(ids)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blank", [" ", "\n", ""])
def test_a_long_text_is_not_read_to_its_end(kind, blank):
    if kind == "split" and not blank:
        pytest.skip("one word")
    text = f"我是学生。{blank}" * 5000
    first = next(beginnings(text, 20, split=kind == "split"))
    assert len(first) < 400
    assert len(trained(kind, False, False, False).encode(first)) > 20


def test_a_text_without_a_place_to_cut_is_read_whole():
    assert list(beginnings("a" * 5000, 20, split=False)) == ["a" * 5000]


def test_sentences_of_no_words_are_not_counted():
    field = Document("text", kind="word", sentences=2, words=3)
    field.learn([field.read("a b c d. e f.")])
    value = Sentences("a b c d \0 e f a", ((0, 7), (8, 9), (10, 11), (12, 15)))
    ((_, words),) = field.encode([{"text": value}])
    assert list(words) == [3, 1]
    (found,) = field.tokens([value])
    assert [each.pieces for each in found] == [["a", "b", "c"], ["e"]]
    assert found[1].offsets == [(10, 11)]
