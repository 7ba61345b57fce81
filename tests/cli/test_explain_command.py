"""`regard explain`: one table over a corpus, and what is done when somebody has waited long enough."""

from __future__ import annotations

import json

import pytest

import regard
from regard.explanations.attributions import METHODS
from regard.looking.explained_corpus import explain_corpus
from regard.records.question import BadQuestion

FEW = ["--methods", "attention,leave-one-out", "--limit", "2"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    texts = ["我是一个学生。", "他是老师。", "你好吗？", "我喜欢猫。"]
    (folder / "a.zh").write_text("\n".join(texts) + "\n", "utf-8")
    (folder / "a.en").write_text("a\nb\nc\nd\n", "utf-8")
    return f"{folder}/a.zh,{folder}/a.en"


def test_a_table_of_methods_beside_random_tokens(run, pairs):
    done = run("explain", "--data", pairs, *FEW)
    assert done.status == 0
    first, _, head, *rows = done.out.splitlines()
    assert "2 of 4 examples" in first
    assert head.split()[:3] == ["method", "comprehensiveness", "↑"]
    assert [row.split("  ")[0] for row in rows[:3]] == [
        "attention",
        "leave-one-out",
        "random tokens",
    ]
    assert all(row.count("[") >= 3 for row in rows[:3])


def test_the_same_as_json_and_the_same_again(run, pairs):
    words = ["explain", "--data", pairs, *FEW, "--seed", "3", "--json"]
    found, again = (json.loads(run(*words).out) for _ in range(2))
    assert found["examples"] == {"there": 4, "wanted": 2, "explained": 2}
    assert [each["name"] for each in found["methods"]] == ["attention", "leave-one-out", "random"]
    for each in found["methods"]:
        each.pop("seconds")
        for column in ("comprehensiveness", "sufficiency"):
            assert each[column]["low"] <= each[column]["mean"] <= each[column]["high"]
            assert each[column]["answers"] == found["answers"]
    for each in again["methods"]:
        each.pop("seconds")
    assert found == again


def test_an_unknown_method_is_told_before_anything_is_read(run):
    done = run("explain", "--methods", "gradint", "-m", "nowhere")
    assert done.status == 2
    assert "no method 'gradint'. Did you mean 'gradient'?" in done.err


@pytest.fixture(scope="module")
def loaded():
    return regard.load(device="cpu")


def test_ctrl_c_keeps_what_is_done(loaded, pairs):
    def told(done: int, count: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    found = explain_corpus(loaded, pairs, methods=["attention"], told=told)
    assert found.interrupted
    assert (found.items, found.wanted) == (2, 4)
    assert found.rows[0].columns["comprehensiveness"].answers == found.answers


def test_ctrl_c_before_anything_is_done_is_an_end(loaded, pairs, monkeypatch):
    def readings(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(loaded.task), "readings", readings)
    with pytest.raises(KeyboardInterrupt):
        explain_corpus(loaded, pairs)


def test_a_stopped_command_says_so(run, pairs, monkeypatch):
    def told(self, done: float, count: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.time_left.TimeLeft.see", told)
    done = run("explain", "--data", pairs, "--methods", "attention")
    assert done.status == 130
    assert "random tokens" in done.out
    assert "stopped after 1 of 4 examples: the table is of these" in done.err


def test_blank_texts_have_nothing_to_explain(loaded):
    assert list(loaded.task.readings(loaded.module, [{"source": " "}])) == [None]


def test_a_task_that_is_not_explained_says_what_is(loaded):
    from regard.tasks.task import Task

    with pytest.raises(ValueError, match=r"task\.kind=translate are not explained"):
        Task.readings(loaded.task, loaded.module, [])
    with pytest.raises(BadQuestion, match="name a method"):
        explain_corpus(loaded, methods=[])


def test_help_names_every_method(run):
    said = " ".join(run("explain", "--help").out.split())
    assert all(name in said for name in METHODS)
