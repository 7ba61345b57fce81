"""Lines with a label before their text, as old collections have them."""

from __future__ import annotations

import pytest

from regard.data.examples import read_examples
from regard.data.fields import Label, Text
from regard.data.problems import CorpusError, Problems

FIELDS = [Text("text"), Label("label")]


def test_the_first_word_is_a_label_and_the_rest_a_text(tmp_path):
    (tmp_path / "films.all").write_bytes(b"1 caf\xe9 society .\n\n0 na\xc3\xafve\tand dull\n1\n")
    problems = Problems()
    found = list(read_examples(f"{tmp_path}/films.all#rest,first", FIELDS, problems))
    texts = [(one["text"], one["label"], one.line) for one in found]
    assert texts == [("café society .", "1", 1), ("naïve\tand dull", "0", 3)]
    assert "empty" in problems.report()


def test_both_are_named_once_each(tmp_path):
    (tmp_path / "films.all").write_text("1 good\n")
    with pytest.raises(CorpusError):
        list(read_examples(f"{tmp_path}/films.all#rest", FIELDS))
