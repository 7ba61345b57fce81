"""What the report of a run says of its end, its data and its curves."""

from __future__ import annotations

import pytest

from regard.recipe.recipe import Training
from regard.report.learning_curves import learning_charts, learning_table
from regard.report.run_report import make_report
from regard.runs.loaded_run import load


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
