"""Visits that are sent to a server: answered, looked at, and bad ones told."""

from __future__ import annotations

import json

import pytest
from small_server import client_of, quiet_app

from regard.recipe.recipe import Recipe
from regard.records.record import AttentionRecord
from regard.runs.loaded_run import load
from regard.serve.models import Shelf
from regard.training.run import train

ASKED = {"user": "u1", "history": [["p1", 5], ["p2", 6]], "time": 7}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("visits")
    walks = {"users": 12, "visits": 20, "places": 8, "seed": 1}
    (folder / "few.walks").write_text(json.dumps(walks))
    recipe = Recipe.model_validate(
        {
            "task": {"kind": "visit", "unit": "hours"},
            "data": {part: f"{folder}/few.walks@{part}" for part in ("train", "dev", "test")},
            "model": {"kind": "st-rnn", "size": 4},
            "training": {"epochs": 1},
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )
    made = train(recipe, folder / "run", quiet=True)
    shelf = Shelf(lambda: [load(made, device="cpu")], None)
    yield client_of(quiet_app(shelf))
    shelf.worker.stop()
    shelf.worker.join()


def test_the_next_place_is_answered_and_looked_at(client):
    found = client.post("/predict", json={"examples": [ASKED], "attention": True})
    assert found.status_code == 200, found.text
    (one,) = found.json()["answers"]
    assert sorted(one["answer"]) == [f"p{n}" for n in range(1, 9)]
    assert one["columns"] == ["p1 −2.0 h", "p2 −1.0 h", "(before)"]
    answer = client.post("/attention", json={"text": json.dumps(ASKED)})
    assert answer.status_code == 200, answer.text
    record = AttentionRecord.from_json(answer.text)
    assert record.output.startswith(one["answer"][0])
    assert record.title == "u1: p1 → p2"


def test_what_is_no_question_is_told(client):
    for wrong in (
        {**ASKED, "time": 5},
        {**ASKED, "history": [["p1"]]},
        {"user": "u1"},
        "somewhere",
    ):
        answer = client.post("/predict", json={"examples": [wrong]})
        assert answer.status_code == 422, wrong
