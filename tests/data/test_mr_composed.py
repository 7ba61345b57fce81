"""The composed documents: sentences of MR, of the same part, most of them of the document's label."""

from __future__ import annotations

import pytest

from regard.data.corpora.build_mr_composed import SIZES, compose
from regard.data.examples import read_examples
from regard.data.fields import Document, Label, Numbers, Text


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_a_document_has_the_label_of_most_of_its_sentences(part):
    known = {
        one["text"]: one["label"]
        for one in read_examples(f"mr:{part}", [Text("text"), Label("label")])
    }
    fields = [Document("document"), Label("label"), Numbers("share", size=1)]
    found = list(read_examples(f"mr-composed:{part}", fields))
    assert {"train": 4176, "dev": 504, "test": 525}[part] == len(found)
    for one in found:
        labels = [known[sentence] for sentence in one["document"]]
        assert len(labels) in SIZES
        share = labels.count("positive") / len(labels)
        assert one["share"].item() == pytest.approx(share, abs=1e-3)
        assert one["label"] == ("positive" if share > 0.5 else "negative")


def test_a_sentence_is_used_once_in_a_round():
    rows = [(f"{label} {n}", label) for label in ("negative", "positive") for n in range(200)]
    made = list(compose(rows, seed=0))
    used = [sentence for one in made for sentence in one["document"]]
    assert len(used) == len(set(used)) > 300
