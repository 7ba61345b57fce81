"""Tokens: where they are in the raw text, what comes back, and that training gives one answer."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from functools import cache

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from regard.data import vocabulary
from regard.data.tokenizer import BOS, EOS, KINDS, PAD, UNK, Tokenizer

TEXTS = [
    "Tom's daughter didn't know him.",
    "I am a student, you are a student.",
    'He said "no" and left the room.',
    "It costs 2013 yuan (or more)!",
    "naïve café",
    "我是一个学生。",
    "汤姆的女儿不认识他。",
    "他说“不”，就离开了房间……",
    "这个２０１３元！",
] * 3

HOSTILE = [
    "",
    "   ",
    "  Two  spaces ",
    "tab\tnewline\nnul\x00end",
    "line\u2028separator\u0085next",
    "no\u00a0break\u202fspace\u3000wide",
    "cafe\u0301 e\u0301\u0301",
    "👨‍👩‍👧 👍🏽 🇩🇪 ok",
    "ＡＢＣ１２３，！",
    "我是 Tom 的 student。",
    "</s> <s> <pad> <unk>",
    "a▁b ▁ ▁▁",
    "İstanbul ŒUVRE ﬁn ½",
    "\u0301starts with a mark",
    "\ufeffbom \u200bzero \u200dwidth",
    "饕餮𠮷𠮷",
    "한국어 문장 ภาษาไทย हिन्दी",
    "x" * 500,
]


@pytest.fixture(scope="module")
def trained() -> dict[tuple[str, bool], Tokenizer]:
    return {
        (kind, lower): Tokenizer.train(TEXTS, kind=kind, size=300, lowercase=lower)
        for kind in KINDS
        for lower in (False, True)
    }


def is_blank(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) == "Cc" or character == "▁"


def check_places(tokenizer: Tokenizer, text: str) -> None:
    """Pieces are slices of the text, in order, without overlap, and leave out nothing but blanks."""
    tokens = tokenizer.encode(text)
    assert len(tokens.ids) == len(tokens.pieces) == len(tokens.offsets)
    last, covered = (0, 0), set()
    for piece, (start, end) in zip(tokens.pieces, tokens.offsets, strict=True):
        # the two tokens of one character (İ in lower case) share its place
        assert last[1] <= start <= end <= len(text) or (start, end) == last
        assert piece == ("▁" if all(map(is_blank, text[start:end])) else text[start:end])
        covered |= set(range(start, end))
        last = start, end
    assert all(is_blank(c) for i, c in enumerate(text) if i not in covered)
    assert tokenizer.encode_ids([text]) == [tokens.ids]
    assert all(UNK <= i < len(tokenizer) and i not in (BOS, EOS) for i in tokens.ids)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_token_knows_its_place(trained, kind, lower):
    for text in (*TEXTS, *HOSTILE):
        check_places(trained[kind, lower], text)


# one raw character can give several tokens, or several characters one: both share their places
ALPHABET = st.characters(exclude_categories=["Cs", "Cc", "Cf", "Cn", "Co", "Mn", "Mc", "Me"])


@given(text=st.text(ALPHABET, max_size=30), kind=st.sampled_from(KINDS))
def test_places_in_any_text(trained, text, kind):
    check_places(trained[kind, False], text)


@given(text=st.text(max_size=30), kind=st.sampled_from(KINDS))
def test_no_text_breaks_it(trained, text, kind):
    tokenizer = trained[kind, True]
    tokens = tokenizer.encode(text)
    for piece, (start, end) in zip(tokens.pieces, tokens.offsets, strict=True):
        assert piece in ("▁", text[start:end])
    tokenizer.decode(tokens.ids)


@pytest.mark.parametrize("kind", KINDS)
def test_decoding_gives_the_text_back(trained, kind):
    tokenizer = trained[kind, False]
    for text in TEXTS:
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    lowered = trained[kind, True]
    assert lowered.decode(lowered.encode("Tom's Daughter").ids) == "tom's daughter"


def test_decoding_stops_at_the_end_and_drops_what_is_special(trained):
    tokenizer = trained["bpe", False]
    ids = tokenizer.encode("I am a student").ids
    assert tokenizer.decode([BOS, *ids, PAD, EOS, *ids]) == "I am a student"
    assert tokenizer.decode([UNK, EOS]) == ""


@cache
def small_tokenizer(kind: str, verbatim: bool) -> Tokenizer:
    return Tokenizer.train([*TEXTS, " a  b "], kind=kind, size=90, verbatim=verbatim)


@pytest.mark.parametrize("verbatim", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_the_lengths_of_all_beginnings_are_those_of_their_texts(kind, verbatim, data):
    if verbatim and kind == "split":
        return
    tokenizer = small_tokenizer(kind, verbatim)
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=12))
    unknown = {place: data.draw(st.sampled_from(["", " ", "ab", "学"])) for place in (0, 2, 5)}
    for given_ in (None, unknown):
        wanted = [len(tokenizer.decode(ids[: n + 1], given_)) for n in range(len(ids))]
        assert tokenizer.decoded_lengths(ids, given_) == wanted


@pytest.mark.parametrize("kind", ["bpe", "unigram", "word"])
def test_unknown_words_can_be_given(trained, kind):
    tokenizer = trained[kind, False]
    text = "I am 饕餮."
    ids = tokenizer.encode(text).ids
    assert ids.count(UNK) == 1
    assert tokenizer.decode(ids, {ids.index(UNK): "Taotie"}).endswith("am Taotie.")
    assert "  " not in tokenizer.decode(ids)


def test_special_names_in_a_text_are_text(trained):
    for tokenizer in trained.values():
        for text in ("</s><s><pad><unk>", "a </s> <s> <pad> <unk>", "</S>"):
            assert not {PAD, BOS, EOS} & set(tokenizer.encode(text).ids)
    words = Tokenizer.train(["a </s> <unk> b"], kind="split")
    assert words.encode("</s> <unk> a").ids[1] == UNK
    assert UNK not in words.encode("</s> a b").ids  # a word like others


def test_half_a_surrogate_pair_is_an_unknown_character(trained):
    for tokenizer in trained.values():
        tokens = tokenizer.encode("a \ud83d b")
        assert tokens.pieces[-1].strip() == "b"
        assert UNK in tokens.ids


def test_pieces_are_what_a_reader_expects():
    chinese = ["我是学生。", "我是老师。", "学生来了。", "老师来了。"] * 5
    tokenizer = Tokenizer.train(chinese, size=60)
    assert tokenizer.encode("学生是老师。").pieces == ["学生", "是", "老师", "。"]
    english = ["I don't know, I said.", 'I don\'t know "it".'] * 5
    tokenizer = Tokenizer.train(english, size=200)
    assert tokenizer.encode('I don\'t know, "it".').pieces == [
        *["I", "don't", "know", ",", '"', "it", '"', "."]
    ]
    characters = Tokenizer.train(["👨‍👩‍👧e\u0323\u0301x"], kind="character")
    assert characters.encode("👨‍👩‍👧e\u0323\u0301x").pieces == ["👨‍👩‍👧", "e\u0323\u0301", "x"]


def test_texts_of_several_scripts_share_a_vocabulary(trained):
    tokenizer = trained["bpe", False]
    assert UNK not in tokenizer.encode("I am 我是").ids
    first, inner = tokenizer.encode("学生").ids, tokenizer.encode("？学生").ids
    assert inner == [UNK, *first]  # no mark before a script without spaces


@pytest.mark.parametrize("kind", KINDS)
def test_size_is_a_limit(kind):
    for size in (5, 12, 40, 100_000):
        tokenizer = Tokenizer.train(TEXTS, kind=kind, size=size)
        assert 5 <= len(tokenizer) <= size
    assert len(tokenizer) > 30
    for small in (["a"], ["我"], ["a b"]):
        check_places(Tokenizer.train(small, kind=kind), "a b 我 c")


def test_the_most_frequent_words_are_kept():
    texts = ["b b b a a a c c d"]
    tokenizer = Tokenizer.train(texts, kind="word", size=7)
    assert tokenizer.encode("a b c d").ids == [4, 5, 6, UNK]


def test_rare_characters_of_a_large_text_are_unknown_and_of_a_small_one_are_not():
    common = ["的一是不了人我在有他这中大来上国"] * 1000
    large = Tokenizer.train([*common, "饕餮"], size=100)
    assert large.encode("饕").ids == [UNK]
    assert large.encode("饕餮的").pieces == ["饕餮", "的"]
    small = Tokenizer.train([*common[:10], "饕餮"], size=100)
    assert UNK not in small.encode("饕餮").ids


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded_is_the_same(trained, tmp_path, kind):
    tokenizer = trained[kind, True]
    tokenizer.save(tmp_path / "t.json")
    loaded = Tokenizer.load(tmp_path / "t.json")
    assert loaded.kind == kind
    assert loaded.to_json() == tokenizer.to_json()
    for text in (*TEXTS, *HOSTILE):
        assert loaded.encode(text) == tokenizer.encode(text)
    plain = tokenizers.Tokenizer.from_file(str(tmp_path / "t.json"))
    assert plain.encode(TEXTS[0]).ids == tokenizer.encode(TEXTS[0]).ids


TRAIN = """
import sys
from regard.data.tokenizer import KINDS, Tokenizer
from regard.data.examples import read_pairs
texts = [text for pair in read_pairs("tatoeba-zh-en:dev") for text in (pair.source, pair.target)]
for kind in KINDS:
    print(Tokenizer.train(iter(texts), kind=kind, size=2000).to_json())
