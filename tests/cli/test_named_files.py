"""The name of a file, given as a text: what is said of it."""

from __future__ import annotations

import pytest

from regard.cli.texts import check_texts


@pytest.mark.parametrize(
    ("file", "command", "advice"),
    [
        ("a.csv", "predict", "regard predict … --data {}"),
        ("a.tsv.gz", "predict", "regard predict … --data {}"),
        ("a.jsonl", "classify", "regard predict … --data {}"),
        ("a.txt", "predict", "regard predict … < {}"),
        ("a.tsv", "translate", "regard translate … < {}"),
    ],
)
def test_a_table_is_read_by_its_columns(tmp_path, capsys, file, command, advice):
    path = tmp_path / file
    path.write_text("a\tb\n")
    check_texts([str(path)], command)
    assert capsys.readouterr().err.strip().endswith(advice.format(path))
