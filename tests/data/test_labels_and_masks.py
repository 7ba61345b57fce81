"""Texts with labels, verbatim tokenizers and the token <mask>."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.examples import read_examples
from regard.data.fields import Label, Text
from regard.data.tokenizer import MASK, Tokenizer

VERBATIM = {
    kind: Tokenizer.train(["ab ba  a\n\n\tb", "a b\n"] * 5, kind=kind, size=80, verbatim=True)
    for kind in ("character", "bpe", "unigram")
}


def test_a_split_of_labelled_texts_keeps_every_label_in_training(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("".join(f"{'ab'[i % 2]}\tword{i}\n" for i in range(900)))
    fields = [Text("text"), Label("label")]
    parts = {p: list(read_examples(f"{path}#1,0@{p}", fields)) for p in ("train", "dev", "test")}
    assert sum(map(len, parts.values())) == 900
    assert all({pair["label"] for pair in pairs} == {"a", "b"} for pairs in parts.values())
    sources = [pair["text"] for pairs in parts.values() for pair in pairs]
    assert len(set(sources)) == 900


@pytest.mark.parametrize("kind", VERBATIM)
@given(text=st.text(alphabet="ab \n\t", max_size=20))
def test_a_verbatim_tokenizer_gives_every_blank_back(kind, text):
    tokenizer = VERBATIM[kind]
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens.ids) == text
    assert "".join(text[slice(*place)] for place in tokens.offsets) == text


def test_a_verbatim_tokenizer_is_one_after_loading(tmp_path):
    VERBATIM["bpe"].save(tmp_path / "t.json")
    again = Tokenizer.load(tmp_path / "t.json")
    assert again.verbatim
    assert again.decode(again.encode(" a\n").ids) == " a\n"
    assert not Tokenizer.train(["a b"]).verbatim


@pytest.mark.parametrize("kind", ["word", "bpe", "unigram", "character"])
def test_the_mask_is_the_last_token_and_known_in_a_text(kind, tmp_path):
    texts = ["the cat sat on the mat"] * 3
    plain = Tokenizer.train(texts, kind=kind, size=60)
    masked = Tokenizer.train(texts, kind=kind, size=60, mask=True)
    assert masked.mask == len(plain) == len(masked) - 1
    assert plain.mask is None
    text = f"the {MASK} sat"
    tokens = masked.encode(text)
    place = tokens.ids.index(masked.mask)
    assert text[slice(*tokens.offsets[place])].strip() == MASK
    assert masked.encode("the cat").ids == plain.encode("the cat").ids
    masked.save(tmp_path / "t.json")
    again = Tokenizer.load(tmp_path / "t.json")
    assert (again.mask, again.encode(text).ids) == (masked.mask, tokens.ids)


def test_a_label_is_had_back_from_its_number():
    label = Label("fits")
    label.learn(["odd", "fits", "odd"])
    values = [{"fits": "odd"}, {"fits": "fits"}]
    numbers = label.collate(label.encode(values))["fits"]
    assert [label.decode(number) for number in numbers] == ["odd", "fits"]  # tensors
    assert [label.decode(number) for number in numbers.tolist()] == ["odd", "fits"]
