"""Whole runs of classifiers and language models: what they leave, how they go on, what they can do."""

from __future__ import annotations

import json
import math
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from toy_tasks import task_recipe, write_book, write_documents, write_labelled

from regard.recipe.mistakes import RecipeError
from regard.report.run_evaluation import evaluate
from regard.runs.failures import Interrupted, WrongTask
from regard.runs.loaded_run import load
from regard.runs.metrics_file import read_rows
from regard.training import validation_pass
from regard.training.run import train
from regard.training.weight_update import Updater

KINDS = ["classify", "lin", "han", "series", "blocks", "lines", "masked", "cloze"]


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def corpora(tmp_path) -> Path:
    write_labelled(tmp_path)
    write_documents(tmp_path)
    write_book(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Path]:
    """One run of each kind, for tests that only look at it."""
    folder = tmp_path_factory.mktemp("tasks")
    write_labelled(folder)
    write_documents(folder)
    write_book(folder)
    return {kind: train(task_recipe(folder, kind), folder / kind, quiet=True) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_stopped_by_a_signal_ends_as_if_it_had_not(corpora, monkeypatch, kind):
    recipe = task_recipe(corpora, kind, training={"checkpoint_every": 4})
    whole = train(recipe, corpora / "whole", quiet=True)
    real, calls = Updater.update, []

    def at_the_sixth(self, *batches, **options):
        calls.append(batches)
        if len(calls) == 6:
            os.kill(os.getpid(), signal.SIGTERM)
        return real(self, *batches, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Updater, "update", at_the_sixth)
        with pytest.raises(Interrupted, match="after step 6"):
            train(recipe, corpora / "run", quiet=True)
    run = train(recipe, corpora / "run", quiet=True)
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


MEASURES = {
    "classify": {"accuracy", "macro_f1"},
    "lin": {"accuracy", "macro_f1"},
    "han": {"accuracy", "macro_f1"},
    "series": {"mean_absolute_error", "mean_squared_error", "pearson"},
    "blocks": {"perplexity", "bits_per_character", "accuracy"},
    "lines": {"perplexity", "bits_per_character", "accuracy"},
    "masked": {"perplexity", "accuracy"},
    "cloze": {"accuracy"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_leaves_scores_curves_and_a_report(runs, kind):
    run = runs[kind]
    dev = {name for row in read_rows(run / "metrics.csv") for name in row if "dev_" in name}
    assert dev == {"dev_loss", *(f"dev_{name}" for name in MEASURES[kind])}
    scores = json.loads((run / "scores.json").read_text())
    assert math.isfinite(scores["test"]["loss"])
    assert scores["test"].keys() >= MEASURES[kind]
    report = (run / "report.html").read_text()
    others = {"classify": "classify", "lin": "classify", "han": "classify", "series": "predict"}
    command = {**others, "masked": "fill", "cloze": "predict"}.get(kind, "generate")
    assert f"regard {command} -m {run}" in report.replace("&quot;", '"')
    found = evaluate(load(run))
    assert found.to_dict()["loss"] == pytest.approx(scores["test"]["loss"], rel=1e-5)
    assert str(scores["test"]["corpus"]) in found.text


@pytest.mark.parametrize("kind", KINDS)
def test_the_measures_of_two_processes_are_those_of_one(runs, monkeypatch, kind):
    run = load(runs[kind])
    task = run.task
    examples = task.examples(run.recipe.data.dev)
    one = SimpleNamespace(global_rank=0, world_size=1, device="cpu")
    alone = validation_pass.validate(one, task, run.module, examples)
    shares = [task.tally(run.module, examples[rank::2]) for rank in (0, 1)]
    other = torch.tensor(shares[1].counts, dtype=torch.float64)
    monkeypatch.setattr(validation_pass, "add_up", lambda _, mine: mine + other)
    answers = [list(share.answers) for share in shares]
    monkeypatch.setattr(validation_pass, "gather", lambda _, mine: [mine, answers[1]])
    first = SimpleNamespace(global_rank=0, world_size=2, device="cpu")
    together = validation_pass.validate(first, task, run.module, examples)
    assert together.loss == pytest.approx(alone.loss, rel=1e-5)
    assert together.measures == pytest.approx(alone.measures, rel=1e-5)


def test_a_classifier_learns_and_says_what_it_takes_for_what(runs):
    run = load(runs["classify"])
    found = evaluate(run)
    assert found.confusion.accuracy > 0.7  # of two labels; the word that tells may be cut off
    assert "label ↓ answer →" in found.table
    assert "What is taken for what" in (runs["classify"] / "report.html").read_text()
    one = run.classify(["it was a lovely story"], attention=True)[0]
    assert one.label == "good"
    assert one.attention.shape == (6,)
    assert set(one.probabilities) == {"good", "bad"}


def test_blocks_and_lines_are_measured_by_all_their_characters(runs):
    for kind, part in (("blocks", "book.txt"), ("lines", "test.tsv")):
        found = evaluate(load(runs[kind]))
        folder = runs[kind].parent
        if kind == "lines":
            texts = [line.split("\t")[1] for line in (folder / part).read_text().splitlines()]
            assert found.characters == sum(len(text) + 1 for text in texts)
        bits = found.likelihood.nll / math.log(2) / found.characters
        assert found.bits_per_character == pytest.approx(bits)
        assert found.bits_per_byte == pytest.approx(bits)  # ASCII


def test_a_language_model_writes_on_with_line_ends(runs):
    run = load(runs["blocks"])
    (text,) = run.generate(["the film\n"], length=80, method="sample", seed=2)
    assert text.text.startswith("the film\n")
    assert set(text.text) <= set((runs["blocks"].parent / "book.txt").read_text())
    assert run.generate(length=5)[0].text == run.generate([""], length=5)[0].text


def test_a_masked_model_fills_gaps(runs):
    (filled,) = load(runs["masked"]).fill(["the <mask> was dull"], top=3)
    assert len(filled.guesses[0]) == 3
    assert filled.filled.endswith("was dull")


def test_a_run_is_not_asked_for_what_it_cannot_do(runs):
    classifier, language = load(runs["classify"]), load(runs["lines"])
    with pytest.raises(
        WrongTask, match=r"cannot translate: it was trained for task\.kind=classify"
    ):
        classifier.translate(["x"])
    with pytest.raises(WrongTask, match="cannot classify") as caught:
        language.classify(["x"])
    assert caught.value.hint == f"regard generate -m {runs['lines']} uses it"
    with pytest.raises(WrongTask, match="cannot fill"):
        load().fill(["<mask>"])
    with pytest.raises(WrongTask, match="cannot translate"):
        load([runs["classify"], runs["classify"]])
    with pytest.raises(RecipeError, match="beam means nothing to"):
        evaluate(classifier, beam=3)


def test_a_label_that_training_never_saw_is_told_before_training(corpora):
    with (corpora / "dev.tsv").open("a") as file:
        file.write("goood\tthe film\n")
    with pytest.raises(
        RecipeError, match=r"dev.tsv#1,0, line 17: .* 'goood' .* Did you mean 'good'"
    ):
        train(task_recipe(corpora, "classify"), corpora / "run", quiet=True)
    assert not any((corpora / "run" / "checkpoints").iterdir())


def test_columns_the_wrong_way_round_are_told(corpora):
    write_labelled(corpora, (3000, 4, 4))
    swapped = {"train": f"{corpora}/train.tsv#0,1", "dev": None, "test": None}
    with pytest.raises(RecipeError, match="more than 1,000 different labels"):
        train(task_recipe(corpora, "classify", data=swapped), corpora / "run", quiet=True)
