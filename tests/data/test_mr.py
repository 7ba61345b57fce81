"""The embedded film reviews: as the README says, and nothing held out is in training."""

from __future__ import annotations

import re

from regard.data.corpora.build_tatoeba import bare
from regard.data.spec import EMBEDDED_FOLDER
from regard.data.text import read_labelled

PARTS = ("train", "dev", "test")


def test_counts_and_licence_are_as_the_readme_says():
    readme = (EMBEDDED_FOLDER / "README.md").read_text(encoding="utf-8").partition("## mr")[2]
    assert "CC-BY 4.0" in readme
    for part in PARTS:
        pairs = list(read_labelled(f"mr:{part}"))
        assert {pair.target for pair in pairs} == {"negative", "positive"}
        positive = sum(pair.target == "positive" for pair in pairs)
        assert re.search(rf"^\| {part} \| {len(pairs):,} \| {positive:,} \|$", readme, re.MULTILINE)
    assert sum(path.stat().st_size for path in EMBEDDED_FOLDER.glob("mr.*.xz")) < 500_000


def test_no_sentence_is_in_two_parts():
    seen = [{bare(pair.source) for pair in read_labelled(f"mr:{part}")} for part in PARTS]
    assert not seen[0] & seen[1]
    assert not seen[0] & seen[2]
    assert not seen[1] & seen[2]
