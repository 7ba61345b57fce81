"""CSV: a header, quotes, and what is wrong with a row."""

from __future__ import annotations

import csv
import gzip
import lzma

import pytest

from regard.data.examples import read_examples
from regard.data.fields import Label, Text
from regard.data.formats.tables import LONGEST
from regard.data.problems import CorpusError, Problems

FIELDS = [Text("text"), Label("label")]
ROWS = [
    ("good, very good", "pos"),
    ('he said "no"', "neg"),
    ("two\nlines", "neg"),
    ("物流很快，好", "pos"),
]
HEADER = ("id", "text", "label")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("a.csv", "w", newline="", encoding="utf-8-sig") as file:  # as spreadsheets write it
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows((i, *row) for i, row in enumerate(ROWS))
    return tmp_path


def read(spec, problems=None):
    return [(e["text"], e["label"]) for e in read_examples(spec, FIELDS, problems)]


@pytest.mark.parametrize("spec", ["a.csv", "a.csv#text,label", ["a.csv#text,label"]], ids=str)
def test_columns_have_the_names_of_the_header(spec):
    problems = Problems()
    assert read(spec, problems) == ROWS
    assert not problems


def test_a_row_has_the_number_of_its_first_line():
    assert [e.line for e in read_examples("a.csv", FIELDS)] == [2, 3, 4, 6]


def test_other_names_and_files_side_by_side(here):
    (here / "b.csv").write_text('Star Rating,Review Text\n5,"a, b"\n1,c\n')
    (here / "labels.txt").write_text("x\ny\n")
    assert read("b.csv#Review Text,Star Rating") == [("a, b", "5"), ("c", "1")]
    assert read("labels.txt,b.csv#Star Rating") == [("x", "5"), ("y", "1")]
    assert read(["labels.txt,b.csv#Star Rating", "a.csv"])[2:] == ROWS
    assert [e["text"] for e in read_examples("a.csv", FIELDS[:1])] == [text for text, _ in ROWS]
    with pytest.raises(CorpusError, match=r"'b\.csv' has columns: name one"):
        read("b.csv,labels.txt")


def test_numbers_are_of_a_file_without_a_header(here):
    (here / "b.csv").write_text('pos,"a, b"\nneg,c\n')
    assert read("b.csv#1,0") == [("a, b", "pos"), ("c", "neg")]


@pytest.mark.parametrize("sign", [";", "\t"], ids=["semicolon", "tab"])
def test_other_signs_between_cells(here, sign):
    (here / "b.csv").write_text(f'text{sign}label\r\n"a, b"{sign}pos\r\n')
    assert read("b.csv") == [("a, b", "pos")]


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip), (".xz", lzma)], ids=["gz", "xz"])
def test_compressed(here, ending, pack):
    (here / f"b.csv{ending}").write_bytes(pack.compress((here / "a.csv").read_bytes()))
    assert read(f"b.csv{ending}") == read("b.csv") == ROWS


def test_a_column_that_there_is_not():
    with pytest.raises(CorpusError, match=r"no column 'texts'\. Did you mean 'text'\?") as refused:
        read("a.csv#texts,label")
    assert "Its first line has id, text, label" in str(refused.value)
    assert "a.csv#NAME,NAME, or by numbers from 0" in refused.value.hint
    with pytest.raises(CorpusError, match="after # come two columns, as #text,label"):
        read("a.csv#text")


def test_an_empty_file_has_no_columns(here):
    (here / "b.csv").write_text("")
    with pytest.raises(CorpusError, match="Its first line has nothing"):
        read("b.csv")


def test_what_cannot_be_used_is_counted_by_line(here):
    long = b"x" * (LONGEST + 1)
    rows = [b"good,pos", b"", b"\xff,neg", b"only", long + b",neg", b'"a"b,neg', b"bad,neg"]
    (here / "b.csv").write_bytes(b"text,label\n" + b"\n".join(rows) + b'\n"open,neg\nx,neg\n')
    problems = Problems()
    assert read("b.csv", problems) == [("good", "pos"), ("bad", "neg")]
    assert problems.lines("empty lines") == [3]
    assert problems.lines("lines not in UTF-8") == [4]
    assert problems.lines("lines without a column label") == [5]
    assert problems.lines(f"lines over {LONGEST:,} bytes") == [6]
    assert problems.lines("lines with a quote that does not end its cell") == [7, 9]


def test_a_quote_that_never_ends_takes_no_more_than_a_long_line(here):
    lines = 40_000
    (here / "b.csv").write_text('text,label\n"open,neg\n' + "good,pos\n" * lines)
    problems = Problems()
    found = read("b.csv", problems)
    assert problems.lines(f"lines over {LONGEST:,} bytes") == [2]
    assert 0.5 * lines < len(found) < lines


def test_parts_are_split():
    parts = (read(f"a.csv@{part}") for part in ("train", "dev", "test"))
    assert sorted(row for part in parts for row in part) == sorted(ROWS)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_a_name_that_two_columns_have_is_refused(here, name):
    sign = "," if name.endswith("csv") else "\t"
    (here / name).write_text(sign.join(["text", "label", "text"]) + "\n" + sign.join("abc") + "\n")
    fields = [Text("text"), Label("label")]
    with pytest.raises(CorpusError, match=r"two columns 'text', 0, 2 counted from 0") as told:
        list(read_examples(f"{name}#text,label", fields))
    assert "a name of its own" in told.value.hint
    (found,) = read_examples(f"{name}#label", [Text("text")])  # it has no doubts about the others
    assert found.fields["text"] == "b"


@pytest.mark.parametrize("count", [3, 30_000])
@pytest.mark.parametrize("name", ["old.csv", "old.csv.gz"])
def test_lines_that_end_as_on_old_macs(here, name, count):
    rows = [(f"text {n}, and more", "neg" if n % 2 else "pos") for n in range(count)]
    text = "\ufefftext,label\r" + "".join(f'"{text}",{label}\r' for text, label in rows)
    text = text[:-1] + "\r" + "a" * 200_000 + ",pos\rlast,neg"  # too long; without an end
    data = text.encode()
    (here / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    problems = Problems()
    assert read(f"{name}#text,label", problems) == [*rows, ("last", "neg")]
    assert problems.lines(f"lines over {LONGEST:,} bytes") == [count + 2]


def test_a_carriage_return_inside_a_cell_is_no_line_end(here):
    (here / "b.csv").write_bytes(b'text,label\n"a\rb",pos\nc,neg\n')
    assert read("b.csv") == [("a\rb", "pos"), ("c", "neg")]
