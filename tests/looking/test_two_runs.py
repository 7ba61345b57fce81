"""Two runs that write different things: each is given what the other wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import pytest

from regard.looking.asked_models import told_apart
from regard.looking.look import look
from regard.records.question import HeadOff, Question
from regard.runs.checkpoint_model import steps_kept
from regard.runs.loaded_run import load

TEXTS = ("aa bb cc dd", "cc dd ee ff gg", "hh gg ff", "ee ee")


@pytest.fixture(scope="module")
def pair(trained):
    runs = [load(f"{trained}@{n}", device="cpu") for n in steps_kept(load(trained).folder)]
    for text in TEXTS:
        for one, other in combinations(runs, 2):
            if one.translate([text])[0].text != other.translate([text])[0].text:
                return one, other, text
    raise AssertionError("all checkpoints write the same")


def test_each_is_given_the_others_output(pair):
    one, other, text = pair
    view = look(one, other, text)
    left, right = view.records
    given_right, given_left = view.scored
    assert [left.model, right.model] == [one.name, other.name]
    assert (given_right.model, given_right.output) == (right.model, left.output)
    assert (given_left.model, given_left.output) == (left.model, right.output)
    assert given_right.sides["target"].text == left.sides["target"].text
    assert "difference: right − left" in view.to_text()


def test_a_file_of_them_shows_the_same(pair, tmp_path):
    view = look(*pair)
    again = look(view.save(tmp_path / "two.json"))
    assert again.to_text() == view.to_text()
    assert again.to_svg(tab="compare") == view.to_svg(tab="compare")
    assert sorted(each.model for each in again.scored) == sorted(r.model for r in view.scored)
    assert again.to_json() == view.to_json()
    apart = [tmp_path / "left.json", tmp_path / "right.json"]
    for path, plain in zip(apart, json.loads(view.to_json()), strict=True):
        path.write_text(json.dumps(plain), "utf-8")
    assert look(*apart).to_text() == view.to_text()
    assert look(view).scored == view.scored


def test_one_run_and_two_texts_have_nothing_to_give(pair):
    assert look(pair[0], pair[2]).scored == ()
    assert look(pair[0], *TEXTS[:2]).scored == ()


def test_before_and_after_a_change(pair):
    run, _, text = pair
    off = Question(text, off=(HeadOff(1),))
    view = look(run, text, off)
    outputs = [record.output for record in view.records]
    assert len(view.scored) == (2 if outputs[0] != outputs[1] else 0)
    for each in view.scored:
        assert each.question["target"] in outputs


def test_runs_of_one_name_are_told_apart(pair, tmp_path):
    runs = []
    for parent in ("x", "y"):
        folder = replace(pair[0].folder, path=tmp_path / parent / "run")
        run = load(pair[0].path, device="cpu")
        run.folder, run.step = folder, None
        runs.append(run)
    assert told_apart(runs) == ["x/run", "y/run"]
    assert told_apart(pair[:2]) == [run.name for run in pair[:2]]
