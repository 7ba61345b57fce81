"""Whole runs of a toy, in this process: what they leave, how they go on, how they end early."""

from __future__ import annotations

import errno
import json
import os
import signal
from pathlib import Path

import pytest
import torch
from toy import toy_recipe, write_corpus

from regard.training import fitting, updating, writing
from regard.training.failures import Diverged, Interrupted, OtherRecipe
from regard.training.loading import load
from regard.training.record import read_rows
from regard.training.run import train
from regard.training.updating import Updater
from regard.training.writing import DiskFull

SHORT = {"epochs": 2, "checkpoint_every": 4}  # 15 updates an epoch


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def corpus(tmp_path) -> Path:
    write_corpus(tmp_path)
    return tmp_path


def steps_made(monkeypatch) -> list[int]:
    """The numbers of the batches that are learnt from, as they come."""
    made: list[int] = []
    real = Updater.update

    def counted(self, batches, *, number, **options):
        made.append(number)
        return real(self, batches, number=number, **options)

    monkeypatch.setattr(Updater, "update", counted)
    return made


def test_a_run_leaves_everything_and_a_second_start_does_nothing(corpus, monkeypatch, capsys):
    recipe = toy_recipe(corpus, training=SHORT)
    run = train(recipe, corpus / "run")
    names = {path.name for path in run.iterdir()}
    assert names >= {
        "recipe.yaml",
        "model.safetensors",
        "config.json",
        "tokenizer.source.json",
        "tokenizer.target.json",
        "metrics.csv",
        "scores.json",
        "report.html",
        "train.log",
    }
    said = capsys.readouterr()
    assert said.out == ""
    assert "step 30, epoch 2: dev loss" in said.err
    assert "Lightning" not in said.err
    assert "warn" not in said.err.lower()
    scores = json.loads((run / "scores.json").read_text())
    assert scores["test"]["sentences"] == 8
    assert "version:" in scores["test"]["bleu"]["signature"]
    assert "dev_bleu" in read_rows(run / "metrics.csv")[-1]

    stamps = {path: path.stat().st_mtime_ns for path in run.glob("*.*") if path.suffix != ".log"}
    kept = ("report.html", "scores.json", "tokenizer.source.json")
    made = steps_made(monkeypatch)
    before = (run / "model.safetensors").read_bytes()
    train(recipe, corpus / "run")
    assert made == []
    assert "trained already: 30 steps" in capsys.readouterr().err
    assert all((run / name).stat().st_mtime_ns == stamps[run / name] for name in kept)
    assert (run / "model.safetensors").read_bytes() == before


def test_a_run_can_be_continued_further_and_is_evaluated_again(corpus, monkeypatch):
    two, three = (
        toy_recipe(corpus, training={**SHORT, "epochs": epochs, "metric": "loss"})
        for epochs in (2, 3)
    )
    run = train(two, corpus / "run", quiet=True)
    first = json.loads((run / "scores.json").read_text())
    made = steps_made(monkeypatch)
    train(three, corpus / "run", quiet=True)
    assert made == list(range(30, 45))
    longer = train(three, corpus / "longer", quiet=True)
    assert (run / "model.safetensors").read_bytes() == (longer / "model.safetensors").read_bytes()
    assert json.loads((run / "scores.json").read_text())["made_of"] != first["made_of"]


