"""Texts without a translation: named, read, held out, and cut into blocks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.examples import Example, read_examples
from regard.data.fields import Text
from regard.data.parts import STRETCH
from regard.data.problems import Problems
from regard.data.spec import parse
from regard.data.text_blocks import blocks
from regard.data.tokenizer import EOS


def verbatim(text: str) -> Text:
    field = Text("text", kind="character", verbatim=True, blank=True)
    field.learn([text])
    return field


LETTERS = verbatim("abc \n\t  x\n")  # every character of the tests


def read_texts(spec, problems: Problems | None = None, **settings) -> list[Example]:
    return list(read_examples(spec, [Text("text", **settings)], problems))


@pytest.fixture
def write(tmp_path):
    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_text_is_every_line_of_a_file_or_one_column_of_it(write):
    book = write("book.txt", "a b\n\n c\td \n")
    table = write("t.tsv", "pos\ta b\nneg\tc\n")
    objects = write("t.jsonl", json.dumps({"text": "x", "body": "y"}) + "\n")
    assert [t["text"] for t in read_texts(book)] == ["a b", " c\td "]
    assert [t["text"] for t in read_texts(book, blank=True)] == ["a b", "", " c\td "]
    assert [t["text"] for t in read_texts(f"{table}#1")] == ["a b", "c"]
    assert [t["text"] for t in read_texts(objects)] == ["x"]
    assert [t["text"] for t in read_texts(f"{objects}#body+{book}")] == ["y", "a b", " c\td "]
    assert [t["text"] for t in read_texts([book, f"{table}#0"])] == ["a b", " c\td ", "pos", "neg"]
    assert read_texts("tatoeba-zh-en:dev#1")[0]["text"].isascii()


def test_what_cannot_be_read_is_counted(write):
    problems = Problems()
    table = write("t.tsv", "a\tb\nc\n\n")
    assert [t.line for t in read_texts(f"{table}#1", problems)] == [1]
    assert problems.lines("lines without a column 1") == [2]
    assert problems.lines("empty lines") == [3]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("{t}", "has columns: name the one with the text, as .*t.tsv#0"),
        ("{t}#0,1", "one column from 0"),
        ("{t}#text", "no column 'text'"),
        ("{t},{t}", "names two files"),
        ("tatoeba-zh-en:train", "has columns"),
    ],
)
def test_a_spec_that_names_no_text_is_refused(write, spec, said):
    table = write("t.tsv", "a\tb\n")
    with pytest.raises(ValueError, match=said):
        parse(spec.format(t=table), ["text"])


def test_the_parts_of_a_text_are_all_of_it_and_held_out_are_whole_stretches(write):
    book = write("book.txt", "".join(f"line {i}\n" for i in range(50 * STRETCH * 3)))
    parts = {part: read_texts(f"{book}@{part}") for part in ("train", "dev", "test")}
    lines = sorted(text.line for texts in parts.values() for text in texts)
    assert lines == list(range(1, 50 * STRETCH * 3 + 1))
    for part in ("dev", "test"):
        assert len(parts[part]) == 3 * STRETCH
        assert len({(text.line - 1) // STRETCH for text in parts[part]}) == 3


def test_equal_texts_of_a_column_are_in_one_part(write):
    rows = "".join(f"{i % 3}\tText {i % 400}.\n" for i in range(1200))
    table = write("t.tsv", rows)
    parts = {
        part: {text["text"] for text in read_texts(f"{table}#1@{part}")}
        for part in ("train", "dev", "test")
    }
    assert all(parts.values())
    assert sum(map(len, parts.values())) == 400


@settings(deadline=None)  # it writes a file
@given(
    st.lists(st.text(alphabet="abc x\t", max_size=9), min_size=1, max_size=9),
    st.integers(2, 7),
)
def test_blocks_hold_the_whole_text_and_count_all_of_it(tmp_path_factory, lines, context):
    path = tmp_path_factory.mktemp("text") / "book.txt"
    text = "".join(f"{line}\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    found = list(blocks(str(path), LETTERS, context))
    ids = [token for block in found for token in block.ids]
    assert ids[-1] == EOS
    assert EOS not in ids[:-1]
    assert LETTERS.tokenizer.decode(ids) == text
    assert all(len(block.ids) == context for block in found[:-1])
    assert sum(block.characters for block in found) == len(text)
    assert sum(block.bytes for block in found) == len(text.encode())


def test_bytes_of_a_block_are_those_of_its_characters(write):
    book = write("book.txt", "é学\nx\n")
    field = verbatim("é学\nx\n")
    first, second, last = blocks(book, field, 2)
    assert (first.characters, first.bytes) == (2, 5)
    assert (second.characters, second.bytes) == (2, 2)
    assert (last.characters, last.bytes, last.ids) == (
        1,
        1,
        [*field.tokenizer.encode("\n").ids, EOS],
    )


def test_lines_by_themselves_have_no_end_inside(write):
    book = write("book.txt", "abc\n\nx\n")
    field = Text("text", kind="character", verbatim=True)
    field.tokenizer = LETTERS.tokenizer
    found = list(blocks(book, field, None))
    assert [LETTERS.tokenizer.decode(block.ids) for block in found] == ["abc", "x"]
    assert [block.characters for block in found] == [4, 2]  # the end of a line counts as one
    assert [block.line for block in found] == [1, 3]
