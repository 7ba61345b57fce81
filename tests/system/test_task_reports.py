"""The report of every kind of task: what makes sense for it is there, what does not is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from toy_tasks import task_recipe, write_book, write_documents, write_labelled

from regard.training.run import train

KINDS = ["classify", "han", "series", "blocks", "lines", "masked", "cloze"]
TEXTS = {"classify", "blocks", "lines", "masked"}  # whose lengths are told in tokens


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("reports")
    write_labelled(folder)
    write_documents(folder)
    write_book(folder)
    runs = {kind: train(task_recipe(folder, kind), folder / kind, quiet=True) for kind in KINDS}
    return {kind: (run / "report.html").read_text("utf-8") for kind, run in runs.items()}


def without_scripts(page: str) -> str:
    return re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)


@pytest.mark.parametrize("kind", KINDS)
def test_every_report_has_scores_curves_and_data(pages, kind):
    page = without_scripts(pages[kind])
    titles = re.findall(r"<h2>([^<]*)</h2>", page)
    assert titles[:2] == ["Scores", "Learning"]
    assert "The data" in titles
    assert "The model is" in page
    assert "Learning rate" in page
    assert "Norm of the gradient" in page
    assert re.search(r"Written on \d{4}-\d\d-\d\d \d\d:\d\d .*by regard \d", page)


@pytest.mark.parametrize("kind", ["series", "blocks", "lines", "masked"])
def test_scores_have_their_intervals(pages, kind):
    """Those of labels are all right in such a toy, so that drawing tells nothing."""
    assert re.search(r'class="interval">\[[\d.]+, [\d.]+\]', without_scripts(pages[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_searched_for_has_a_beam_and_bleu(pages, kind):
    page = without_scripts(pages[kind])
    assert "BLEU" not in page
    assert not re.search(r"beam \d", re.sub(r"<pre.*?</pre>", "", page, flags=re.DOTALL))


@pytest.mark.parametrize("kind", ["classify", "lines", "masked"])
def test_samples_open_in_the_viewer(pages, kind):
    page = pages[kind]
    links = re.findall(r'href="#record=(\d+)"', page)
    assert links
    data = re.search(r'id="regard-data">(.*?)</script>', page, re.DOTALL)[1]
    assert max(map(int, links)) < data.count('"maps"')


@pytest.mark.parametrize("kind", ["blocks", "lines", "masked"])
def test_where_nothing_is_answered_the_least_probable_is_the_worst(pages, kind):
    page = without_scripts(pages[kind])
    assert "What it finds least probable" in page
    told = [float(n) for n in re.findall(r"loss <b>([\d.]+)</b>", page)]
    assert len(told) >= 2
    assert told == sorted(told, reverse=True)


@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_lengths_are_drawn(pages, kind):
    assert "Length of the text" in without_scripts(pages[kind])
