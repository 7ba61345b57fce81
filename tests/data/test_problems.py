"""What is wrong with lines, and with the one value that was asked about."""

from __future__ import annotations

import json

import pytest

from regard.data.problems import said_of_value
from regard.words import say_kept, speaking
from regard.words.collect import LISTED
from regard.words.one_value import of_value

KINDS = [each for each in json.loads(LISTED.read_text(encoding="utf-8")) if "{}" in each]
OF_LINES = [each for each in KINDS if not each.startswith("{}: ")]


@pytest.mark.parametrize("kind", OF_LINES)
def test_every_problem_of_lines_is_said_of_one_value_too(kind):
    assert of_value(kind) in KINDS
    assert "lines" not in of_value(kind)
    assert "sentences" not in of_value(kind)
    with speaking("zh"):
        said = say_kept(of_value(kind).replace("{}", "title"))
    assert said.startswith("title：")
    assert "行" not in said


def test_what_is_no_problem_of_lines_stays_as_it_is():
    for said in ("the label 'lines with {}' is unknown", "over 5 lines"):
        assert said_of_value(said, "text") == said