"""


def test_the_same_texts_give_the_same_file_in_any_process():
    """Hashes, and with them the order in which the library meets words, differ between processes."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", TRAIN],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        )
        for seed in (1, 2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert not runs[0].stderr


def test_a_larger_text_is_sampled_evenly(monkeypatch):
    monkeypatch.setattr(vocabulary, "SAMPLE", 100)
    kept = vocabulary.sample(str(i) for i in range(10_000))
    assert len(kept) == len(set(kept)) == 100
    assert 3000 < sum(map(int, kept)) / 100 < 7000
    assert kept == vocabulary.sample(str(i) for i in range(10_000))


def test_mistakes_get_an_answer(tmp_path):
    with pytest.raises(ValueError, match=r"no tokenizer kind 'pbe': bpe, unigram, word, character"):
        Tokenizer.train(TEXTS, kind="pbe")
    with pytest.raises(ValueError, match="4 special tokens, size 4 has no room"):
        Tokenizer.train(TEXTS, size=4)
    with pytest.raises(ValueError, match="no text to learn a vocabulary from"):
        Tokenizer.train(["", " "])
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match=r"bad\.json is not a tokenizer file"):
        Tokenizer.load(tmp_path / "bad.json")
    foreign = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    foreign.save(str(tmp_path / "foreign.json"))
    with pytest.raises(ValueError, match="begins with <pad>, <unk>, <s>, </s>; this one with a"):
        Tokenizer.load(tmp_path / "foreign.json")


def test_without_marks_a_word_is_one_token_wherever_it_stands():
    texts = ['a "good" film (good, bad/good) 好', "good , bad ."]
    tokenizer = Tokenizer.train(texts, kind="word", size=40, marks=False)
    tokens = tokenizer.encode('good "good" (good/good), good')
    assert (
        len({i for i, piece in zip(tokens.ids, tokens.pieces, strict=True) if piece == "good"}) == 1
    )
    assert UNK not in tokens.ids
    assert tokens.pieces == ["good", '"', "good", '"', "(", "good", "/", "good", ")", ",", "good"]
    assert [tokens.pieces[i] for i in (0, 2, 5)] == ["good"] * 3
    text = 'good "good" (good/good), good'
    assert all(
        text[slice(*at)] == piece for at, piece in zip(tokens.offsets, tokens.pieces, strict=True)
    )
    again = Tokenizer.from_json(tokenizer.to_json())
    assert again.kind == "word"
    assert again.encode_ids([text]) == [tokens.ids]
    assert again.decode(tokens.ids) == 'good " good " ( good / good ) , good'
    marked = Tokenizer.train(texts, kind="word", size=40)
    assert marked.decode(marked.encode("good, bad").ids) == "good, bad"
