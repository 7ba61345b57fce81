"""What a report says of the data: sizes, lengths, what is unknown, and what is in training too."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from regard.report.data_summary import data_facts, data_section
from regard.report.run_evaluation import evaluate, evaluations
from regard.runs.loaded_run import load
from regard.view.charts.histogram_chart import histogram_chart


def pairs(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def test_sizes_and_lengths_are_those_of_the_files(trained):
    run = load(trained)
    facts = data_facts(run, evaluations(run, lambda line: None))
    assert list(facts) == ["train", "dev", "test"]
    for name, one in facts.items():
        rows = pairs(trained.parent / f"{name}.tsv")
        assert one.examples == len(rows)
        assert one.lengths["source"].tolist() == [len(source.split()) for source, _ in rows]
        assert one.lengths["target"].tolist() == [len(target.split()) for _, target in rows]
        assert one.unknown["source"] == (0, sum(len(source.split()) for source, _ in rows))


def test_what_is_in_training_too_is_counted(trained):
    run = load(trained)
    facts = data_facts(run, evaluations(run, lambda line: None))
    seen = {source for source, _ in pairs(trained.parent / "train.tsv")}
    for name in ("dev", "test"):
        rows = pairs(trained.parent / f"{name}.tsv")
        count = sum(source in seen for source, _ in rows)
        assert facts[name].overlap == (count, len(rows), True)
        assert count > 0
    assert facts["train"].overlap is None
    assert "are in the training set too" in data_section(facts, "pairs")


def test_unknown_words_are_counted(trained, tmp_path):
    file = tmp_path / "other.tsv"
    file.write_text("aa zz\tzz aa\nqq bb cc\tcc bb qq\n")
    run = load(trained)
    one = evaluate(run, str(file))
    facts = data_facts(run, {"test": one})
    assert facts["test"].unknown == {"source": (2, 5), "target": (2, 5)}
    assert facts["test"].overlap == (0, 2, True)
    assert ">40.00<" in data_section(facts, "pairs")


def test_without_the_data_the_rest_is_told(trained, tmp_path):
    run_folder = shutil.copytree(trained, tmp_path / "run")
    shutil.rmtree(run_folder / "data")
    run = load(run_folder)
    data = run.recipe.data.model_copy(update={"train": str(tmp_path / "gone.tsv")})
    found = evaluations(run, lambda line: None)
    run.recipe = run.recipe.model_copy(update={"data": data})
    facts = data_facts(run, found)
    assert list(facts) == ["dev", "test"]
    assert facts["test"].overlap is None
    assert "in train too" not in data_section(facts, "pairs")


def test_a_classifier_has_one_text(attending):
    run = load(attending / "dot-1")
    facts = data_facts(run, {"test": evaluate(run)})
    assert set(facts["test"].lengths) == {"text"}
    assert data_section(facts, "texts").count("<svg") == 1


def test_nothing_is_said_of_nothing():
    assert data_section({}, "texts") == ""


@pytest.mark.parametrize("most", [1, 7, 40, 900, 12_345])
def test_all_values_are_in_a_histogram(most):
    values = {"train": np.arange(most + 1), "test": np.array([0, most])}
    drawn = histogram_chart("Length", "tokens", values)
    for name in values:
        shares = [float(x) for x in re.findall(rf"<title>{name}, [^:]*: ([\d.]+) %", drawn)]
        assert sum(shares) == pytest.approx(100, abs=1)
        assert len(shares) <= 16
    assert f"longest {most:,}" in drawn


def test_a_histogram_of_one_value_is_drawn():
    assert "<rect" in histogram_chart("Length", "tokens", {"train": np.array([3, 3, 3])})
