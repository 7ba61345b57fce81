"""Reading parallel text: nothing lost, nothing merged, everything wrong counted with its line."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.examples import Example, joined, read_pairs
from regard.data.fields import Label, Text
from regard.data.formats import tables as reading
from regard.data.problems import Problems
from regard.data.text_lines import read_lines

# characters at which str.splitlines cuts, and a file must not be cut
TRAPS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REGARD_DATA", raising=False)
    return tmp_path


def standard_input(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def texts(pairs) -> list[tuple[int, str, str]]:
    return [(pair.line, pair.source, pair.target) for pair in pairs]


PAIRS = [(1, "我是学生。", "I am a student."), (2, "嗨。", "Hi.")]


def write_all(folder) -> None:
    rows = [(source, target) for _, source, target in PAIRS]
    source, target = ("".join(f"{row[i]}\n" for row in rows).encode() for i in (0, 1))
    (folder / "a.zh").write_bytes(source)
    (folder / "a.en").write_bytes(target)
    (folder / "a.zh.gz").write_bytes(gzip.compress(source))
    (folder / "a.en.xz").write_bytes(lzma.compress(target))
    tsv = "".join(f"x\t{b}\t{a}\n" for a, b in rows).encode()
    (folder / "swapped.tsv.gz").write_bytes(gzip.compress(tsv))
    (folder / "a.txt").write_text("".join(f"{a}\t{b}\tmore\n" for a, b in rows), encoding="utf-8")
    for name, keys in (("a.jsonl", ("source", "target")), ("qa.jsonl", ("q", "a"))):
        lines = "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows)
        (folder / name).write_text(lines, encoding="utf-8")


@pytest.mark.parametrize(
    "spec",
    [
        "a.zh,a.en",
        ["a.zh", "a.en"],
        "a.zh.gz,a.en.xz",
        "a.txt",
        "swapped.tsv.gz#2,1",
        "a.jsonl",
        "qa.jsonl#q,a",
    ],
    ids=str,
)
def test_all_forms_give_the_same_pairs(tmp_path, spec):
    write_all(tmp_path)
    problems = Problems()
    assert texts(read_pairs(spec, problems)) == PAIRS
    assert not problems
    assert problems.report() == ""


def test_standard_input(monkeypatch):
    standard_input(monkeypatch, b"a\tb\n\nc\td")
    problems = Problems()
    assert texts(read_pairs("-", problems)) == [(1, "a", "b"), (3, "c", "d")]
    assert problems.report() == "-: 1 empty line (2)"


def test_several_corpora_number_their_own_lines(tmp_path):
    write_all(tmp_path)
    (tmp_path / "b.tsv").write_bytes(b"x\ty\nno tab\n")
    for spec in ("a.zh,a.en+b.tsv", [["a.zh", "a.en"], "b.tsv"], ["a.zh,a.en", "b.tsv"]):
        problems = Problems()
        assert texts(read_pairs(spec, problems)) == [*PAIRS, (1, "x", "y")]
        assert problems.report() == "b.tsv: 1 line without a column 1 (2)"


def test_a_line_ends_at_newline_only(tmp_path):
    odd = "".join(f"a{c}b" for c in TRAPS)
    (tmp_path / "s").write_text(f"\ufeff{odd}\n二\n", encoding="utf-8", newline="\n")
    (tmp_path / "t").write_bytes(b"one\r\ntwo")
    assert texts(read_pairs("s,t")) == [(1, odd, "one"), (2, "二", "two")]


def test_what_is_wrong_is_counted_with_line_numbers_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST", 20)
    source = [b"ok", b"", b" \t", b"\xff\xfe\xfd", b"x" * 21, b"x" * 20, b"y" * 500, b"ok"]
    target = [b"ok", b"b", b"c", b"d", b"e", b"f", b"g", b"\xe3\x80\x80", b"i", b"j"]
    (tmp_path / "s").write_bytes(b"\n".join(source) + b"\n")
    (tmp_path / "t").write_bytes(b"\n".join(target) + b"\n")
    problems = Problems()
    assert [pair.line for pair in read_pairs("s,t", problems)] == [1, 6]
    assert problems.report() == (
        "s,t: 2 empty source lines (2, 3), 1 source line not in UTF-8 (4), "
        "2 source lines over 20 bytes (5, 7), 1 empty target line (8), "
        "2 target lines without a source (9, 10)"
    )
    assert problems.count() == 8
    assert problems.lines("empty source lines") == [2, 3]


def test_only_the_first_lines_are_named():
    problems = Problems()
    for line in range(1, 1235):
        problems.add("a", "empty lines", line)
    assert problems.report() == "a: 1,234 empty lines (1, 2, 3, 4, 5, …)"
    again = Problems.from_json(json.loads(json.dumps(problems.to_json())))
    assert again.report() == problems.report()


def test_hostile_jsonl(tmp_path):
    lines = [
        '{"source": "a", "target": "b"}',
        "not json",
        "[1, 2]",
        '{"source": 3, "target": "b"}',
        '{"source": "\\ud800", "target": "b"}',
        '{"source": "a"}',
        "[" * 5000,
        '{"source": "c\\u2028d", "target": "e"}',
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    problems = Problems()
    assert texts(read_pairs("x.jsonl", problems)) == [(1, "a", "b"), (8, "c\u2028d", "e")]
    assert problems.lines("lines not in JSON") == [2, 7]
    assert problems.lines("lines without a value 'source'") == [3]
    assert problems.lines("lines without a text 'source'") == [4]
    assert problems.lines("lines without a value 'target'") == [6]
    assert problems.lines("lines not in UTF-8") == [5]


def test_damaged_and_foreign_files_are_named(tmp_path):
    whole = gzip.compress(b"a\tb\n" * 1000)
    (tmp_path / "cut.tsv.gz").write_bytes(whole[:-12])
    with pytest.raises(ValueError, match=r"cut\.tsv\.gz is damaged or cut off after line"):
        list(read_pairs("cut.tsv.gz"))
    (tmp_path / "no.tsv.xz").write_bytes(b"not xz at all")
    with pytest.raises(ValueError, match=r"no\.tsv\.xz is damaged"):
        list(read_pairs("no.tsv.xz"))
    (tmp_path / "wide.tsv").write_text("a\tb\n", encoding="utf-16")
    with pytest.raises(ValueError, match="is UTF-16, not UTF-8: convert it with"):
        list(read_pairs("wide.tsv"))


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_read_lines_gives_every_line(tmp_path_factory, lines):
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    read = list(read_lines(path))
    wanted = [line.removesuffix("\r") for line in lines]
    if wanted:
        wanted[0] = wanted[0].removeprefix("\ufeff")
    assert read == wanted


def test_read_lines_keeps_what_training_would_drop(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST", 3)
    data = b"one\n\nb\xffd\nlonger than three\n\xef\xbf\xbd"
    path = tmp_path / "in.txt"
    path.write_bytes(data)
    problems = Problems()
    wanted = ["one", "", "b\ufffdd", "longer than three", "\ufffd"]
    assert list(read_lines(path, problems)) == wanted
    assert problems.lines("lines not in UTF-8") == [3]
    standard_input(monkeypatch, data)
    assert list(read_lines("-")) == wanted
    path.write_bytes(b"")
    assert list(read_lines(path)) == []


def test_a_file_need_not_fit_in_memory(tmp_path, monkeypatch):
    """Lines are read when they are asked for: an endless input gives its first pairs."""

    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:
            buffer[:] = (b"a\tb\n" * len(buffer))[: len(buffer)]
            return len(buffer)

    stream = io.BufferedReader(Endless(), buffer_size=4096)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
    pairs = read_pairs("-")
    assert [next(pairs).line for _ in range(3)] == [1, 2, 3]


def test_joined_pairs_are_all_pairs_once_in_order():
    sides = [Text("source"), Text("target")]
    pairs = [Example(n, {"source": f"s{n}", "target": f"t{n}"}) for n in range(1, 101)]
    longer = list(joined(iter(pairs), 4, sides))
    assert " ".join(pair["source"] for pair in longer) == " ".join(p["source"] for p in pairs)
    sizes = [len(pair["source"].split()) for pair in longer]
    assert set(sizes) == {1, 2, 3, 4}
    for pair, size in zip(longer, sizes, strict=True):
        assert pair["source"] == " ".join(f"s{pair.line + i}" for i in range(size))
        assert pair["target"] == pair["source"].replace("s", "t")
    assert longer == list(joined(iter(pairs), 4, sides))
    assert list(joined(iter(pairs), 1, sides)) == pairs
    with pytest.raises(ValueError, match="join must be 1 or more"):
        list(joined(iter(pairs), 0, sides))
    with pytest.raises(ValueError, match="only texts can be joined"):
        list(joined(iter(pairs), 2, [Label("source")]))


def test_joining_puts_spaces_only_where_the_script_has_them(tmp_path):
    (tmp_path / "p.tsv").write_text("你好。\tHello.\n" * 8, encoding="utf-8")
    for pair in read_pairs("p.tsv", join=4):
        n = pair.source.count("。")
        assert pair.source == "你好。" * n
        assert pair.target == " ".join(["Hello."] * n)


def test_pairs_of_different_corpora_are_not_joined(tmp_path):
    (tmp_path / "a.tsv").write_text("a\ta\n" * 5)
    (tmp_path / "b.tsv").write_text("b\tb\n" * 5)
    sources = [set(pair.source.split()) for pair in read_pairs("a.tsv+b.tsv", join=5)]
    assert all(len(letters) == 1 for letters in sources)


def test_a_split_corpus_has_every_pair_once_and_equal_sources_in_one_part(tmp_path):
    file = tmp_path / "a.tsv"
    lines = [f"Sentence {i % 700}{'!' * (i % 3)}\tsatz {i}\n" for i in range(2000)]
    file.write_text("".join(lines))
    parts = {part: list(read_pairs(f"{file}@{part}")) for part in ("train", "dev", "test")}
    assert sorted(p.line for pairs in parts.values() for p in pairs) == list(range(1, 2001))
    homes = {part: {p.source.rstrip("!") for p in pairs} for part, pairs in parts.items()}
    assert not homes["train"] & (homes["dev"] | homes["test"])
    assert not homes["dev"] & homes["test"]
    assert 10 < len(parts["dev"]) < 90
    file.write_text("".join(reversed(lines)))
    assert {p.source for p in read_pairs(f"{file}@dev")} == {p.source for p in parts["dev"]}


def test_a_target_that_is_held_out_is_not_trained_on(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("".join(f"Sentence {i}\tsatz {i % 400}.\n" for i in range(2000)))
    seen = {p.target for p in read_pairs(f"{file}@train")}
    for part in ("dev", "test"):
        assert not seen & {p.target for p in read_pairs(f"{file}@{part}")}
    assert len(seen) > 200


def test_no_more_is_held_out_than_can_be_translated_in_a_moment(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("".join(f"Sentence {i}\tsatz {i}\n" for i in range(60_000)))
    assert len(list(read_pairs(f"{file}@dev"))) == 1000
    assert 57_000 < len(list(read_pairs(f"{file}@train"))) < 58_200
