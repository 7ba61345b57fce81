"""A task of several texts, of somebody else's: how it is asked, and what is shown of its model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from two_texts import opinion_run
from typer.testing import CliRunner

from regard.cli.app import app
from regard.looking.look import look
from regard.tasks.task_module import Unanswerable

EVEN = {"product": "the old lamp", "review": "so very bright"}
LONGER = {"product": "the old lamp", "review": "i like it so very much"}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A command, answered by a run of two texts."""
    run = opinion_run(tmp_path)
    monkeypatch.setattr("regard.runs.loaded_run.load", lambda *_, **__: run)

    def ask(*words: str, given: str = ""):
        return CliRunner().invoke(app, [*words], input=given)

    return ask


def line_of(example: dict[str, str]) -> str:
    return "\t".join(example.values())


def test_texts_with_a_tab_between_them_are_an_example(asked):
    whole = asked("predict", "-m", "x", json.dumps(EVEN), json.dumps(LONGER))
    assert whole.exit_code == 0, whole.output
    parted = asked("predict", "-m", "x", line_of(EVEN), line_of(LONGER))
    assert parted.stdout == whole.stdout
    lines = asked("predict", "-m", "x", "--json", given=f"{line_of(EVEN)}\n\n{line_of(LONGER)}\n")
    answers = [json.loads(line) for line in lines.stdout.splitlines()]
    assert [one["input"] for one in answers] == [EVEN, "", LONGER]
    assert answers[1]["answer"] is None


def test_a_corpus_of_two_columns_is_answered(asked, tmp_path):
    (tmp_path / "two.tsv").write_text(f"{line_of(EVEN)}\n{line_of(LONGER)}\n")
    done = asked("predict", "-m", "x", "--data", f"{tmp_path}/two.tsv", "--json")
    assert [json.loads(line)["input"] for line in done.stdout.splitlines()] == [EVEN, LONGER]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("one text", "is 'one text': there are 2 inputs"),
        ("a\tb\tc", "there are 2 inputs"),
        ('{"product": "a"}', "has no 'review'; it has product"),
        ('{"product": "a", "review": 3}', ": value without a text 'review'"),
    ],
)
def test_what_is_no_example_is_told_with_its_place(asked, wrong, said):
    told = asked("predict", "-m", "x", wrong)
    assert (told.exit_code, told.exception is not None) != (0, False)
    here = str(told.exception)
    assert here.startswith("argument 1"), here
    told = asked("predict", "-m", "x", given=f"{line_of(EVEN)}\n{wrong}\n")
    there = str(told.exception)
    assert there.startswith("line 2"), there
    assert here.removeprefix("argument 1") == there.removeprefix("line 2")
    assert len(told.stdout.splitlines()) == 1


def test_a_look_takes_what_predict_takes(tmp_path):
    run = opinion_run(tmp_path)
    ways = [LONGER, tuple(LONGER.values()), list(LONGER.values()), line_of(LONGER)]
    views = [look(run, way) for way in (*ways, json.dumps(LONGER))]
    shown = [view.records[0].maps[0].weights for view in views]
    assert all(np.array_equal(each, shown[0]) for each in shown)
    assert {view.records[0].output for view in views} == {run.predict([LONGER])[0].answer}
    with pytest.raises(Unanswerable, match="the example has no 'review'; it has product"):
        look(run, {"product": "a lamp"})
    with pytest.raises(Unanswerable, match="the example is 3: there are 2 inputs"):
        look(run, 3)
