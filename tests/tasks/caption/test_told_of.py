"""Labels, vectors and texts that are told of, by recipe: learnt, gone on with, answered, drawn, looked at."""

from __future__ import annotations

import json
import os
import signal

import pytest
import torch
from typer.testing import CliRunner

from regard.cli.app import app
from regard.looking.look import look
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.records.question import BadQuestion
from regard.runs.failures import Interrupted
from regard.runs.loaded_run import load
from regard.tasks.task_module import Unanswerable
from regard.training.run import train
from regard.training.weight_update import Updater

NAMES = ("zero", "one", "two", "three")
CELLS = {
    "label": [str(n) for n in range(4)],
    "vector": [[float(n == m) for m in range(4)] for n in range(4)],
    "text": ["the naught", "a single", "a pair", "a whole trio"],
    "image": [[[float(n), 1.0]] * (n + 1) for n in range(4)],  # input=numbers
}


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def told_recipe(folder, kind: str, *, epochs: int = 45, **model) -> Recipe:
    field = "image" if kind == "numbers" else kind
    rows = [{field: cell, "caption": name} for cell, name in zip(CELLS[field], NAMES, strict=True)]
    for part, times in (("train", 8), ("test", 1)):
        lines = "".join(json.dumps(row) + "\n" for row in rows * times)
        (folder / f"{kind}.{part}.jsonl").write_text(lines)
    given = {part: str(folder / f"{kind}.{part}.jsonl") for part in ("train", "test")}
    return Recipe.model_validate(
        {
            "task": {"kind": "caption", "input": kind},
            "data": {**given, "dev": given["test"], "source": "en", "target": "en"},
            "tokenizer": {
                "source": {"kind": "character", "size": 40},
                "target": {"kind": "character", "size": 40},
            },
            "model": {"kind": "one-to-many", "embedding": 12, "hidden": 24, "size": 12, **model},
            "training": {
                "epochs": epochs,
                "batch_sentences": 8,
                "metric": "loss",
                "optimizer": {"kind": "adam", "lr": 1e-2},
            },
            "search": {"beam": 1, "max_length": 12},
            "trainer": {"accelerator": "cpu"},
        }
    )


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    """A run that spells the names of labels, each step with its number and a look back."""
    folder = tmp_path_factory.mktemp("labels")
    how = {"enters": "every", "step_index": "learned", "attention": {"score": "scaled-dot"}}
    return train(told_recipe(folder, "label", **how), folder / "run", quiet=True)


@pytest.mark.parametrize(
    ("kind", "enters"), [("vector", "first"), ("text", [1, 3]), ("numbers", "every")]
)
def test_whatever_is_told_of_gets_its_name(kind, enters, tmp_path):
    run = load(train(told_recipe(tmp_path, kind, enters=enters), tmp_path / "run", quiet=True))
    cells = CELLS["image" if kind == "numbers" else kind]
    assert [one.answer for one in run.predict(cells)] == list(NAMES)
    assert [one.text for one in run.generate(cells)] == list(NAMES)
    (alone,) = run.predict(cells[3:])
    assert alone.score == pytest.approx(run.predict(cells)[3].score, abs=1e-5)


def test_a_label_is_told_of_searched_for_and_drawn(labels):
    run = load(labels)
    assert [one.text for one in run.generate(["0", "3"])] == ["zero", "three"]
    assert run.generate(["2"], length=2)[0].text == "tw"
    drawn = [run.generate(["3"], method="sample", temperature=9.0, seed=n)[0].text for n in (1, 2)]
    assert drawn[0] != drawn[1]
    again = run.generate(["3"], method="sample", temperature=9.0, seed=1)[0]
    assert (again.text, again.source) == (drawn[0], "3")


def test_what_cannot_be_told_of_is_said(labels):
    run = load(labels)
    with pytest.raises(Unanswerable, match="the label '7' is not in the data to learn from"):
        run.predict(["7"])
    with pytest.raises(Unanswerable, match="there is nothing to tell of"):
        run.generate([" "])


def test_the_command_tells_of_each(labels):
    done = CliRunner().invoke(app, ["generate", "-m", str(labels), "1", '{"label": 2}'])
    assert (done.exit_code, done.stdout) == (0, "one\n\ntwo\n")
    done = CliRunner().invoke(app, ["generate", "-m", str(labels), "1", "--json"])
    assert json.loads(done.stdout)["text"] == "one"
    done = CliRunner().invoke(app, ["generate", "-m", str(labels)])
    assert done.exit_code == 2
    assert "this run tells of something: give label" in done.stderr


def test_a_look_shows_which_characters_each_looks_back_at(labels):
    (record,) = look(load(labels), "3").records
    (back,) = record.maps
    side = record.sides["caption"]
    assert (back.name, record.output, list(side.tokens[1:])) == ("decoder", "three", list("three"))
    weights = torch.from_numpy(back.weights[0, 0])
    assert weights.shape == (6, 6)
    torch.testing.assert_close(weights.sum(-1), torch.ones(6).to(weights), atol=1e-5, rtol=0)
    assert not weights.triu(1).any()


def test_without_attention_there_is_nothing_to_look_at(tmp_path):
    run = train(told_recipe(tmp_path, "vector", epochs=1), tmp_path / "run", quiet=True)
    with pytest.raises(BadQuestion, match="nothing to look at"):
        look(load(run), "[1.0, 0.0, 0.0, 0.0]")


def test_killed_it_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    recipe = told_recipe(tmp_path, "text", epochs=3, enters=[1, 4], step_index="sinusoidal")
    whole = train(recipe, tmp_path / "whole", quiet=True)
    update, done = Updater.update, []

    def killed(self, *given, **more):
        done.append(1)
        if len(done) == 7:
            os.kill(os.getpid(), signal.SIGTERM)
        return update(self, *given, **more)

    monkeypatch.setattr(Updater, "update", killed)
    with pytest.raises(Interrupted):
        train(recipe, tmp_path / "killed", quiet=True)
    monkeypatch.undo()
    again = train(recipe, tmp_path / "killed", quiet=True)
    assert (again / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["task.input=label", "model.kind=show-attend-tell"], "is for image or numbers"),
        (["task.prompt=true"], "reads no prompt"),
        (["model.enters=[0]"], "enters"),
        (["model.enters=sometimes"], "enters"),
    ],
)
def test_what_does_not_go_together_is_refused(words, said):
    with pytest.raises(RecipeError, match=said):
        read_recipe("digit-names", words)
