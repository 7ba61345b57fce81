"""Runs that name pictures: every model trains, is saved, and answers the same alone and among others."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
import pytest
import torch
from PIL import Image as Pillow
from scribbles import MODELS, scribbles, see_recipe, write_scribbles

from regard.data.problems import CorpusError
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.report.run_evaluation import evaluate
from regard.runs.failures import Interrupted
from regard.runs.loaded_run import load
from regard.runs.metrics_file import read_rows
from regard.serve.messages import Predicted
from regard.tasks.recipe_task import task_of
from regard.tasks.task_module import Unanswerable
from regard.training.run import train
from regard.training.run_preparation import make_module
from regard.training.weight_update import Updater

CLUTTERED = {"view": "cluttered", "ground": 20, "piece": 4}


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scribbles")
    write_scribbles(folder)
    return folder


@pytest.fixture(scope="module")
def runs(corpora, tmp_path_factory):
    """One run of each model, in clutter."""
    folder = tmp_path_factory.mktemp("runs")
    return {
        name: train(see_recipe(corpora, name, task=CLUTTERED), folder / name, quiet=True)
        for name in MODELS
    }


@pytest.mark.parametrize("model", MODELS)
def test_a_run_is_whole_and_its_answers_are_its_own(runs, corpora, model):
    run = load(runs[model])
    scores = json.loads((runs[model] / "scores.json").read_text())
    assert 0 <= scores["test"]["accuracy"] <= 1
    again = evaluate(run, f"{corpora}/test-images.idx,{corpora}/test-labels.idx")
    assert again.measures["accuracy"] == pytest.approx(scores["test"]["accuracy"])
    assert again.loss == pytest.approx(scores["test"]["loss"], rel=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_an_answer_is_the_same_alone_and_among_others(runs, model):
    run = load(runs[model])
    module = run.module.double()
    images, _ = scribbles(7, seed=9)
    shown = torch.from_numpy(images / 255)[:, None]
    with module.inference():
        scene = module.scene(shown).pictures
        together = module.sight(scene)
        for number in range(len(shown)):
            alone = module.scene(shown[number : number + 1]).pictures
            assert torch.equal(alone[0], scene[number])
            found = module.sight(alone)
            torch.testing.assert_close(found.logits[0], together.logits[number], rtol=0, atol=1e-10)
            if together.places is not None:
                torch.testing.assert_close(found.places[0], together.places[number])


def test_every_weight_of_every_model_learns(corpora):
    for model in MODELS:
        recipe = see_recipe(corpora, model, task=CLUTTERED)
        task = task_of(recipe)
        task.learn(recipe.data.train)
        torch.manual_seed(0)
        module = make_module(task).train()
        for _ in range(4):  # REINFORCE has nothing to say where all is right, or all wrong
            (_, batch), *_ = task.batches(task.examples(recipe.data.train), module.device)
            module(**batch).total.backward()
        still = {
            name
            for name, weight in module.named_parameters()
            if weight.grad is None or not weight.grad.any()
        }
        allowed = {"locator", "expected"} if "random" in model else set()
        allowed |= {"inference"} if model in ("ws-ram-bound", "ws-ram-prior") else set()
        # weights before a last layer that begins at 0 wait for it
        allowed |= {"transformer"} if model.startswith("stn") else set()
        assert not {name for name in still if not allowed & set(name.split("."))}, model


@pytest.mark.parametrize("model", ["ram", "ws-ram", "stn"])
def test_a_run_stopped_by_a_signal_ends_as_if_it_had_not(corpora, tmp_path, monkeypatch, model):
    recipe = see_recipe(corpora, model, task=CLUTTERED, training={"checkpoint_every": 4})
    whole = train(recipe, tmp_path / "whole", quiet=True)
    real, calls = Updater.update, []

    def at_the_sixth(self, *batches, **options):
        calls.append(batches)
        if len(calls) == 6:
            os.kill(os.getpid(), signal.SIGTERM)
        return real(self, *batches, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Updater, "update", at_the_sixth)
        with pytest.raises(Interrupted, match="after step 6"):
            train(recipe, tmp_path / "run", quiet=True)
    run = train(recipe, tmp_path / "run", quiet=True)
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_recorded_updates_learn_the_same(corpora, tmp_path):
    folders = []
    for how in ("off", "graphs"):
        recipe = see_recipe(corpora, "ram", task=CLUTTERED)
        recipe = recipe.model_copy(
            update={"trainer": recipe.trainer.model_copy(update={"compile": how})}
        )
        folders.append(train(recipe, tmp_path / how, quiet=True))
    first, second = (load(folder).model.state_dict() for folder in folders)
    for name, weight in first.items():
        torch.testing.assert_close(weight, second[name], rtol=1e-4, atol=1e-5)


def test_it_learns_to_tell_scribbles_apart(corpora, tmp_path):
    training = {"epochs": 25, "batch_sentences": 8, "optimizer": {"lr": 3e-3}}
    recipe = see_recipe(corpora, "cnn", training=training)
    scores = json.loads((train(recipe, tmp_path / "run", quiet=True) / "scores.json").read_text())
    assert scores["test"]["accuracy"] > 0.9


def test_a_baseline_is_measured_where_there_is_one(runs):
    assert "dev_baseline_error" in read_rows(runs["ram"] / "metrics.csv")[-1]
    assert "dev_baseline_error" not in read_rows(runs["ram-random"] / "metrics.csv")[-1]
    assert 0 <= json.loads((runs["ram"] / "scores.json").read_text())["test"]["baseline_error"] <= 2


def test_a_picture_that_is_asked_about_is_seen_as_it_is(runs, tmp_path):
    run = load(runs["ram"])
    images, _ = scribbles(1, seed=5)
    ground = np.pad(images[0], 4)
    Pillow.fromarray(images[0]).save(tmp_path / "small.png")
    Pillow.fromarray(ground).save(tmp_path / "ground.png")
    small, large, array = run.predict(
        [str(tmp_path / "small.png"), str(tmp_path / "ground.png"), ground]
    )
    assert small.answer == large.answer == array.answer
    assert small.score == pytest.approx(large.score)
    assert len(small.places) == 3
    assert all(-1 <= x <= 1 and -1 <= y <= 1 for x, y in small.places)
    assert "→" in run.task.drawn(small)
    assert Predicted(**small.to_dict()).places == [
        pytest.approx(place, abs=1e-6) for place in small.places
    ]
    (aside,) = run.predict([np.roll(ground, 4, 0)])
    assert aside.score != pytest.approx(small.score)


def test_bad_pictures_are_told(runs, tmp_path):
    run = load(runs["stn"])
    (tmp_path / "broken.png").write_bytes(b"\x89PNG no")
    for given, said in (
        (str(tmp_path / "broken.png"), "damaged"),
        (str(tmp_path / "none.png"), "missing file"),
        ([[1, 2], [3]], "one length"),
    ):
        with pytest.raises(Unanswerable, match=said):
            run.predict([given])


@pytest.mark.parametrize("model", ["stn-none", "cnn"])
def test_models_that_look_nowhere_have_no_places(runs, model):
    images, _ = scribbles(1)
    (answer,) = load(runs[model]).predict([images[0]])
    assert not answer.places
    assert "\n" not in load(runs[model]).task.drawn(answer)


def test_sums_of_two_digits(corpora, tmp_path):
    recipe = see_recipe(
        corpora, "stn-two", task={"view": "sum", "ground": 16}, training={"epochs": 1}
    )
    run = load(train(recipe, tmp_path / "run", quiet=True))
    assert run.task.names == ["0", "1", "2", "3", "4"]
    assert run.task.sizes == {"image": (2, 16, 16), "label": 5}
    examples = run.task.examples(recipe.data.test)
    assert len(examples) == 24
    assert examples[0]["image"].shape == (12, 24, 1)
    (answer,) = run.predict([examples[0]["image"]])
    assert answer.answer in run.task.names
    assert len(answer.places) == 2
    bad = tmp_path / "names.txt"
    bad.write_text("".join(f"{'ab'[n % 2]}\n" for n in range(96)))
    named = recipe.model_copy(
        update={
            "data": recipe.data.model_copy(
                update={"train": f"{corpora}/train-images.idx,{bad}", "dev": None, "test": None}
            )
        }
    )
    with pytest.raises(RecipeError, match="adds labels"):
        train(named, tmp_path / "bad", quiet=True)


def test_mistakes_in_the_data_are_told_before_training(corpora, tmp_path):
    small = {"task": {"view": "translated", "ground": 8}}
    with pytest.raises(RecipeError, match=r"task\.ground=8 is smaller than pictures of 12x12"):
        train(see_recipe(corpora, "ram", **small), tmp_path / "a", quiet=True)
    cut = tmp_path / "cut.idx"
    cut.write_bytes((corpora / "train-images.idx").read_bytes()[:-100])
    data = {"train": f"{cut},{corpora}/train-labels.idx"}
    with pytest.raises((RecipeError, CorpusError), match=r"damaged or cut off|but it holds"):
        train(see_recipe(corpora, "ram", data=data), tmp_path / "b", quiet=True)
    with pytest.raises(ValueError, match=r"model\.kind=han is for task.kind=classify"):
        Recipe.model_validate({"task": {"kind": "see"}, "model": {"kind": "han"}})


def test_runs_that_differ_in_their_view_see_other_pictures(corpora):
    losses = []
    for name in ("plain", "translated", "rotated", "bent"):
        recipe = see_recipe(corpora, "cnn", task={"view": name, "ground": 20})
        task = task_of(recipe)
        task.learn(recipe.data.train)
        torch.manual_seed(0)
        module = make_module(task).eval()
        with torch.no_grad():
            tally = task.tally(module, task.examples(recipe.data.dev))
        losses.append(tally.counts[0])
    assert len({round(loss, 6) for loss in losses}) == len(losses)


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ({}, None),
        (
            CLUTTERED,
            "cluttered, 4 pieces of others, 20 x 20; task.view=plain shows them as they are",
        ),
        (
            {"view": "rotated", "grows": 9},
            "rotated, 12 x 12; task.view=plain task.grows=0 shows them as they are",
        ),
    ],
)
def test_a_training_names_its_view(corpora, tmp_path, view, said):
    task = task_of(see_recipe(corpora, "cnn", task=view))
    task.learn(task.recipe.data.train)
    told = task.describe(task.store(task.recipe.data.train, tmp_path))
    assert told.partition("each seen as: ")[2] == (said or "")
