"""What the empty page says of a model, whatever it was trained for, and examples that it can be asked."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest
from small_server import client_of, quiet_app

import regard
from regard.looking.run_description import SENTENCES, STORY, description
from regard.looking.run_looker import look_at
from regard.records.question import Force, Question
from regard.runs.loaded_run import EMBEDDED
from regard.serve.models import Shelf

sys.path.insert(0, str(Path(__file__).parent.parent / "tasks"))

from small_runs import RECIPES, document_run, pair_run, reader_run, series_run, small_run


@pytest.fixture(scope="module")
def embedded():
    return regard.load()


OTHERS = {
    "pair": partial(pair_run, "label"),
    "reader": reader_run,
    "series": series_run,
    "document": partial(document_run, "label"),
}


@pytest.fixture(scope="module", params=[*RECIPES, *OTHERS])
def run(request, tmp_path_factory):
    kind, folder = request.param, tmp_path_factory.mktemp(request.param)
    return OTHERS[kind](folder) if kind in OTHERS else small_run(kind, folder)


def test_the_embedded_model_has_examples_of_its_corpus_and_a_story(embedded):
    found = description(embedded)
    assert (found["verb"], found["reads"], found["writes"]) == ("translate", "a text", "a text")
    assert len(set(found["examples"])) == 3
    assert not set(found["examples"]) & set(SENTENCES["zh"])
    assert found["story"] == STORY
    assert embedded.folder.path == EMBEDDED


def test_the_story_is_true(embedded):
    """The word comes from where it is said to, and where it looks elsewhere it is another."""
    text, force = STORY["text"], STORY["force"]
    plain = look_at(embedded, Question(text))
    tokens, source = plain.sides["target"].tokens, plain.sides["source"]
    assert tokens[force["step"]] == STORY["word"]
    assert plain.output == "He is working in this store."
    row = plain.map("cross").weights[0, 0, force["step"]]
    read = [
        n for n, (a, b) in enumerate(source.offsets) if text[a:b] and text[a:b] in STORY["read"]
    ]
    assert row[read].sum() > 0.7
    assert "".join(source.tokens[key] for key in force["keys"]) == STORY["instead"]
    asked = Question(text, STORY["prefix"], force=Force(force["step"], tuple(force["keys"])))
    assert look_at(embedded, asked).output == "He is working in this library."


def test_every_task_says_what_it_reads_and_its_examples_can_be_looked_at(run):
    found = description(run)
    assert found["verb"]
    assert found["reads"]
    assert found["story"] is None
    assert bool(found["hint"]) == (len(run.task.inputs) > 1)
    for example in found["examples"]:
        record = look_at(run, Question(example))
        assert record.maps or record.sight


def test_the_server_tells_it_of_each_model(run):
    shelf = Shelf(lambda: [run])
    try:
        (told,) = client_of(quiet_app(shelf)).get("/models").json()["models"]
    finally:
        shelf.worker.stop()
        shelf.worker.join()
    assert told["reads"] == description(run)["reads"]
    assert told["examples"] == description(run)["examples"]


def test_data_of_ones_own_is_not_shown(embedded, tmp_path, monkeypatch):
    private = tmp_path / "private.tsv"
    private.write_text("这是一个秘密。\tThis is a secret.\n" * 3, encoding="utf-8")
    data = embedded.recipe.data.model_copy(
        update={"dev": str(private), "test": None, "train": str(private)}
    )
    recipe = embedded.recipe.model_copy(update={"data": data})
    monkeypatch.setattr(embedded.task, "recipe", recipe)
    assert description(embedded)["examples"] == list(SENTENCES["zh"])
