"""Whole runs of a toy, in this process: what they leave, how they go on, how they end early."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
from pathlib import Path

import pytest
import torch
from toy import toy_recipe, write_corpus

from regard.data import atomic_files as writing
from regard.data.atomic_files import DiskFull
from regard.data.tokenizer import UNK
from regard.models.transformer_options import Transformer
from regard.recipe.mistakes import RecipeError
from regard.report.run_evaluation import evaluate
from regard.runs.failures import Diverged, Interrupted, OtherRecipe
from regard.runs.loaded_run import load
from regard.runs.metrics_file import read_rows
from regard.tasks.translate.translate_loss import Translate
from regard.training import training_loop
from regard.training.run import train
from regard.training.weight_update import Updater

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
    assert re.search(r"\ntrained: 30 steps in \d+ s, up to training\.epochs=2\n", said.err)
    assert "Lightning" not in said.err
    warnings = [line for line in said.err.splitlines() if "warn" in line.lower()]
    assert [line.split(":")[1] for line in warnings] == [" dev is 12 pairs"]
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
    ended = r"trained already: 30 steps in \d+ s, up to training\.epochs=2\n"
    assert re.search(ended, capsys.readouterr().err)
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


TRANSFORMER = Transformer(
    size=16, heads=2, inner=32, encoder_layers=1, decoder_layers=2, share="all", dropout=0.2
)


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (signal.SIGINT, {}),
        (signal.SIGTERM, {"model": TRANSFORMER, "tokenizer": {"shared": True}}),
    ],
)
def test_a_signal_stops_after_the_update_and_the_run_ends_as_if_it_had_not(
    corpus, monkeypatch, number, changes
):
    recipe = toy_recipe(corpus, training={**SHORT, "average": bool(changes)}, **changes)
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
    real = training_loop.validate

    def interrupted(*args):
        os.kill(os.getpid(), signal.SIGTERM)
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(training_loop, "validate", interrupted)
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


@pytest.mark.parametrize("compile", ["off", "graphs"])  # which knows it some updates later
def test_a_loss_that_is_not_a_number_names_step_lines_and_the_last_good_checkpoint(
    compile, corpus, monkeypatch
):
    real = Translate.forward
    calls = 0

    def spoilt(self, **batch):
        nonlocal calls
        calls += 1
        loss = real(self, **batch)
        return loss._replace(total=loss.total * torch.nan) if calls == 7 else loss

    monkeypatch.setattr(Translate, "forward", spoilt)
    recipe = toy_recipe(corpus, training=SHORT, trainer={"compile": compile})
    with pytest.raises(Diverged) as caught:
        train(recipe, corpus / "run", quiet=True)
    said = str(caught.value)
    assert said.startswith("step 7: the loss became nan at a batch of 8 examples")
    assert "lines " in said
    assert said.endswith("checkpoints/step-00000004.safetensors")


def test_recorded_work_is_the_same_run(corpus):
    """Without dropout, whose numbers depend on the padding; all of it is known before anything is written."""
    runs = {
        compile: train(
            toy_recipe(
                corpus, model={"dropout": 0.0}, training=SHORT, trainer={"compile": compile}
            ),
            corpus / compile,
            quiet=True,
        )
        for compile in ("off", "graphs")
    }
    rows = [read_rows(run / "metrics.csv") for run in runs.values()]
    assert [row["step"] for row in rows[0]] == [row["step"] for row in rows[1]]
    for one, other in zip(*rows, strict=True):
        assert one.keys() == other.keys()
        assert other["train_loss"] == pytest.approx(one["train_loss"], rel=1e-4)
        assert other["dev_loss"] == pytest.approx(one["dev_loss"], rel=1e-3)
    said = (runs["graphs"] / "train.log").read_text("utf-8")
    assert "first step after" in said
    assert "nothing is recorded on cpu" in said
    assert "first step after" not in (runs["off"] / "train.log").read_text("utf-8")


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
    shared = {"shared": True, "target": {"kind": "bpe", "size": 40}}  # the source's is `word`
    recipe = toy_recipe(corpus, tokenizer=shared, training={"epochs": 1})
    run = train(recipe, corpus / "run", quiet=True)
    assert [p.name for p in run.glob("tokenizer*")] == ["tokenizer.json"]
    assert load(run).translate(["aa bb"])


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ({"training": {"epochs": None}}, "when to stop"),
        ({"data": {"train": "nope.zh,a.en"}}, r"data\.train: no file 'nope\.zh'"),
        ({"data": {"test": "nope.tsv"}}, r"data\.test: no file 'nope\.tsv'"),
        ({"model": {"attention": {"score": "nope"}}}, "model: .*nope"),
        ({"trainer": {"accelerator": "cuda", "devices": "auto"}}, "no device 'cuda'"),
        ({"trainer": {"devices": [1]}}, r"trainer\.devices=\[1\]"),
    ],
)
def test_a_mistake_leaves_no_folder(corpus, monkeypatch, mistake, said):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises((RecipeError, FileNotFoundError), match=said):
        train(toy_recipe(corpus, **mistake), corpus / "run")
    assert not (corpus / "run").exists()


def test_a_start_that_failed_before_anything_was_learnt_can_be_corrected(corpus):
    (corpus / "empty.tsv").write_text("")
    with pytest.raises(RecipeError, match=r"empty\.tsv: there is no text"):
        train(toy_recipe(corpus, data={"train": str(corpus / "empty.tsv")}), corpus / "run")
    too_long = {"max_length": 1, "train": str(corpus / "dev.tsv")}
    (corpus / "dev.tsv").write_text("aa bb\tcc dd\n" * 9)
    with pytest.raises(RecipeError, match="no pair can be used"):
        train(toy_recipe(corpus, data=too_long), corpus / "run")
    run = train(toy_recipe(corpus, training={"epochs": 1}), corpus / "run", quiet=True)
    known = load(run).translator.source_tokenizer.encode("aa hh").ids
    assert UNK not in known  # the tokenizers are those of the corrected corpus


def test_another_test_set_is_scored_without_training_again(corpus, monkeypatch):
    train(toy_recipe(corpus, training=SHORT), corpus / "run", quiet=True)
    made = steps_made(monkeypatch)
    other = toy_recipe(corpus, training=SHORT, data={"test": str(corpus / "dev.tsv")})
    run = train(other, corpus / "run", quiet=True)
    assert made == []
    assert json.loads((run / "scores.json").read_text())["test"]["sentences"] == 12


def test_lines_of_dev_and_test_that_cannot_be_used_are_told(corpus, capsys):
    for name in ("dev", "test"):
        with (corpus / f"{name}.tsv").open("a") as file:
            file.write("aa\n")
    train(toy_recipe(corpus, training={"epochs": 1}), corpus / "run")
    said = capsys.readouterr().err
    assert f"left out of dev: {corpus}/dev.tsv: 1 line without a column 1 (13)" in said
    assert f"left out of test: {corpus}/test.tsv: 1 line without a column 1 (9)" in said


def test_other_batches_within_an_epoch_are_refused(corpus):
    train(toy_recipe(corpus, training={"epochs": None, "steps": 4}), corpus / "run", quiet=True)
    write_corpus(corpus, count=130)
    with pytest.raises(OtherRecipe, match=r"processes \(now 1\) .* within epoch 1, after step 4"):
        train(toy_recipe(corpus, training={"epochs": 2}), corpus / "run", quiet=True)


def test_a_run_without_a_test_set_is_not_evaluated_by_itself(corpus):
    recipe = toy_recipe(corpus, data={"dev": None, "test": None}, training={"epochs": 1})
    run = load(train(recipe, corpus / "run", quiet=True))
    with pytest.raises(RecipeError, match=r"neither data\.test nor data\.dev") as caught:
        evaluate(run)
    assert "--data" in caught.value.hint
    (corpus / "empty.tsv").write_text("")
    with pytest.raises(RecipeError, match="no usable pair in"):
        evaluate(run, corpus / "empty.tsv")


@pytest.mark.parametrize("backwards", [pytest.param(False, marks=pytest.mark.heavy), True])
@pytest.mark.parametrize(
    "model",
    [
        {"embedding": 24, "hidden": 48, "dropout": 0.0},
        Transformer(size=48, heads=4, inner=96, encoder_layers=1, decoder_layers=1, dropout=0.0),
    ],
    ids=["recurrent", "transformer"],
)
def test_copying_and_reversing_are_learnt(tmp_path, backwards, model):
    write_corpus(tmp_path, backwards=backwards, count=600)
    training = {"epochs": 14, "batch_sentences": 20, "schedule": {"kind": "cosine"}}
    if isinstance(model, Transformer):
        training |= {"epochs": 30, "optimizer": {"lr": 0.003}}
        training["schedule"] = {"kind": "cosine", "warmup": 50}
    recipe = toy_recipe(tmp_path, model=model, training=training)
    run = train(recipe, tmp_path / "run", quiet=True)
    scores = json.loads((run / "scores.json").read_text())
    # words in another order have less than 20; Transformers of three seeds had 92 to 100
    assert scores["dev"]["bleu"]["value"] > (75 if isinstance(model, Transformer) else 90)


def test_another_text_between_epochs_is_told_and_within_one_refused(tmp_path):
    write_corpus(tmp_path)
    text = tmp_path / "train.tsv"
    before = text.read_text()
    for end in ({"epochs": 1}, {"epochs": 2}):
        train(toy_recipe(tmp_path, training=end), tmp_path / "run", quiet=True)
        assert "has changed since" not in (tmp_path / "run" / "train.log").read_text()
    text.write_text(before + "aa bb\tbb aa\n")
    train(toy_recipe(tmp_path, training={"epochs": 3}), tmp_path / "run", quiet=True)
    log = (tmp_path / "run" / "train.log").read_text()
    assert "the text of data.train has changed since step 30" in log
    within = toy_recipe(tmp_path, training={"epochs": None, "steps": 4})
    train(within, tmp_path / "other", quiet=True)
    text.write_text(text.read_text().replace("aa", "bb"))  # as long as before
    further = toy_recipe(tmp_path, training={"epochs": None, "steps": 8})
    with pytest.raises(OtherRecipe, match=r"the text of data.train has changed within epoch 1"):
        train(further, tmp_path / "other", quiet=True)
