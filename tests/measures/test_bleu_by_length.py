"""Every sentence is in one bucket, and each bucket is scored as a corpus."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.measures import Bucket, bleu, by_length, chrf
from regard.measures.bleu_by_length import buckets


def test_the_default_buckets_are_those_of_the_literature():
    labels = [bucket.label for bucket in buckets((10, 20, 30, 40, 50, 60))]
    assert labels == ["0", "1–10", "11–20", "21–30", "31–40", "41–50", "51–60", "61+"]


@given(st.lists(st.integers(0, 90), min_size=1, max_size=40))
def test_each_length_is_in_exactly_one_bucket(lengths):
    sources = ["x " * length for length in lengths]
    curve = by_length(sources, sources, sources, unit="words", tokenize="none")
    assert sum(row.sentences for row in curve.rows) == len(lengths)
    total = sum(row.mean_length * row.sentences for row in curve.rows)
    assert total == pytest.approx(sum(lengths))
    lows = [row.bucket.low for row in curve.rows]
    assert lows == sorted(set(lows))


def test_a_bucket_is_scored_as_a_corpus_of_its_own():
    sources = ["a b", "a b c d e f", "a b c", "f e d c b a"]
    hypotheses = ["x y", "the old man and the sea", "x y z", "the sea and an old man"]
    references = ["x y", "the old man and a sea", "x z z", "the sea and the old man"]
    curve = by_length(sources, hypotheses, references, unit="words", edges=(4,))
    short, long = curve.rows
    assert (short.bucket, long.bucket) == (Bucket(1, 4), Bucket(5))
    assert long.bleu == bleu(hypotheses[1::2], references[1::2]).value
    assert long.chrf == chrf(hypotheses[1::2], references[1::2]).value
    assert (short.sentences, short.mean_length) == (2, 2.5)
    assert curve.signature == bleu(hypotheses, references).signature


def test_the_length_ratio_shows_translations_that_are_too_short():
    curve = by_length(["a"], ["x y"], ["x y z z"], unit="words")
    assert curve.rows[0].length_ratio == 0.5


def test_chinese_is_counted_in_characters():
    sources, translations = ["我是 一个学生。", "好"], ["I am a student .", "good"]
    lengths = [
        [row.mean_length for row in by_length(sources, *[translations] * 2, unit=unit).rows]
        for unit in ("words", "characters")
    ]
    assert lengths == [[1.5], [4.0]]


def test_several_references():
    curve = by_length(["a"], ["x y z w"], ["x y"], ["x y z w"], unit="words")
    assert curve.rows[0].bleu == pytest.approx(100)
    assert curve.signature.startswith("nrefs:2|")


@pytest.mark.parametrize("edges", [(), (0, 10), (20, 10), (10, 10)])
def test_edges_must_rise(edges):
    with pytest.raises(ValueError, match="must be positive and rise"):
        by_length(["a"], ["b"], ["c"], unit="words", edges=edges)


def test_other_mistakes():
    with pytest.raises(ValueError, match="2 sources but 1 hypotheses"):
        by_length(["a", "b"], ["b"], ["c"], unit="words")
    with pytest.raises(ValueError, match="choose 'words' or 'characters'"):
        by_length(["a"], ["b"], ["c"], unit="tokens")
    with pytest.raises(ValueError, match="nothing to score"):
        by_length([], [], [], unit="words")
