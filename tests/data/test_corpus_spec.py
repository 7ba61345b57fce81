"""How corpora are named and found, and what is said when they are not."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from regard.data import spec as spec_of_corpora
from regard.data.examples import read_pairs
from regard.data.formats import format_of
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
        ("one.tsv#x,y", r"no column 'x'.*Its first line has"),
        ("one.tsv#0,y", r"after # come two columns"),
        ("tatoeba-zh-en:tset", r"no embedded corpus 'tatoeba-zh-en:tset'\. Did you mean .*:test'"),
        ("multi30k/train.de,multi30k/train.en", r"github\.com/multi30k/dataset.*set REGARD_DATA"),
        ("nothing/like/this.tsv", r"no file 'nothing/like/this\.tsv'$"),
    ],
)
def test_mistakes_get_an_answer(spec, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        parse(spec)


def test_any_number_of_fields():
    three = ("document", "question", "answer")
    assert parse("one.tsv#4,0,2", three)[0].columns == ("4", "0", "2")
    assert parse("one.tsv", three)[0].columns == ("0", "1", "2")
    (corpus,) = parse("a.zh,a.en,one.tsv#2", three)
    assert [file.name for file in corpus.files] == ["a.zh", "a.en", "one.tsv"]
    assert corpus.columns == ("", "", "2")  # a column of the last, whole lines of the others
    assert [len(c.files) for c in parse(["a.zh", "a.en", "b.zh"], three)] == [3]
    for spec, said in (
        ("one.tsv#1,2", "three columns from 0, as #0,1,2"),
        ("a.zh,a.en", "names 2 files: 3 files are 'document,question,answer'"),
        (f"one.tsv#0,1,{'9' * 5000}", "three columns from 0"),
    ):
        with pytest.raises(ValueError, match=said):
            parse(spec, three)


def test_formats_are_told_by_names():
    for name, kind in (
        ("a.zh", "PlainLines"),
        ("a.tsv.gz", "Table"),
        ("a.jsonl.xz", "JsonLines"),
        ("en-ud-dev.conllu", "Treebank"),
        ("a.npy.xz", "Npy"),
        ("t10k-images-idx3-ubyte.gz", "Idx"),
        ("images.idx3-ubyte", "Idx"),
        ("a.idx.gz", "Idx"),
        ("a.png", "Sheet"),
        ("idx", "PlainLines"),
        ("myidx.txt", "PlainLines"),
    ):
        assert type(format_of(name)).__name__ == kind


def test_embedded_corpora_of_any_format(here, monkeypatch):
    embedded = here / "embedded"
    monkeypatch.setattr(spec_of_corpora, "EMBEDDED_FOLDER", embedded)
    for name in (
        "plain.train.tsv.xz",
        "bank/bank.train.conllu.xz",
        "icons/icons.dev.image.png",
        "icons/icons.dev.image.json",
        "icons/icons.dev.zh.txt.xz",
        "icons/icons.dev.en.txt.xz",
        "icons/README.md",
        "icons/other.dev.tsv.xz",
        "build_plain.py",
    ):
        (embedded / name).parent.mkdir(parents=True, exist_ok=True)
        (embedded / name).write_text("")
    assert files("plain:train") == [("plain.train.tsv.xz",)]
    assert parse("bank:train#form,upos")[0].columns == ("form", "upos")
    fields = ("image", "en")
    for spec, wanted in (
        ("icons:dev", "en"),
        ("icons:dev#image,zh", "zh"),
        ("icons:dev@train", "en"),
    ):
        (corpus,) = parse(spec, fields)
        assert [file.name for file in corpus.files] == [
            "icons.dev.image.png",
            f"icons.dev.{wanted}.txt.xz",
        ]
    assert parse("icons:dev#en", ["text"])[0].files[0].name == "icons.dev.en.txt.xz"
    with pytest.raises(ValueError, match="for image, name are 2 of en, image, zh, after #"):
        parse("icons:dev", ("image", "name"))
    with pytest.raises(FileNotFoundError, match=r"Did you mean 'plain:train'"):
        parse("plain:trian")
    with pytest.raises(FileNotFoundError, match=r"no embedded corpus 'other:dev'"):
        parse("other:dev")


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


def test_a_first_line_that_names_the_columns_is_no_row(here):
    rows = ("pair_ID\tsentence_A\tsentence_B", "1\tone\tan A", "2\ttwo\ta B")
    (here / "scores.txt").write_bytes("\r\n".join(rows).encode())
    found = list(read_pairs("scores.txt#sentence_B,sentence_A"))
    assert [(pair.line, pair.source, pair.target) for pair in found] == [
        (2, "an A", "one"),
        (3, "a B", "two"),
    ]
