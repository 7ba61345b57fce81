"""A classifier of a stranger, trained by its recipe for a moment on film reviews."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from starlette.testclient import TestClient

import regard
from regard.recipe.recipe_files import read_recipe
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import load
from regard.serve.access import Access
from regard.serve.http_app import make_app
from regard.serve.models import Shelf

TRAINED = [
    *("train", "mr-windows", "--device", "cpu", "--run", "run", "trainer.threads=1"),
    *("model.size=16", "model.widths=[1, 3]", "model.dropout=0.2"),
    *("training.epochs=1", "training.optimizer.lr=4e-3", "training.schedule.warmup=0"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, regard_command) -> Path:
    folder = tmp_path_factory.mktemp("windows")
    done = regard_command(*TRAINED, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(folder):
    return load(folder / "run", device="cpu")


def test_its_options_are_keys_of_a_recipe():
    recipe = read_recipe("mr-windows", ["model.widths=[1, 2]", "model.dropout=0"])
    assert (recipe.task.kind, recipe.model.kind, recipe.model.widths) == (
        "classify",
        "word-windows",
        (1, 2),
    )
    assert recipe.data.train == "mr:train"
    with pytest.raises(
        ValueError, match=r"unknown key 'model.widht'. Did you mean 'model.widths'\?"
    ):
        read_recipe("mr-windows", ["model.widht=[1]"])


def test_padding_reaches_no_state():
    network = read_recipe("mr-windows").model.build({"text": 30, "label": 2}).eval()
    words = torch.randint(4, 30, (1, 6))
    alone = network.encode(words, torch.ones(1, 6, dtype=torch.bool)).states
    wider = torch.cat([words, torch.randint(4, 30, (1, 4))], 1)
    padded = network.encode(wider, torch.arange(10)[None] < 6).states
    torch.testing.assert_close(padded[:, :6], alone)
    assert not padded[:, 6:].any()


def test_it_learns_and_is_evaluated(run):
    found = evaluate(run)
    assert found.confusion.accuracy > 0.65  # of two labels, after one epoch
    scores = json.loads((run.folder.path / "scores.json").read_text())
    assert found.confusion.accuracy == pytest.approx(scores["test"]["accuracy"])
    assert "regard classify -m" in (run.folder.path / "report.html").read_text()


def test_it_answers(folder, run, regard_command):
    texts = ["a beautiful and moving film", "dull and pointless"]
    done = regard_command("predict", "-m", "run", *texts, cwd=folder)
    found = run.predict(texts, attention=True)
    assert [one.answer for one in found] == ["positive", "negative"]
    told = [f"{one.answer}\t{one.score:.4f}" for one in found]
    assert done.stdout.splitlines() == told
    for text, one in zip(texts, found, strict=True):
        assert one.attention.shape == (1, len(text.split()) + 1)
        assert one.attention.sum() == pytest.approx(1, abs=1e-5)


def test_it_is_looked_at_and_served(run):
    text = "a beautiful and moving film"
    (record,) = regard.look(run, text).records
    assert record.map("pooling").weights.shape == (1, 1, 1, 6)
    shelf = Shelf(lambda: [run])
    try:
        app = make_app(shelf, Access(None), lambda line: None)
        client = TestClient(app, base_url="http://localhost:8000")
        assert client.get("/models").json()["models"][0]["kind"] == "word-windows"
        answer = client.post("/predict", json={"examples": [text]}).json()["answers"][0]
        assert answer["answer"] == "positive"
        seen = client.post("/attention", json={"text": text, "explain": True}).json()
        assert seen["output"] == record.output
        assert seen["explanations"]
    finally:
        shelf.worker.stop()
        shelf.worker.join()
