"""What each variant attends to on an item is drawn, whatever the task: texts, pairs, stories, tags."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from attending_tasks import KINDS, recipe_of

from regard.compare.case_maps import attention_drawing, shown_maps
from regard.compare.cases import Case, asked_line, with_records
from regard.compare.items import text_of
from regard.compare.judged_run import Cost, JudgedRun
from regard.records.attention_map import AttentionMap
from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.runs.loaded_run import load
from regard.training.run import train


@pytest.mark.parametrize("kind", KINDS)
def test_every_task_shows_what_it_attends_to(kind, tmp_path):
    model, expected = KINDS[kind]
    recipe = recipe_of(kind, model, tmp_path)
    run = load(train(recipe, tmp_path / "run", quiet=True), device="cpu")
    examples = run.task.examples(recipe.data.test)
    row = max(range(len(examples)), key=lambda n: len(text_of(run.task, examples[n])))
    judged = JudgedRun(run.folder.path, 1, "", {}, (), Cost(1))
    case = Case(row, 1.0, (judged, judged), ("", ""))
    case = with_records(case, lambda _: run, ("one", "other"), examples)
    assert case.why_not == ()
    assert shown_maps(case.records) == expected
    drawn = attention_drawing(case.records[0], "one", expected)
    assert drawn.count('class="heat') + drawn.count('class="marked"') >= len(expected)
    assert "NaN" not in drawn
    for name in expected:
        weights = case.records[0].map(name).weights
        assert 0 <= weights.min() <= weights.max() <= 1 + 1e-6
        if name != "pair":  # which are matches, not shares
            np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-4)


def test_an_item_of_several_inputs_is_asked_as_a_whole_and_told_line_by_line(tmp_path):
    recipe = recipe_of("read", KINDS["read"][0], tmp_path)
    run = load(train(recipe, tmp_path / "run", quiet=True), device="cpu")
    (example, *_) = run.task.examples(recipe.data.test)
    asked = json.loads(asked_line(run.task, example))
    assert asked["story"] == "Mary is in the attic. John is in the park."
    assert asked["candidates"] == ["attic", "park"]
    story, question, _ = text_of(run.task, example).split("\n")
    assert story == f"story: {asked['story']}"
    assert question == "question: Where is John?"


def test_both_of_two_models_that_do_not_attend_say_so():
    def look(*_, **__):
        from regard.records.question import BadQuestion

        raise BadQuestion("nothing is attended to")

    task = SimpleNamespace(inputs=("text",), look=look, bare=lambda example: example["text"])
    run = SimpleNamespace(task=task, module=None)
    judged = JudgedRun(Path("run"), 1, "", {}, (), Cost(1))
    case = Case(0, 1.0, (judged, judged), ("", ""))
    found = with_records(case, lambda _: run, ("one", "other"), [{"text": "a b"}])
    assert found.records == (None, None)
    assert found.why_not == ("one: nothing is attended to", "other: nothing is attended to")
    assert shown_maps(found.records) == []
    assert attention_drawing(None, "one", []) == ""


def record_of(
    *maps: tuple[str, str, str, str], queries: int = 2, words: int = 3
) -> AttentionRecord:
    """maps: name, keys, mechanism; weights that are even."""
    side = Side.of_labels([f"w{n}" for n in range(words)])
    sides = {"q": Side.of_labels([f"q{n}" for n in range(queries)]), "a": side, "b": side}
    even = np.full((1, 1, queries, words), 1 / words, np.float32)
    made = tuple(AttentionMap(n, "q", k, even, mechanism=m) for n, k, m in maps)
    return AttentionRecord(sides, made)


def test_what_differs_is_shown_before_what_is_near_the_answer():
    one = record_of(("encoder", "a", "dot"), ("cross", "a", "dot"))
    other = record_of(("encoder", "a", "cosine"), ("cross", "a", "dot"))
    assert shown_maps((one, one)) == ["cross"]
    assert shown_maps((one, other)) == ["encoder"]
    assert shown_maps((one, None)) == ["cross"]


def test_a_long_text_is_marked_and_its_table_is_folded():
    record = record_of(("focus", "a", ""), words=60)
    drawn = attention_drawing(record, "one", ["focus"])
    assert drawn.index('class="marked"') < drawn.index("<details")
    assert len(re.findall("<mark", drawn)) == 60
    assert "full colour: 2 %" in drawn
    short = attention_drawing(record_of(("focus", "a", "")), "one", ["focus"])
    assert "<mark" not in short
    assert 'class="heat"' in short