def test_another_recipe_is_refused_before_anything_is_touched(corpus):
    train(toy_recipe(corpus, training={"steps": 2, "epochs": None}), corpus / "run", quiet=True)
    with pytest.raises(OtherRecipe, match=r"model\.hidden was 16, is 8"):
        train(toy_recipe(corpus, model={"hidden": 8}), corpus / "run", quiet=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_after_the_update_and_the_run_ends_as_if_it_had_not(
    corpus, monkeypatch, number
):
    recipe = toy_recipe(corpus, training=SHORT)
    whole = train(recipe, corpus / "whole", quiet=True)
    real, calls = Updater.update, []

    def at_the_tenth(self, *batches, **options):
        calls.append(batches)
        if len(calls) == 10:
            os.kill(os.getpid(), number)
        return real(self, *batches, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Updater, "update", at_the_tenth)
        with pytest.raises(Interrupted) as caught:
            train(recipe, corpus / "run", quiet=True)
    assert "after step 10" in str(caught.value)
    assert "step-00000010" in str(caught.value)
    assert caught.value.status == 128 + number
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert load(corpus / "run").translate(["aa bb"])  # what was learnt can be used
    run = train(recipe, corpus / "run", quiet=True)
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_a_signal_in_a_validation_saves_the_weights_of_the_run_not_their_average(
    corpus, monkeypatch
):
    recipe = toy_recipe(corpus, training={**SHORT, "ema": 0.9})
    whole = train(recipe, corpus / "whole", quiet=True)
    real = fitting.validate

    def interrupted(*args):
        os.kill(os.getpid(), signal.SIGTERM)
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(fitting, "validate", interrupted)
        with pytest.raises(Interrupted, match="after step 15"):
            train(recipe, corpus / "run", quiet=True)
    run = train(recipe, corpus / "run", quiet=True)
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_a_full_disk_is_told_and_the_checkpoint_before_survives(corpus, monkeypatch):
    recipe = toy_recipe(corpus, training=SHORT)

    def full(descriptor: int) -> None:
        if any((corpus / "run" / "checkpoints").glob("step-00000008*.partial")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(writing.os, "fsync", full)
        with pytest.raises(DiskFull, match="step-00000008"):
            train(recipe, corpus / "run", quiet=True)
    names = [path.name for path in (corpus / "run" / "checkpoints").iterdir()]
    assert names == ["step-00000004.safetensors"]
    made = steps_made(monkeypatch)
    train(recipe, corpus / "run", quiet=True)
    assert made[0] == 4


def test_a_damaged_checkpoint_is_told_and_the_one_before_it_gives_the_same_model(
    corpus, monkeypatch, capsys
):
    recipe = toy_recipe(corpus, training=SHORT)
    run = train(recipe, corpus / "run", quiet=True)
    before = (run / "model.safetensors").read_bytes()
    last = max((run / "checkpoints").glob("step-*"))
    last.write_bytes(last.read_bytes()[:-100])
    (run / "model.safetensors").unlink()
    made = steps_made(monkeypatch)
    train(recipe, run)
    assert made == [28, 29]
    assert "step-00000030.safetensors is damaged" in capsys.readouterr().err
    assert (run / "model.safetensors").read_bytes() == before


def test_a_loss_that_is_not_a_number_names_step_lines_and_the_last_good_checkpoint(
    corpus, monkeypatch
):
    real = updating.Translate.forward
    calls = 0

    def spoilt(self, *batch):
        nonlocal calls
        calls += 1
        loss = real(self, *batch)
        return loss._replace(total=loss.total * torch.nan) if calls == 7 else loss

    monkeypatch.setattr(updating.Translate, "forward", spoilt)
    with pytest.raises(Diverged) as caught:
        train(toy_recipe(corpus, training=SHORT), corpus / "run", quiet=True)
    said = str(caught.value)
    assert said.startswith("step 7: the loss became nan at a batch of 8 pairs")
    assert "lines " in said
    assert said.endswith("checkpoints/step-00000004.safetensors")


def test_the_time_of_a_run_is_counted_over_its_starts(corpus):
    endless = {"epochs": None, "minutes": 0.01}
    run = train(toy_recipe(corpus, training=endless), corpus / "run", quiet=True)
    rows = read_rows(run / "metrics.csv")
    assert 0.6 <= rows[-1]["seconds"] < 30
    train(toy_recipe(corpus, training=endless), corpus / "run", quiet=True)
    assert read_rows(run / "metrics.csv") == rows  # the time is up: not one update more


def test_without_a_dev_set_the_last_weights_are_the_model(corpus):
    data = {"dev": None, "test": None}
    recipe = toy_recipe(corpus, data=data, training={"epochs": 1, "schedule": {"kind": "cosine"}})
    run = train(recipe, corpus / "run", quiet=True)
    assert load(run).translate(["aa bb"])
    assert (run / "report.html").is_file()


def test_a_shared_vocabulary_is_one_file(corpus):
    shared = {"shared": True, "target": {"kind": "bpe", "size": 40}, "source": {}}
    recipe = toy_recipe(corpus, tokenizer=shared, training={"epochs": 1})
    run = train(recipe, corpus / "run", quiet=True)
    assert [p.name for p in run.glob("tokenizer*")] == ["tokenizer.json"]
    assert load(run).translate(["aa bb"])


def test_a_recipe_without_an_end_is_refused(corpus):
    with pytest.raises(ValueError, match="when to stop"):
        train(toy_recipe(corpus, training={"epochs": None}), corpus / "run")
    with pytest.raises(ValueError, match=r"which need data\.dev"):
        train(toy_recipe(corpus, data={"dev": None}, training={"patience": 2}), corpus / "run")
    assert not (corpus / "run").exists()


@pytest.mark.parametrize("backwards", [False, True])
def test_copying_and_reversing_are_learnt(tmp_path, backwards):
    write_corpus(tmp_path, backwards=backwards, count=600)
    training = {"epochs": 14, "batch_sentences": 20, "schedule": {"kind": "cosine"}}
    recipe = toy_recipe(
        tmp_path, model={"embedding": 24, "hidden": 48, "dropout": 0.0}, training=training
    )
    run = train(recipe, tmp_path / "run", quiet=True)
    scores = json.loads((run / "scores.json").read_text())
    assert scores["dev"]["bleu"]["value"] > 90
