"""Every tab of the page as a still picture: its numbers are those of the record."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from regard.looking.look import look
from regard.looking.pictures import picture_record
from regard.records.attention_map import AttentionMap
from regard.records.beam_tree import Beam, BeamNode
from regard.records.explanation import Explanation
from regard.records.lens import Lens
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Side
from regard.view.picked_matrix import NoSuchPart, Pick
from regard.view.sheets.sheet_blocks import number_text
from regard.view.sheets.tab_sheets import TABS, Focus, draw_tab
from regard.view.sheets.tree_sheet import leads_to_end, tree_layout
from regard.view.stills.paper import length

SVG = "{http://www.w3.org/2000/svg}"


def softmax(*shape: int, seed: int = 0) -> np.ndarray:
    powers = np.exp(np.random.default_rng(seed).normal(size=shape) * 2)
    return (powers / powers.sum(-1, keepdims=True)).astype(np.float32)


def made(seed: int = 0, model: str = "a") -> AttentionRecord:
    source = Side.of("我 是 谁", ["我", "是", "谁"], [(0, 1), (2, 3), (4, 5)], title="source")
    target = Side.of("who am", ["wh", "o", "am"], [(0, 2), (2, 3), (4, 6)], title="target")
    scores = np.random.default_rng(seed).normal(size=(2, 2, 3, 3)).astype(np.float32)
    powers = np.exp(scores)
    cross = AttentionMap(
        "cross",
        "target",
        "source",
        powers / powers.sum(-1, keepdims=True),
        normalizer="softmax",
        scores=scores,
        values=np.random.default_rng(1).normal(size=(2, 2, 3, 130)).astype(np.float32),
    )
    nodes = (
        BeamNode(-1, "wh", -0.1, -0.1, "open"),
        BeamNode(0, "o", -0.2, -0.3, "open"),
        BeamNode(0, "ile", -1.2, -1.3, "dropped"),
        BeamNode(1, "am", -0.2, -0.5, "ended", -0.25, 0),
    )
    loss = np.array([[0.5, -0.5, 0.1], [0.2, 0.1, 0.0], [0.0, 0.4, -0.8]], np.float32)
    told = Explanation(
        "loo", "leave one out", "It matters.", "cross", loss, {"τ": [1, 0.5, 0]}, True
    )
    return AttentionRecord(
        {"source": source, "target": target},
        (cross,),
        "我 是 谁",
        model,
        "who am",
        beam=Beam(nodes, softmax(4, 3)),
        explanations=(told,),
    )


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_steps_have_the_numbers_of_one_query():
    record = made()
    svg = draw_tab([record], Pick(layer=2, head=1), "steps", Focus(query=2))
    written = texts(svg)
    cross = record.maps[0]
    exps = np.exp(cross.scores[1, 0, 2].astype(float) - cross.scores[1, 0, 2].max())
    assert "query: am" in written
    for key in range(3):
        assert number_text(float(cross.scores[1, 0, 2, key])) in written
        assert number_text(exps[key], 3) in written
        assert number_text(float(cross.weights[1, 0, 2, key]), 3) in written
    assert number_text(exps.sum(), 3) in written
    assert "strips: each colour is the mean of 3 numbers" in written
    before = texts(draw_tab([record], Pick(layer=2, head=1), "steps", Focus(query=2, step=2)))
    assert "score" in before
    assert "weight" not in before


def test_a_heading_may_be_empty_and_a_token_of_nothing_is_seen():
    weights, vectors = softmax(1, 1, 2, 2), np.ones((1, 1, 2, 4), np.float32)
    kept = {"scores": weights, "query_vectors": vectors, "key_vectors": vectors}
    sides = {"source": Side.of_labels(["", " "]), "target": Side.of_labels(["", "b"])}
    told = AttentionRecord(sides, (AttentionMap("cross", "target", "source", weights, **kept),))
    written = texts(draw_tab([told], Pick(tokens=True), "steps", Focus()))
    assert "Query and keys, number by number" in written
    assert not any("'" in text for text in written)
    assert "" in written  # the heading of what has none
    assert {"∅", "␣"} <= set(written)
    lens = Lens("target", ("output",), ((("a",), ("b",)),), np.ones((1, 2, 1), np.float32))
    written = texts(draw_tab([replace(told, lens=lens)], Pick(tokens=True), "lens", Focus()))
    assert written.count("∅") == 1
    assert "''" not in written


def test_a_mean_has_no_steps():
    with pytest.raises(NoSuchPart, match="only one head of one layer has steps"):
        draw_tab([made()], Pick(), "steps")


def test_many_keys_are_cut_to_the_heaviest_and_said():
    weights = softmax(1, 60)
    record = AttentionRecord.of(weights, ["q"], [f"k{n}" for n in range(60)])
    written = texts(draw_tab([record], Pick(), "steps"))
    kept = {f"k{n}" for n in np.argsort(-weights[0])[:48]}
    assert {text for text in written if re.fullmatch(r"k\d+", text)} == kept
    assert any(text.startswith("The 48 heaviest keys; the other 12 have") for text in written)


def test_the_tree_has_its_tokens_places_and_what_was_looked_at():
    record = made()
    written = texts(draw_tab([record], Pick(), "beam"))
    assert "ile" not in written
    assert "1. −0.25" in written
    assert "What this hypothesis looked at" in written
    every = draw_tab([record], Pick(), "beam", Focus(dropped=True, node=2))
    assert "ile" in texts(every)
    assert 'stroke-dasharray="3 3"' in every
    assert "What this token looked at" in texts(every)


def test_the_tree_explains_only_the_marks_that_it_has():
    record = made()
    plain = [text for text in texts(draw_tab([record], Pick(), "beam")) if "thick line" in text]
    assert plain == ["thick line: likely token · framed: an end, with its place and score"]
    every = texts(draw_tab([record], Pick(), "beam", Focus(dropped=True)))
    assert any(text.endswith("dashed: dropped") for text in every)


def test_the_words_of_a_legend_do_not_touch():
    one = AttentionRecord.of([[0.892, 0.108]], ["x"], ["a", "b"], model="a", name="cross")
    other = AttentionRecord.of([[0.5, 0.5]], ["x"], ["a", "b"], model="b", name="cross")
    drawn = ElementTree.fromstring(draw_tab([one, other], Pick(tokens=True), "compare"))
    found = [
        each for each in drawn.iter(f"{SVG}text") if each.text in ("−0.392", "difference", "0.392")
    ]
    low, high, name = (float(each.get("x")) for each in found)
    assert [each.text for each in found] == ["−0.392", "0.392", "difference"]
    assert low + length("−0.392", 11) < name - length("difference", 11) / 2
    assert name + length("difference", 11) / 2 < high - length("0.392", 11)


def test_the_best_hypothesis_runs_along_the_top():
    nodes = made().beam.nodes
    assert leads_to_end(nodes) == [True, True, False, True]
    assert tree_layout(nodes, [True] * 4) == ([0, 1, 1, 2], [0, 0, 1, 0])


def test_a_comparison_has_both_and_their_difference():
    one, other = made(), made(3, "b")
    written = texts(draw_tab([one, other], Pick(tokens=True), "compare"))
    apart = (other.maps[0].weights - one.maps[0].weights).mean((0, 1))
    assert f"{apart[0, 0]:.2f}" in written
    assert "difference: right − left" in written
    assert any(text.startswith("a: cross-attention") for text in written)
    distance = np.abs(apart).sum(-1).mean() / 2
    assert any(f"Mean total variation of a row: {distance:.3f}" in text for text in written)
    shorter = AttentionRecord.of(softmax(3, 2), ["x", "y", "z"], ["a", "b"])
    said = texts(draw_tab([one, shorter], Pick(tokens=True), "compare"))
    assert any(text.startswith("No difference map: the queries differ") for text in said)


def test_one_record_is_compared_with_itself_in_another_layer():
    written = texts(draw_tab([made()], Pick(tokens=True), "compare"))
    assert any("· layer 2 ·" in text for text in written)
    alone = AttentionRecord.of(softmax(2, 2), ["a", "b"])
    with pytest.raises(NotARecord, match="nothing to compare it with") as refused:
        draw_tab([alone], Pick(), "compare")
    assert refused.value.hint == "give two texts, or -m twice"


def test_measures_are_on_the_words_of_the_map():
    record = made()
    written = texts(draw_tab([record], Pick(), "explain"))
    assert "who" in written
    assert "−0.80" in written
    assert "0.35" in written  # who, 我: the mean of 0.5 and 0.2
    assert "0.75" in written  # τ of who: the mean of 1 and 0.5
    assert "It matters." in written
    weights = record.maps[0].weights.mean((0, 1))
    entropy = -(weights[2].astype(float) * np.log(weights[2])).sum()
    assert number_text(entropy) in written


def test_rollout_of_a_stack_is_drawn_where_none_is_brought():
    side = Side.of_labels(["a", "b"])
    stack = AttentionMap("encoder", "text", "text", softmax(2, 1, 2, 2))
    record = AttentionRecord({"text": side}, (stack,))
    rolled = np.eye(2)
    for layer in stack.weights[:, 0].astype(float):
        rolled = (layer + np.eye(2)) / 2 @ rolled
    written = texts(draw_tab([record], Pick(), "explain"))
    assert all(f"{x:.2f}" in written for x in rolled.ravel())


def test_a_picture_has_a_legend_and_a_copy_for_each_word():
    record = picture_record(softmax(2, 6), ["a", "b"], np.zeros((4, 6, 3), np.uint8), grid=(2, 3))
    svg = draw_tab([record], Pick(), "picture")
    assert svg.count("<use ") == 2
    assert any("each word is scaled to its own strongest cell" in text for text in texts(svg))
    with pytest.raises(NotARecord, match="no cells of a picture"):
        draw_tab([made()], Pick(), "picture")


def test_the_table_has_the_strongest_links():
    record = made()
    written = texts(draw_tab([record], Pick(tokens=True), "table", Focus(count=1)))
    weights = record.maps[0].weights.mean((0, 1))
    for row in weights:
        assert number_text(float(row.max()), 3) in written


def test_markup_is_text_in_every_tab():
    hostile = "<script>&</script>"
    said = Lens("target", ("output",), (((hostile,),) * 3,), np.ones((1, 3, 1), np.float32))
    record = replace(made(), title=hostile, model=hostile, lens=said)
    for tab in set(TABS) - {"picture"}:
        root = ElementTree.fromstring(draw_tab([record], Pick(layer=1, head=1), tab))
        assert not list(root.iter(f"{SVG}script"))
        assert hostile in "".join(root.itertext())


def test_predictions_are_drawn_at_the_place_that_is_asked_for():
    words = ((("x", "y"), ("z", "u"), ("v", "w")),) * 2
    chances = np.linspace(0, 0.99, 12, dtype=np.float32).reshape(2, 3, 2)
    record = replace(made(), lens=Lens("target", ("layer 1", "output"), words, chances))
    written = texts(draw_tab([record], Pick(), "lens"))
    assert "output, at am" in written
    assert number_text(0.99, 3) in written
    written = texts(draw_tab([record], Pick(), "lens", Focus(query=0, line=0)))
    assert "layer 1, at wh" in written
    assert number_text(float(chances[0, 0, 1]), 3) in written
    with pytest.raises(NotARecord, match="no predictions"):
        draw_tab([made()], Pick(), "lens")


def test_a_view_saves_a_tab_in_every_format(tmp_path):
    view = look(made(), layer=1, head=1)
    for suffix in (".svg", ".png", ".pdf"):
        assert view.save(tmp_path / f"a{suffix}", tab="steps", theme="dark").stat().st_size > 1000
    with pytest.raises(NotARecord, match="no tab 'stepz': there are steps, beam"):
        view.to_svg(tab="stepz")


def test_numbers_are_rounded_as_on_the_page():
    shown = [number_text(x) for x in (0.125, -0.125, 0.004, 0.0, float("nan"), float("-inf"), 12.0)]
    assert shown == ["0.13", "−0.13", "≈0", "0.00", "–", "−∞", "12.00"]


def test_a_comparison_says_what_came_out_on_either_side_and_what_both_write():
    asked = {"text": "我是谁", "force": None, "off": []}
    one = replace(made(), output="who am I", question=asked)
    coarse = replace(made(3, "b"), output="I do", question=asked)
    map_ = replace(coarse.maps[0], mechanism="score: additive")
    other = replace(coarse, maps=(map_,))
    given = replace(other, output="who am I", question=asked | {"target": "who am I"})
    written = texts(draw_tab([one, other], Pick(tokens=True), "compare", scored=(given,)))
    assert {"a: who am I", "b: I do", "both as they write “who am I”"} <= set(written)
    assert "b: score: additive" in written
    alone = texts(draw_tab([one, replace(one, model="b")], Pick(tokens=True), "compare"))
    assert "who am I" in alone
    assert not any(text.startswith("both as they write") for text in alone)


def test_what_is_put_together_in_a_comparison_is_told_on_both_sides():
    """The left has a token for each character, the right one for the word."""
    fine = Side.of("我是", ["我", "是"], [(0, 1), (1, 2)], words=(0, 1))
    whole = Side.of("我是", ["我是"], [(0, 2)])
    rows = Side.of_labels(["who"])
    left = AttentionRecord.of([[0.5, 0.5]], rows, fine, name="cross", model="a")
    right = AttentionRecord.of([[1.0]], rows, whole, name="cross", model="b")
    written = texts(draw_tab([left, right], Pick(), "compare"))
    assert "a: cross-attention · words: sum over keys, mean over queries" in " ".join(written)
