"""`regard report A B`: two runs on one page."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from regard.cli.app import app
from regard.recipe.mistakes import RecipeError
from regard.report.beside_runs import check_alike, run_names
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import load


def texts(page: str) -> str:
    page = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


@pytest.fixture(scope="module")
def both(attending, tmp_path_factory):
    """The page of two classifiers, and what was said."""
    file = tmp_path_factory.mktemp("page") / "both.html"
    names = [str(attending / name) for name in ("dot-1", "uniform-1")]
    result = CliRunner().invoke(app, ["report", *names, "-o", str(file)])
    assert result.exit_code == 0, result.output
    return file.read_text("utf-8"), result.output


def test_both_are_scored_and_told_apart(both, attending):
    page, said = both
    assert "dot-1: test: accuracy" in said
    assert "uniform-1: test: accuracy" in said
    shown = texts(page)
    for name in ("dot-1", "uniform-1"):
        found = evaluate(load(attending / name)).measures["accuracy"]
        assert f"{100 * found:.2f}" in shown
    assert "dot-1 · uniform-1" in shown
    assert "uniform-1 − dot-1" in shown
    assert "model.attention.normalize softmax uniform" in shown  # what differs in their recipes


def test_the_difference_is_that_of_the_two_scores(both, attending):
    shown = texts(both[0])
    one, two = (evaluate(load(attending / n)).measures["accuracy"] for n in ("dot-1", "uniform-1"))
    (row,) = re.findall(r"accuracy, % [\d.]+ .*? ([+−]?[\d.]+) \[[^]]*\] macro-F1", shown)[-1:]
    assert float(row.replace("−", "-")) == pytest.approx(100 * (two - one), abs=0.06)


def test_curves_of_both_are_in_one_chart(both):
    labels = re.findall(r'<text[^>]*class="legend"[^>]*>([^<]*)<', both[0])
    assert {"dot-1 dev", "uniform-1 dev", "dot-1 train", "uniform-1 train"} <= set(labels)


def test_a_sample_opens_both_side_by_side(both):
    links = re.findall(r'href="(#record=[^"]*)"', both[0])
    assert links
    assert all(
        re.fullmatch(r"#record=\d+&amp;panel=compare&amp;compare-record=\d+", a) for a in links
    )
    data = json.loads(re.search(r'id="regard-data">(.*?)</script>', both[0], re.DOTALL)[1])
    assert {record["model"] for record in data["records"]} == {"dot-1", "uniform-1"}
    assert "uniform-1" in re.findall(r"<dt>([^<]*)</dt>", both[0])  # its answer beside the other's


def test_the_run_folder_stays_as_it_was(both, attending):
    assert not list((attending / "dot-1").glob("report-*.html"))


def test_without_a_file_it_lies_in_the_first_run(trained, tmp_path):
    import shutil

    run, other = (shutil.copytree(trained, tmp_path / name) for name in ("a", "b"))
    result = CliRunner().invoke(app, ["report", str(run), str(other)])
    assert result.exit_code == 0, result.output
    assert "wrote" in result.output
    shown = texts((run / "report-b.html").read_text())
    assert "The recipes are the same." in shown
    assert "Training ended at step" in shown


def test_of_one_run_the_report_is_written_anew(trained, tmp_path):
    import shutil

    run = shutil.copytree(trained, tmp_path / "run")
    (run / "report.html").write_text("old")
    result = CliRunner().invoke(app, ["report", str(run)])
    assert result.exit_code == 0, result.output
    assert "BLEU" in (run / "report.html").read_text()
    assert json.loads((run / "scores.json").read_text())["test"]["intervals"]


def test_another_corpus_scores_it(trained, tmp_path):
    corpus = tmp_path / "other.tsv"
    corpus.write_text("aa bb\tbb aa\n" * 3)
    file = tmp_path / "page.html"
    result = CliRunner().invoke(
        app, ["report", str(trained), "--data", str(corpus), "-o", str(file)]
    )
    assert result.exit_code == 0, result.output
    assert "3 test sentences" in texts(file.read_text())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{run}", "{run}"], "named twice"),
        (["{run}", "-o", "page.pdf"], ".html"),
        (["{run}/nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_done_is_told(trained, words, said):
    result = CliRunner().invoke(app, ["report", *(word.format(run=trained) for word in words)])
    assert result.exit_code != 0
    assert said in f"{result.output}{result.exception}"


def test_runs_of_two_tasks_are_refused(trained, attending):
    with pytest.raises(RecipeError, match=r"task\.kind=translate and .* classify"):
        check_alike([load(trained), load(attending / "dot-1")])


def test_folders_of_one_name_are_called_by_their_paths(trained):
    one, two = load(trained), load(trained)
    assert run_names([one, two]) == [str(trained)] * 2
    assert run_names([one]) == [trained.name]
