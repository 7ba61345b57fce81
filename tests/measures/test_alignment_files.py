"""Files of alignments are read as they say, and what is wrong in them is named."""

import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.measures import (
    Alignment,
    WordPair,
    from_pharaoh,
    read_jsonl,
    read_numbered,
    read_pairs,
    read_pharaoh,
    to_pharaoh,
    within,
)

links = st.frozensets(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=9)


@given(st.builds(Alignment, links, links), st.sampled_from([0, 1]))
def test_pharaoh_there_and_back(alignment, first):
    assert from_pharaoh(to_pharaoh(alignment, first=first), first=first) == alignment


def test_pharaoh_is_sorted_by_number_and_plain_for_predicted_links():
    assert to_pharaoh({(10, 0), (9, 2), (9, 1)}) == "9-1 9-2 10-0"
    assert to_pharaoh({(0, 0)}, first=1) == "1-1"
    assert to_pharaoh(Alignment(frozenset({(0, 0)}), frozenset({(1, 0)}))) == "0-0 1p0"


def test_both_marks_of_possible_links():
    wanted = Alignment(frozenset({(0, 1)}), frozenset({(2, 0), (3, 3)}))
    assert from_pharaoh("1-2 3p1 4?4", first=1) == wanted
    assert from_pharaoh("0-1 2p0 3?3", first=0) == wanted
    assert from_pharaoh("  ", first=0) == Alignment(frozenset())


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_files_may_be_compressed_and_begin_with_a_mark(tmp_path, suffix):
    path = tmp_path / f"gold{suffix}"
    opener = {"": open, ".gz": gzip.open, ".xz": lzma.open}[suffix]
    with opener(path, "wt", encoding="utf-8-sig", newline="") as file:
        file.write("1-1 2p1\r\n\r\n1-2")
    first, second, third = read_pharaoh(path, first=1)
    assert first == Alignment(frozenset({(0, 0)}), frozenset({(1, 0)}))
    assert second == Alignment(frozenset())
    assert third == Alignment(frozenset({(0, 1)}))


def test_the_numbered_format(tmp_path):
    path = tmp_path / "ref.wa"
    path.write_text("1 0 0 S \n1 1 0 P\n3 2 1\n")
    wanted = [
        Alignment(frozenset({(0, 0)}), frozenset({(1, 0)})),
        Alignment(frozenset()),
        Alignment(frozenset({(2, 1)})),
    ]
    assert read_numbered(path, first=0) == wanted
    assert read_numbered(path, first=0, sentences=4) == [*wanted, Alignment(frozenset())]
    with pytest.raises(ValueError, match=r"ref\.wa, line 3: sentence 3 of 2"):
        read_numbered(path, first=0, sentences=2)


def test_jsonl_carries_its_words(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"src_words": ["我", "是"], "tgt_words": ["I"], "alignment": [[0, 0]]}\n')
    pairs, alignments = read_jsonl(path)
    assert pairs == [WordPair(["我", "是"], ["I"])]
    assert alignments == [Alignment(frozenset({(0, 0)}))]


def test_words_in_one_file_or_two(tmp_path):
    both, source, target = (tmp_path / name for name in ("both", "source", "target"))
    both.write_text("我 是  ||| I am \n||| nothing\n", encoding="utf-8")
    source.write_text("\ufeff我 是\n\n", encoding="utf-8")
    target.write_text("I am\nnothing\n")
    wanted = [WordPair(["我", "是"], ["I", "am"]), WordPair([], ["nothing"])]
    assert read_pairs(both) == read_pairs(source, target) == wanted
    target.write_text("I am\n")
    with pytest.raises(ValueError, match=r"has 2 lines but .*target has 1"):
        read_pairs(source, target)


def test_links_past_the_end_are_counted_reported_and_dropped():
    pairs = [WordPair(["a", "b"], ["x"]), WordPair(["c"], ["y", "z"])]
    alignments = [from_pharaoh("0-0 1-1 2p0", first=0), from_pharaoh("0-1", first=0)]
    found = within(alignments, pairs)
    assert found.alignments == [from_pharaoh("0-0", first=0), alignments[1]]
    assert found.outside == [(1, (1, 1)), (1, (2, 0))]
    assert found.text == "2 links point past the end of sentence 1: dropped"
    assert within(found.alignments, pairs).text == ""


def test_a_file_read_with_the_wrong_first_number_is_noticed():
    pairs = [WordPair(["a", "b"], ["x", "y"])]
    found = within([from_pharaoh("1-1 2-2", first=0)], pairs)
    assert "does the file count from 1?" in found.text
    with pytest.raises(ValueError, match="'0-0' has a 0, but words are counted from 1"):
        from_pharaoh("0-0 1-1", first=1)


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (lambda p: read_pharaoh(p, first=0), "0-0\n0:1", "line 2: '0:1' is not a link"),
        (lambda p: read_pharaoh(p, first=0), "0--1", "line 1: '0--1' is not a link"),
        (lambda p: read_numbered(p, first=0), "1 2", "line 1: expected 'sentence source target S'"),
        (lambda p: read_numbered(p, first=0), "1 2 3 X", "line 1: expected"),
        (lambda p: read_numbered(p, first=0), "0 2 3", "line 1: sentences are counted from 1"),
        (read_jsonl, '{"src_words": []}', "line 1: not an object with src_words"),
        (read_jsonl, "[]", "line 1: not an object"),
        (read_pairs, "a ||| b\na | b", "line 2: expected 'source ||| target'"),
    ],
)
def test_mistakes_say_where(tmp_path, reader, text, message):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        reader(path)


def test_a_missing_file_and_one_that_is_not_text(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere"):
        read_pharaoh(tmp_path / "nowhere", first=0)
    (tmp_path / "latin").write_bytes(b"0-0\n\xe9")
    with pytest.raises(ValueError, match="not UTF-8"):
        read_pharaoh(tmp_path / "latin", first=0)


def test_alignments_and_sentences_must_match():
    with pytest.raises(ValueError, match="1 alignments for 0 sentence pairs"):
        within([Alignment(frozenset())], [])
