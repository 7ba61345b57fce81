"""Words of a source behind the vocabulary: numbered, found again, and spelt as they stood."""

from __future__ import annotations

import pytest

from regard.data.extended_tokenizer import ExtendedTokenizer
from regard.data.fields import CopiedText
from regard.data.tokenizer import UNK, Tokenizer, Tokens

KNOWN = ["the cat sat on the mat .", "a cat ( on a mat )"]


@pytest.fixture(scope="module")
def words() -> Tokenizer:
    return Tokenizer.train(KNOWN, kind="word")


def extended(tokenizer: Tokenizer, text: str, first: int | None = None) -> ExtendedTokenizer:
    tokens = tokenizer.encode(text)
    cut = Tokens(tokens.ids[:first], tokens.pieces[:first], tokens.offsets[:first])
    return ExtendedTokenizer(tokenizer, text, cut)


def test_unknown_words_have_the_ids_behind_the_vocabulary_in_their_order(words: Tokenizer) -> None:
    text, size = "the zebra sat on zorro the zebra .", len(words)
    known = extended(words, text)
    ids = known.encode(text).ids
    assert [i for i in ids if i >= size] == [size, size + 1, size]
    assert [i for i in ids if i < size] == [i for i in words.encode(text).ids if i != UNK]
    assert len(known) == size + 2
    assert len(words) == size, "the tokenizer itself stays as it is"
    assert known.encode_ids(["zorro yak"]) == [[size + 1, UNK]]


@pytest.mark.parametrize(
    "text", ["the zebra sat (zorro) on the-zig-zag mat.", "Zebra, cat", "the 斑马 sat", "斑马 sat"]
)
def test_what_is_copied_is_spelt_as_it_stood(words: Tokenizer, text: str) -> None:
    known = extended(words, text)
    assert known.decode(known.encode(text).ids) == text


def test_numbered_tokens_are_numbered_again_alike(words: Tokenizer) -> None:
    text = "the zebra sat on zorro"
    once = extended(words, text).encode(text)
    again = ExtendedTokenizer(words, text, once)
    assert again.encode(text) == once


def test_case_goes_where_the_vocabulary_has_none() -> None:
    lower = Tokenizer.train(KNOWN, kind="word", lowercase=True)
    known = extended(lower, "the Zebra sat")
    assert known.encode("zebra ZEBRA").ids == [len(lower)] * 2
    assert known.decode([len(lower)]) == "zebra"


def test_pieces_and_characters_too() -> None:
    for kind in ("bpe", "character", "unigram"):
        tokenizer = Tokenizer.train(KNOWN, kind=kind, size=40)
        known = extended(tokenizer, "the ☃ sat")
        assert known.decode(known.encode("a ☃ cat").ids) == "a ☃ cat"


def test_a_field_numbers_what_its_source_has_as_far_as_it_is_read(words: Tokenizer) -> None:
    source = CopiedText("source", kind="word", max_length=4, cut=True)
    target = CopiedText("target", source=source, kind="word")
    source.tokenizer = target.tokenizer = words
    size = len(words)
    examples = [
        {"source": "the zebra sat on zorro", "target": "zorro zebra cat"},
        {"source": "", "target": "zebra"},
    ]
    (read,), (empty,) = source.encode(examples)
    assert len(read) == 4
    assert read[1] == size
    assert not len(empty)
    (said,), (alone,) = target.encode(examples)
    assert said[:2] == [UNK, size], "zorro stands behind what is read"
    assert alone == [UNK]
    batch = target.collate([(said,), (alone,)])
    assert batch["target"].max() == size
    assert source.types == ("<i4",)
