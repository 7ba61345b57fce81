"""How corpora are named and found, and what is said when they are not."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from regard.data.examples import read_pairs
from regard.data.spec import keep_standard_input, locate, parse


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REGARD_DATA", raising=False)
    for name in (
        "a.zh",
        "a.en",
        "b.zh",
        "b.en",
        "one.tsv",
        "two.tsv",
        "x+y.zh",
        "x,y.en",
        "c#.tsv",
    ):
        (tmp_path / name).write_text("")
    return tmp_path


def files(spec) -> list[tuple[str, ...]]:
    return [tuple(file.name for file in corpus.files) for corpus in parse(spec)]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("a.zh,a.en", [("a.zh", "a.en")]),
        (["a.zh", "a.en"], [("a.zh", "a.en")]),
        ("one.tsv", [("one.tsv",)]),
        (["one.tsv", "two.tsv"], [("one.tsv",), ("two.tsv",)]),
        ("a.zh,a.en+b.zh,b.en", [("a.zh", "a.en"), ("b.zh", "b.en")]),
        ([["a.zh", "a.en"], ["b.zh", "b.en"]], [("a.zh", "a.en"), ("b.zh", "b.en")]),
        (["a.zh,a.en", "b.zh,b.en"], [("a.zh", "a.en"), ("b.zh", "b.en")]),
        (["a.zh", "a.en", "one.tsv"], [("a.zh",), ("a.en",), ("one.tsv",)]),
        (["x+y.zh", "x,y.en"], [("x+y.zh", "x,y.en")]),
        ("c#.tsv", [("c#.tsv",)]),
        ("tatoeba-zh-en:dev", [("tatoeba-zh-en.dev.tsv.xz",)]),
        (["tatoeba-zh-en:dev", "one.tsv#1,0"], [("tatoeba-zh-en.dev.tsv.xz",), ("one.tsv",)]),
    ],
    ids=str,
)
def test_the_grammar(spec, wanted):
    assert files(spec) == wanted


def test_columns_and_fields():
    assert parse("one.tsv")[0].columns == ("0", "1")
    assert parse("one.tsv#2,0")[0].columns == ("2", "0")
    assert parse("tatoeba-zh-en:dev#1,0")[0].columns == ("1", "0")
    (forward,), (back,) = ([next(read_pairs(f"tatoeba-zh-en:dev{c}"))] for c in ("", "#1,0"))
    assert (forward.source, forward.target) == (back.target, back.source)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("a.zh,a.em", r"no file 'a\.em'\. Did you mean 'a\.en'\?"),
        ("a.zh,", "a pair is 'source,target', two files"),
        ("a.zh,a.en,b.en", "names 3 files"),
        ("one.tsv#1", r"after # come two columns from 0, as #0,1"),
        ("one.tsv#x,y", r"after # come two columns"),
        ("tatoeba-zh-en:tset", r"no embedded corpus 'tatoeba-zh-en:tset'\. Did you mean .*:test'"),
        ("multi30k/train.de,multi30k/train.en", r"github\.com/multi30k/dataset.*set REGARD_DATA"),
        ("nothing/like/this.tsv", r"no file 'nothing/like/this\.tsv'$"),
    ],
)
def test_mistakes_get_an_answer(spec, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        parse(spec)


def test_regard_data_is_searched_second(here, monkeypatch):
    data = here / "elsewhere"
    (data / "multi30k").mkdir(parents=True)
    (data / "multi30k" / "train.de.gz").write_text("")
    (data / "a.zh").write_text("other")
    monkeypatch.setenv("REGARD_DATA", str(data))
    assert locate("multi30k/train.de.gz") == data / "multi30k/train.de.gz"
    assert locate("multi30k/train.de") == data / "multi30k/train.de.gz"
    assert locate("a.zh").resolve() == (here / "a.zh").resolve()
    with pytest.raises(
        FileNotFoundError, match=r"nor in REGARD_DATA .*Did you mean 'train\.de\.gz'"
    ):
        locate("multi30k/trian.de.gz")


def test_standard_input_is_kept_for_a_second_reading(here, monkeypatch):
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))

    run = here / "run"
    given(b"a\tb\n")
    spec = keep_standard_input("-#1,0", run)
    for _ in range(2):
        assert [(p.source, p.target) for p in read_pairs(spec)] == [("b", "a")]
    before = (run / "standard-input.tsv").stat().st_mtime_ns
    for again in (b"a\tb\n", b""):  # the same command again, with or without its input
        given(again)
        assert keep_standard_input("-#1,0", run) == spec
        assert (run / "standard-input.tsv").stat().st_mtime_ns == before
    given(b"c\td\n")
    assert [p.source for p in read_pairs(keep_standard_input(["one.tsv", "-"], run))] == ["c"]
    assert [p.name for p in run.iterdir()] == ["standard-input.tsv"]
    assert keep_standard_input("a.zh,a.en", here / "untouched") == "a.zh,a.en"
    assert not (here / "untouched").exists()
