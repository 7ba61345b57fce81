"""A run is named by its folder, the embedded model by its name, a checkpoint by its step."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from regard.runs.failures import NotARun
from regard.runs.loaded_run import load
from regard.runs.run_names import EMBEDDED, checkpoint_of, run_path, shown_name
from regard.runs.tensor_tree import read_tree


@pytest.fixture
def copy(trained, tmp_path) -> Path:
    return shutil.copytree(trained, tmp_path / "toy")


def test_the_embedded_model_has_a_name():
    assert run_path("embedded") == EMBEDDED
    assert load("embedded", device="cpu").folder.path == EMBEDDED
    assert load(["embedded"], device="cpu").name == "zh-en (embedded)"


def test_a_folder_of_that_name_is_a_path(copy, monkeypatch):
    shutil.copytree(copy, copy.parent / "embedded")
    monkeypatch.chdir(copy.parent)
    assert run_path("./embedded") == Path("embedded")
    assert load("./embedded", device="cpu").recipe.name == "toy"
    assert load(Path("embedded"), device="cpu").recipe.name == "toy"


@pytest.mark.parametrize(
    "name", ["runs/a@500", "runs/a/checkpoints/best-00000500.safetensors"], ids=["step", "file"]
)
def test_a_checkpoint_is_named_by_its_step(name):
    assert checkpoint_of(Path(name)) == (Path("runs/a"), 500)
    assert shown_name(Path(name)) == "a@500"


def test_a_folder_may_have_such_a_name(tmp_path):
    (tmp_path / "run@3").mkdir()
    assert checkpoint_of(tmp_path / "run@3") is None


def test_every_checkpoint_of_a_run_answers(copy):
    files = sorted((copy / "checkpoints").glob("*.safetensors"))
    assert {file.name[:4] for file in files} == {"best", "step"}
    for file in files:
        run = load(file, device="cpu")
        tree = read_tree(file)
        weights = (
            tree
            if "state" not in tree
            else {name.removeprefix("model."): value for name, value in tree["module"].items()}
        )
        name, value = next(iter(run.model.named_parameters()))
        assert torch.equal(value, weights[name])
        assert run.path == copy.parent / f"toy@{int(file.stem[5:])}"
        assert run.name == f"toy@{int(file.stem[5:])}"
        assert run.translate(["aa bb"])[0].text is not None


def test_the_best_checkpoint_is_the_model_of_the_run(copy):
    run = load(copy, device="cpu")
    steps = [int(p.stem[5:]) for p in (copy / "checkpoints").glob("best-*.safetensors")]
    twins = [load(f"{copy}@{step}", device="cpu") for step in steps]
    same = [
        all(
            torch.equal(a, b)
            for a, b in zip(run.model.parameters(), twin.model.parameters(), strict=True)
        )
        for twin in twins
    ]
    assert sum(same) == 1


def test_a_run_without_a_model_yet_has_its_checkpoints(copy):
    (copy / "model.safetensors").unlink()
    (copy / "config.json").unlink()
    file = next((copy / "checkpoints").glob("best-*.safetensors"))
    assert load(file, device="cpu").translate(["aa bb"])[0].text is not None


def test_a_step_that_was_not_kept_names_those_that_were(copy):
    with pytest.raises(NotARun, match=r"no checkpoint of step 7 in .*: there are those of \d+"):
        load(f"{copy}@7", device="cpu")
    with pytest.raises(NotARun, match="no folder"):
        load(copy.parent / "nothing@7", device="cpu")
