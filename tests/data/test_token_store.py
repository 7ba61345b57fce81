"""Token ids on disk: the same as in memory, made once, made anew when anything changed."""

from __future__ import annotations

import os

import numpy as np
import pytest

from regard.data import store as storing
from regard.data.examples import read_examples, read_pairs
from regard.data.fields import Text
from regard.data.spec import parse
from regard.data.store import Store, Stored, make_store
from regard.data.tokenizer import Tokenizer

DEV = "tatoeba-zh-en:dev"
NUMBERS = ("source.ids", "source.ids.ends", "target.ids", "target.ids.ends", "lines")


def prepare(spec, zh, en, folder, *, max_length: int | None = None, join: int = 1) -> Store:
    """As a task makes a store."""
    sides = [Text(name, max_length=max_length) for name in ("source", "target")]
    sides[0].tokenizer, sides[1].tokenizer = zh, en

    def rows(problems):
        for example in read_examples(spec, sides, problems, apart=("target",), join=join):
            parts = {side.name: side.encode([example])[0] for side in sides}
            reasons = [(side.name, side.too_long(parts[side.name])) for side in sides]
            name, why = next(((n, why) for n, why in reasons if why), ("", None))
            if why is None:
                yield Stored(example.line, parts)
            else:
                problems.add(example.corpus, why.format(f"{name} "), example.line)

    return make_store(folder, rows, parse(spec), sides, [max_length, join], "pair")


@pytest.fixture(scope="module")
def zh() -> Tokenizer:
    return Tokenizer.train((pair.source for pair in read_pairs(DEV)), kind="character")


@pytest.fixture(scope="module")
def en() -> Tokenizer:
    return Tokenizer.train((pair.target for pair in read_pairs(DEV)), size=500)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "made" / "store"


def pair_of(store: Store, row: int) -> tuple[np.ndarray, np.ndarray]:
    example = store.example(row)
    return example["source"][0], example["target"][0]


def assert_holds(store: Store, pairs, zh: Tokenizer, en: Tokenizer) -> None:
    pairs = list(pairs)
    assert len(store) == len(pairs)
    for row, pair in enumerate(pairs):
        source, target = pair_of(store, row)
        assert source.tolist() == zh.encode(pair.source).ids
        assert target.tolist() == en.encode(pair.target).ids
        assert store.counts("source")["ids"][row] == len(source)
        assert store.counts("target")["ids"][row] == len(target)
        assert store.line(row) == pair.line


@pytest.mark.parametrize("join", [1, 3])
def test_a_store_holds_what_the_tokenizers_give(folder, zh, en, monkeypatch, join):
    monkeypatch.setattr(storing, "CHUNK", 100)  # several, the last one incomplete
    store = prepare(DEV, zh, en, folder, join=join)
    assert_holds(store, read_pairs(DEV, join=join), zh, en)
    assert_holds(Store.open(folder), read_pairs(DEV, join=join), zh, en)
    assert not pair_of(store, 0)[0].flags.owndata  # it is the file's own memory, which is only read
    assert not pair_of(store, 0)[0].flags.writeable
    with pytest.raises(IndexError, match=r"row -1 of a store of \d+ examples"):
        pair_of(store, -1)


def test_large_vocabularies_are_stored_whole(folder, zh, monkeypatch):
    words = Tokenizer.train(
        [" ".join(f"w{chr(i)}" for i in range(0x5000, 0x5000 + 70))], kind="word"
    )
    monkeypatch.setattr(Tokenizer, "__len__", lambda self: 70_000)
    monkeypatch.setattr(
        Tokenizer, "encode_ids", lambda self, texts, most=None: [[69_999, 3] for _ in texts]
    )
    store = prepare(DEV, words, zh, folder)
    assert pair_of(store, 0)[0].tolist() == [69_999, 3]


def test_long_pairs_are_left_out_and_counted(folder, zh, en):
    store = prepare(DEV, zh, en, folder, max_length=12)
    assert max(store.counts(side)["ids"].max() for side in ("source", "target")) <= 12
    left_out = store.problems.count()
    assert len(store) + left_out == sum(1 for _ in read_pairs(DEV))
    assert "source lines over 12 tokens" in store.problems.report()
    assert Store.open(folder).problems.report() == store.problems.report()
    kept = (
        pair
        for pair in read_pairs(DEV)
        if max(len(zh.encode(pair.source)), len(en.encode(pair.target))) <= 12
    )
    assert_holds(store, kept, zh, en)


