"""`regard train` and `regard demo` hand a resolved recipe to the run, and a folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from regard.cli.commands.demo import UNSEEN
from regard.data.examples import read_pairs
from regard.recipe.recipe_files import read_recipe
from regard.view.terminal_cells import width


@pytest.fixture
def trained(monkeypatch) -> list[SimpleNamespace]:
    """The runs that were asked for; nothing is trained."""
    asked = []

    def train(recipe, folder, *, quiet=False):
        asked.append(SimpleNamespace(recipe=recipe, folder=Path(folder), quiet=quiet))

    monkeypatch.setitem(sys.modules, "regard.training.run", SimpleNamespace(train=train))
    return asked


def test_a_recipe_is_trained_into_a_folder_of_its_name(run, trained):
    assert run("train", "zh-en").status == 0
    (asked,) = trained
    assert asked.recipe == read_recipe("zh-en")
    assert (asked.folder, asked.quiet) == (Path("runs/zh-en"), False)


def test_flags_win_over_words_and_words_over_the_recipe(run, trained):
    words = ["seed=2", "model.hidden=7", "data.train=a.zh,a.en"]
    flags = ["--seed", "3", "--device", "cuda:1", "--run", "x/y", "--quiet"]
    done = run("train", "rnnsearch", *words, *flags)
    assert done.status == 0
    (asked,) = trained
    assert asked.recipe.data.dev == "a.zh,a.en@dev"  # no other pairs are named to judge by
    assert (asked.recipe.seed, asked.recipe.model.hidden) == (3, 7)
    assert (asked.recipe.trainer.accelerator, asked.recipe.trainer.devices) == ("cuda", [1])
    assert (asked.folder, asked.quiet) == (Path("x/y"), True)


def test_the_demo_translates_what_it_has_never_seen(run, trained, reverser, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    scores = {"test": {"sentences": 844, "bleu": {"value": 15.04, "signature": "nrefs:1"}}}
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    done = run("demo", "--run", str(tmp_path))
    assert (done.status, done.err) == (0, "")
    assert trained[0].recipe.name == "demo"
    assert reverser.loaded == tmp_path
    for sentence in UNSEEN:
        assert f"{sentence} → {sentence[::-1]}" in done.out
        assert "██1.00" in done.out
        assert f"\n{sentence[-2::-1]} ↔ {sentence[:-1]}\n" in done.out
    assert "BLEU 15.0 on 844 held-out sentences\nnrefs:1" in done.out
    ours = done.out.replace(str(tmp_path), "runs/demo").splitlines()
    assert max(map(width, ours)) <= 80
    assert str(tmp_path / "report.html") in done.out


def test_the_sentences_of_the_demo_are_in_the_test_part_alone():
    test = {pair.source for pair in read_pairs("tatoeba-zh-en:test")}
    seen = {
        pair.source for part in ("train", "dev") for pair in read_pairs(f"tatoeba-zh-en:{part}")
    }
    assert set(UNSEEN) <= test
    assert not set(UNSEEN) & seen


def test_a_folder_of_another_recipe_is_named(run, trained, monkeypatch):
    from regard.runs.failures import OtherRecipe

    def train(*_, **__):
        raise OtherRecipe("runs/zh-en holds a run of another recipe: seed was 1, is 2")

    monkeypatch.setitem(sys.modules, "regard.training.run", SimpleNamespace(train=train))
    done = run("train", "zh-en", "seed=2")
    assert done.status == 2
    assert "--run" in done.err


@pytest.mark.parametrize(
    ("recipe", "noun"), [("mr", "texts"), ("zh-en", "pairs"), ("tag", "sentences")]
)
def test_who_has_no_dev_set_is_told_in_words_of_the_task(run, trained, recipe, noun):
    done = run("train", recipe, "data.dev=null")
    assert f"data.dev=SPEC, written as data.train is, names {noun} to choose" in done.err
    assert len(trained) == 1
