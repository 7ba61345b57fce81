"""The embedded film reviews: as the README says, and nothing held out is in training."""

from __future__ import annotations

import re

from regard.data.corpora.build_tatoeba import bare
from regard.data.examples import read_examples
from regard.data.fields import Label, Text
from regard.data.spec import EMBEDDED_FOLDER

PARTS = ("train", "dev", "test")
FIELDS = (Text("text"), Label("label"))


def test_counts_and_licence_are_as_the_readme_says():
    readme = (EMBEDDED_FOLDER / "README.md").read_text(encoding="utf-8").partition("## mr")[2]
    assert "CC-BY 4.0" in readme
    for part in PARTS:
        pairs = list(read_examples(f"mr:{part}", FIELDS))
        assert {pair["label"] for pair in pairs} == {"negative", "positive"}
        positive = sum(pair["label"] == "positive" for pair in pairs)
        assert re.search(rf"^\| {part} \| {len(pairs):,} \| {positive:,} \|$", readme, re.MULTILINE)
    assert sum(path.stat().st_size for path in EMBEDDED_FOLDER.glob("mr.*.xz")) < 500_000


def test_no_sentence_is_in_two_parts():
    seen = [{bare(pair["text"]) for pair in read_examples(f"mr:{part}", FIELDS)} for part in PARTS]
    assert not seen[0] & seen[1]
    assert not seen[0] & seen[2]
    assert not seen[1] & seen[2]