def test_a_store_is_used_again_until_something_changes(folder, zh, en, monkeypatch):
    corpus = folder.parent.parent / "pairs.tsv"
    corpus.write_text("你好。\tHello.\n我。\tI.\n", encoding="utf-8")
    os.utime(corpus, ns=(1, 1))
    prepare("pairs.tsv", zh, en, folder)
    reads = []
    write = storing._write
    monkeypatch.setattr(storing, "_write", lambda *a, **k: reads.append(1) or write(*a, **k))

    def made_again(*tokenizers: Tokenizer, **settings) -> bool:
        reads.clear()
        store = prepare("pairs.tsv", *tokenizers, folder, **settings)
        assert_holds(store, read_pairs("pairs.tsv"), *tokenizers)
        return bool(reads)

    assert not made_again(zh, en)
    assert made_again(en, zh)
    assert made_again(zh, en, max_length=50)
    assert not made_again(zh, en, max_length=50)
    corpus.write_text("你好。\tHullo.\n我。\tI.\n", encoding="utf-8")  # of the same size
    assert made_again(zh, en, max_length=50)
    (folder / "source.ids").write_bytes(b"\0\0")  # cut off
    assert made_again(zh, en, max_length=50)
    assert [p.name for p in folder.parent.iterdir()] == ["store"]


def test_a_failure_leaves_what_was_there(folder, zh, en, monkeypatch):
    before = prepare(DEV, zh, en, folder)

    def full_disk(*_args, **_settings):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Text, "encode", full_disk)
    with pytest.raises(OSError, match="No space left"):
        prepare(DEV, zh, en, folder, max_length=5)
    assert Store.open(folder).fingerprint == before.fingerprint
    assert [p.name for p in folder.parent.iterdir()] == ["store"]


def test_mistakes_get_an_answer(folder, zh, en):
    here = folder.parent.parent
    (here / "bad.tsv").write_text("no tab\n\n")
    with pytest.raises(
        ValueError, match=r"no pair can be used\. bad\.tsv: 1 line without a column 1"
    ):
        prepare("bad.tsv", zh, en, folder)
    (here / "empty.tsv").write_text("")
    with pytest.raises(ValueError, match="The corpus is empty"):
        prepare("empty.tsv", zh, en, folder)
    with pytest.raises(ValueError, match="holds other things than a token store"):
        prepare(DEV, zh, en, here)
    with pytest.raises(ValueError, match="is not a token store, or a damaged one"):
        Store.open(here)
    assert not folder.exists()


@pytest.mark.parametrize("name", [*NUMBERS, storing.SETTINGS])
def test_a_store_of_which_a_bit_has_changed_is_made_anew_and_says_so(folder, zh, en, name):
    prepare(DEV, zh, en, folder)
    for place in (0.1, 0.5, 0.9):
        content = bytearray((folder / name).read_bytes())
        content[int(len(content) * place)] ^= 2
        (folder / name).write_bytes(bytes(content))
        store = prepare(DEV, zh, en, folder)
        assert_holds(store, read_pairs(DEV), zh, en)
        assert name == storing.SETTINGS or str(folder) in store.damage
        assert not prepare(DEV, zh, en, folder).damage


def test_what_is_left_of_a_store_is_no_other_thing(folder, zh, en):
    prepare(DEV, zh, en, folder)
    (folder / storing.SETTINGS).unlink()
    assert_holds(prepare(DEV, zh, en, folder), read_pairs(DEV), zh, en)


def test_a_store_is_on_the_disk_before_it_is_where_it_belongs(folder, zh, en, monkeypatch):
    done: list[str] = []
    real = os.replace
    monkeypatch.setattr(storing, "sync", lambda path: done.append(path.name))
    monkeypatch.setattr(os, "replace", lambda a, b: done.append("replace") or real(a, b))
    prepare(DEV, zh, en, folder)
    renamed = done.index("replace")
    assert {*NUMBERS, storing.SETTINGS} < {*done[:renamed]}
    assert done[renamed - 1].startswith(".store.")
    assert done[renamed + 1 :] == ["made"]
