"""`regard data check`: what a corpus is like, for the task that it is for."""

from __future__ import annotations

import json

import pytest
from test_tag_task import recipe_of

from regard.training.run import train


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checked")
    recipe = recipe_of(folder, "recurrent-tagger", epochs=1)
    train(recipe, folder / "run", quiet=True)
    (folder / "a.tsv").write_text("the cat\tDET NOUN\na cat\tDET NUON\n\nrun\n")
    return folder


@pytest.fixture
def check(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda *words: run("data", "check", *words)


def test_pairs_if_nothing_is_said(check):
    done = check("a.tsv")
    assert done.status == 0
    assert done.out.startswith("2 pairs that can be used, 2 lines that cannot\n")
    assert check("a.tsv", "--task", "translate").out == done.out


def test_a_task_or_a_recipe_says_what_the_columns_are(check):
    done = check("a.tsv", "--task", "tag")
    assert done.out.startswith("2 sentences that can be used, 2 lines that cannot\n")
    assert "tags: 3 labels: DET 50.0 %, NOUN 25.0 %, NUON 25.0 %" in done.out
    assert check("a.tsv", "--task", "tag-en").out == done.out
    assert check("a.tsv", "--task", "run/recipe.yaml").out == done.out


def test_a_run_says_what_it_does_not_know(check):
    done = check("a.tsv", "-m", "run", "--json")
    found = json.loads(done.out)
    assert found["examples"] == 1
    assert found["problems"]["a.tsv"]["'tags' lines with unknown values"] == [1, 2]
    assert (
        "the label 'NUON' is not in the data to learn from. Did you mean 'NOUN'?"
        in found["unknown"]
    )


def test_the_labels_of_a_training_set(check):
    done = check("a.tsv", "--task", "tag", "--train", "train.conllu#form,upos")
    assert "1 'tags' line with unknown values (2)" in done.out


def test_status_1_if_nothing_is_left_and_2_if_it_is_asked_wrongly(check, folder):
    (folder / "b.tsv").write_text("\n")
    assert check("b.tsv", "--task", "tag").status == 1
    assert check("a.tsv", "--task", "tga").status == 2
    assert check("a.tsv", "--task", "tag", "-m", "run").status == 2
    assert check("a.tsv", "--task", "tag", "--train", "none.tsv").status == 2
