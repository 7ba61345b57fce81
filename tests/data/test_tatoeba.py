"""The embedded corpus: its split leaks nothing, and it is what its README says."""

from __future__ import annotations

import re

import pytest

from regard.data.byte_lines import byte_lines
from regard.data.corpora.build_tatoeba import NAME, Row, bare, split
from regard.data.spec import EMBEDDED_FOLDER

PARTS = ("train", "dev", "test")


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[Row]]:
    return {
        part: [
            Row(*line.decode().split("\t"))
            for line in byte_lines(EMBEDDED_FOLDER / f"{NAME}.{part}.tsv.xz")
        ]
        for part in PARTS
    }


def test_no_sentence_is_in_two_parts(corpus):
    for side in ("chinese", "english"):
        sentences = [{bare(getattr(row, side)) for row in corpus[part]} for part in PARTS]
        assert not sentences[0] & (sentences[1] | sentences[2])
        assert not sentences[1] & sentences[2]


def test_no_pair_occurs_twice_and_no_source_in_dev_and_test(corpus):
    for part in PARTS:
        pairs = [row[:2] for row in corpus[part]]
        assert len(set(pairs)) == len(pairs)
    for part in ("dev", "test"):
        sources = [bare(row.chinese) for row in corpus[part]]
        assert len(set(sources)) == len(sources)


def test_counts_and_attribution_are_as_the_readme_says(corpus):
    readme = (EMBEDDED_FOLDER / "README.md").read_text(encoding="utf-8")
    counts = dict(re.findall(r"^\| (train|dev|test) \| ([\d,]+) \|$", readme, re.MULTILINE))
    assert {part: int(n.replace(",", "")) for part, n in counts.items()} == {
        part: len(rows) for part, rows in corpus.items()
    }
    for rows in corpus.values():
        assert all(re.match(r"CC-BY 2\.0 \(France\) .*#\d+ .*& #\d+", r.attribution) for r in rows)
    assert sum(p.stat().st_size for p in EMBEDDED_FOLDER.glob("tatoeba-*.xz")) < 1_000_000


def test_sentences_linked_over_others_stay_together():
    """a=b by Chinese, b=c by English, c=d by Chinese but for case and punctuation."""
    chain = [Row("一。", "A.", ""), Row("一", "B!", ""), Row("二。", "b", ""), Row("二！", "C", "")]
    others = [Row(f"第{n}", f"number {n}", "") for n in range(300)]
    parts = split([*chain, *others])
    homes = [{part for part, rows in parts.items() if row in rows} for row in chain]
    assert len(set().union(*homes)) == 1
    assert {len(rows) > 0 for rows in parts.values()} == {True}
