"""Two records side by side: the words that both have, and the difference of their weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.view.attention_view import View
from regard.view.picked_matrix import Pick, picked
from regard.view.sides.common_words import in_common_words, pairs_of
from regard.view.sides.side_by_side import names_apart, side_by_side

CASES = json.loads((Path(__file__).parent / "page" / "common_words.json").read_text("utf-8"))
TOKENS = Pick(tokens=True)


def side_of(text: str, tokens: list[str], offsets: list[list[int]]) -> Side:
    return Side.of(text, tokens, [(a, b) for a, b in offsets], words=range(len(tokens)))


def record_of(rows: str, columns: str, weights: list[list[float]], **more) -> AttentionRecord:
    """Of words with blanks between them."""

    def side(text: str) -> Side:
        starts = [len(" ".join(text.split()[:n])) + (n > 0) for n in range(len(text.split()))]
        places = [[a, a + len(w)] for a, w in zip(starts, text.split(), strict=True)]
        return side_of(text, text.split(), places)

    made = AttentionRecord.of(weights, side(rows), side(columns), name="cross")
    return replace(made, **more)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"])
def test_the_same_words_as_on_the_page(case):
    one, other = case["one"], case["other"]
    found = pairs_of(one[1], side_of(*one), other[1], side_of(*other))
    assert [[a, b] for a, b in found] == case["pairs"]


def test_pieces_are_sums_over_keys_and_means_over_queries():
    fine = AttentionRecord.of(
        [[0.25, 0.75], [0.75, 0.25]],
        side_of("ab", ["a", "b"], [[0, 1], [1, 2]]),
        side_of("xy", ["x", "y"], [[0, 1], [1, 2]]),
    )
    coarse = AttentionRecord.of(
        [[0.5]], side_of("ab", ["ab"], [[0, 2]]), side_of("xy", ["xy"], [[0, 2]])
    )
    common = in_common_words(picked(fine, TOKENS), picked(coarse, TOKENS))
    assert (common.left.queries, common.left.keys) == (("ab",), ("xy",))
    np.testing.assert_allclose(common.left.weights, [[1.0]])
    np.testing.assert_allclose(common.difference.weights, [[-0.5]])
    assert common.variations == (0.25,)
    assert common.alone == (0, 0, 0, 0)


LEFT = record_of("I go", "我 去", [[0.9, 0.1], [0.2, 0.8]], model="a", output="I go")
RIGHT = record_of("I went", "我 去", [[0.6, 0.4], [0.5, 0.5]], model="b", output="I went")
ASKED = {"text": "我 去", "force": None, "off": []}


def test_one_is_given_what_the_other_wrote():
    left, right = (replace(each, question=ASKED) for each in (LEFT, RIGHT))
    given = replace(
        record_of("I go", "我 去", [[0.5, 0.5], [0.1, 0.9]]),
        model="b",
        question={**ASKED, "target": "I go"},
    )
    found = side_by_side((left, right), (given,), TOKENS)
    np.testing.assert_allclose(
        found.common.difference.weights, [[-0.4, 0.4], [-0.1, 0.1]], atol=1e-6
    )
    assert found.given == "I go"
    assert found.names == ("a", "b")
    assert "both as they write “I go”" in found.lines
    other = replace(given, model="c")  # of somebody else
    assert side_by_side((left, right), (other,), TOKENS).given == ""


def test_without_it_the_words_that_both_have():
    found = side_by_side((LEFT, RIGHT), (), TOKENS)
    assert found.common.left.queries == ("I",)
    np.testing.assert_allclose(found.common.difference.weights, [[-0.3, 0.3]], atol=1e-6)
    assert found.common.alone == (1, 0, 1, 0)
    assert "of the words that both have" in found.lines


def test_nothing_in_common_and_three_records_have_no_difference():
    apart = record_of("you", "你", [[1.0]])
    assert side_by_side((LEFT, apart), (), TOKENS) is None
    assert side_by_side((LEFT, RIGHT, LEFT), (), TOKENS) is None


def test_records_are_called_by_what_tells_them_apart():
    assert names_apart(LEFT, RIGHT) == ("a", "b")
    assert names_apart(LEFT, replace(LEFT, title="x")) == ("left", "x")
    changed = replace(LEFT, changes=("forced: I → 去",))
    assert names_apart(LEFT, changed) == ("as the model does it", "forced: I → 去")
    assert names_apart(LEFT, LEFT) == ("left", "right")


def test_the_terminal_has_both_and_their_difference(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    shown = View((LEFT, RIGHT), TOKENS).to_text()
    first = shown.splitlines()[0]
    assert first.index("a — cross-attention") < first.index("b — cross-attention")
    assert "difference: right − left" in first
    assert "-0.30" in shown
    assert shown.splitlines()[-1] == "they differ most at “I”: 0.300"


def test_a_picture_has_both_and_their_difference():
    picture = View((LEFT, RIGHT), TOKENS).to_svg()
    assert picture.count("difference: right − left") >= 1
    assert ">−0.30<" in picture
    assert "difference" not in View((LEFT,), TOKENS).to_svg()


def test_a_page_of_several_opens_side_by_side():
    page = View((LEFT, RIGHT), TOKENS, scored=(LEFT,)).to_html()
    assert '"panel":"compare"' in page
    assert '"scored":[{' in page
    assert (
        '"panel"' not in View((LEFT,), TOKENS).to_html().partition('id="regard-data">')[2][:20000]
    )
