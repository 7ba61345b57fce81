"""What the report of a run says of its end, its data and its curves."""

from __future__ import annotations

import json
import platform
import shutil
from dataclasses import replace

import pytest
import torch

from regard.measures import chrf
from regard.recipe.recipe import Training
from regard.report.kept_checkpoint import kept_checkpoint
from regard.report.learning_curves import learning_charts, learning_table, upkeep_charts
from regard.report.report_page import render
from regard.report.run_evaluation import evaluate
from regard.report.run_report import make_report
from regard.runs.loaded_run import load
from regard.runs.metrics_file import read_rows


@pytest.mark.parametrize(
    ("training", "words"),
    [
        ({"epochs": 3}, "training.epochs=…"),
        ({"minutes": 4}, "training.minutes=…"),
        ({"epochs": 3, "steps": 9, "patience": 2}, "training.epochs=… training.steps=…"),
        ({"patience": 2}, "training.patience=…"),
    ],
)
def test_training_for_longer_names_the_limit_of_the_run(trained, training, words):
    run = load(trained)
    run.recipe = run.recipe.model_copy(update={"training": Training(**training)})
    command = make_report(run, {}).next_steps[-1].command
    assert command.split(" --run ")[1] == f"{trained} {words}"


def test_what_cannot_be_used_of_dev_and_test_is_in_the_report(trained, tmp_path):
    (tmp_path / "dev.tsv").write_text("aa\tbb\n\ncc\n")
    run = load(trained)
    data = {"dev": str(tmp_path / "dev.tsv"), "test": f"{tmp_path / 'dev.tsv'}@test"}
    run.recipe = run.recipe.model_copy(update={"data": run.recipe.data.model_copy(update=data)})
    found = make_report(run, {}).problems.found
    assert set(found) == {data["dev"]}  # of a corpus that is split, training tells
    assert {kind: one.first for kind, one in found[data["dev"]].items()} == {
        "empty lines": [2],
        "lines without a column 1": [3],
    }


def test_accuracy_is_in_percent():
    rows = [{"step": 1, "dev_accuracy": 0.5}, {"step": 2, "dev_accuracy": 0.625}]
    (chart,) = learning_charts(rows)
    assert [point.y for point in chart.lines[0].points] == [50.0, 62.5]
    assert "%" in chart.title
    table = str(learning_table(rows))
    assert "dev Accuracy, %" in table
    assert "62.5" in table


def test_every_share_is_in_percent():
    rows = [{"step": 1, "dev_exact_match": 0.5}, {"step": 2, "dev_exact_match": 0.625}]
    (chart,) = learning_charts(rows)
    assert "Exact match, %" in chart.title
    assert [point.y for point in chart.lines[0].points] == [50.0, 62.5]
    assert "dev Exact match, %" in str(learning_table(rows))


def test_where_no_answer_is_wrong_some_right_ones_are_shown(attending):
    run = load(attending / "dot-1")
    one = evaluate(run)
    right = replace(one, answers=[example["label"] for example in one.examples])
    part = run.task.report(run.module, {"test": right}, run.folder.path)
    assert part.sample_names.title == "Examples"
    assert len(part.samples) == 8
    assert all(sample.hypothesis == sample.reference for sample in part.samples)
    assert all(sample.asked == sample.source for sample in part.samples)


def test_wrong_answers_come_worst_first(attending):
    run = load(attending / "dot-1")
    one = evaluate(run)
    part = run.task.report(run.module, {"test": one}, run.folder.path)
    assert all(sample.hypothesis != sample.reference for sample in part.samples) or not part.samples


def test_the_worst_translations_are_those_of_the_least_chrf(trained):
    run = load(trained)
    one = evaluate(run)
    part = run.task.report(run.module, {"test": one}, run.folder.path)
    scores = [sample.scores["chrF"] for sample in part.worst]
    assert scores == sorted(scores)
    each = [chrf([a], [e["target"]]).value for e, a in zip(one.examples, one.answers, strict=True)]
    assert scores == pytest.approx(sorted(each)[: len(scores)], abs=1e-6)


KEPT = {"steps": [20], "best": True, "validations": 5, "end": "training.epochs=5"}
ROWS = [
    {"step": 10.0, "dev_loss": 2.0, "dev_bleu": 10.0},
    {"step": 20.0, "dev_loss": 1.5, "dev_bleu": 12.5},
    {"step": 30.0, "dev_loss": 1.0, "dev_bleu": 12.0},
]


def test_the_checkpoint_that_was_kept_is_told_with_its_reason(trained):
    task = load(trained).task
    said = kept_checkpoint(task, {"kept": KEPT}, ROWS)
    assert said == (
        "The model is that of step 20, the best of 5 validations by dev BLEU, beam 1 (12.5). "
        "Training ended at step 30, by training.epochs=5."
    )


def test_of_an_earlier_run_the_validations_tell(trained):
    task = load(trained).task
    assert "step 20, the best of 3 validations" in kept_checkpoint(task, {}, ROWS)
    assert "the last one, of step 30" in kept_checkpoint(task, {}, [{"step": 30.0}])
    assert kept_checkpoint(task, {}, []) == ""
    mean = {**KEPT, "steps": [20, 30]}
    assert "the mean of the weights of steps 20, 30" in kept_checkpoint(task, {"kept": mean}, ROWS)


def test_validations_and_the_end_have_names_of_their_own(trained):
    run = load(trained)
    report = make_report(run, {"test": evaluate(run)})
    assert report.curve_names["bleu"] == "BLEU, beam 1"
    assert report.scores[0].name == "BLEU, beam 2"
    page = render(report)
    assert "BLEU, beam 1 on dev" in page
    assert "dev BLEU, beam 1" in page


def test_rate_norm_and_speed_are_drawn(trained):
    rows = read_rows(trained / "metrics.csv")
    assert all(row["learning_rate"] > 0 and row["gradient_norm"] > 0 for row in rows)
    assert any(row.get("speed", 0) > 0 for row in rows)
    titles = [chart.title for chart in upkeep_charts(rows)]
    assert titles == ["Learning rate", "Norm of the gradient", "Tokens per second"]
    assert upkeep_charts([{"step": 1, "train_loss": 2.0}]) == []


def test_the_machine_is_that_of_the_training(trained, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    own = config["spent"]["machine"]
    assert own["threads"] == torch.get_num_threads()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 77)
    monkeypatch.setattr(platform, "machine", lambda: "elsewhere")

    def told(**machine) -> str | None:
        spent = {**config["spent"], "machine": {**own, **machine}}
        written = {name: value for name, value in config.items() if name != "sha256"}
        (folder / "config.json").write_text(json.dumps(written | {"spent": spent}), "utf-8")
        return make_report(load(folder), {}).facts.get("machine")

    assert f"{own['machine']}, one thread, Python {own['python']}" in told(threads=1)
    assert "2 threads" in told(threads=2)
    assert told(threads=None) is None  # a run of before: nothing rather than something wrong


def test_a_report_is_headed_by_its_folder_with_the_recipe_beside_it(trained):
    run = load(trained)
    folder = run.folder.path.name
    run.recipe = run.recipe.model_copy(update={"name": "meng"})
    assert make_report(run, {}).title == f"{folder} (recipe meng)"
    run.recipe = run.recipe.model_copy(update={"name": folder})
    assert make_report(run, {}).title == folder
