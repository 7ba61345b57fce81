"""Tagging by a stranger, as a person uses it: trained, killed, resumed, evaluated, asked, seen, served."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

import regard
from regard.records.record import AttentionRecord
from regard.runs.loaded_run import load
from regard.runs.metrics_file import read_rows

SOURCE = Path(__file__).parent / "src" / "regard_example_task" / "tagging.py"
WORDS = {
    "DET": ["the", "a", "every"],
    "ADJ": ["old", "small"],
    "NOUN": ["cat", "dog", "fish", "walk"],
    "VERB": ["sees", "likes", "fish", "walk"],  # two of them are nouns too
}
TRAINED = [
    *("train", "word-tags", "--device", "cpu", "data.train=bank.conllu#form,upos"),
    *("model.size=16", "training.epochs=8", "training.optimizer.lr=0.01"),
    *("training.checkpoint_every=9", "trainer.threads=1"),
]


def write_treebank(path: Path, sentences: int = 700) -> None:
    draw = random.Random(0)
    lines = []
    for number in range(sentences):
        tags = [
            "DET",
            *draw.choice([[], ["ADJ"]]),
            "NOUN",
            "VERB",
            *draw.choice([[], ["DET", "NOUN"]]),
        ]
        lines.append(f"# sent_id = {number}")
        for place, tag in enumerate(tags, 1):
            lines.append("\t".join([str(place), draw.choice(WORDS[tag]), "_", tag, *"______"]))
        lines.append("")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, regard_command, environment) -> Path:
    """whole: trained without a break; killed: killed when there was a checkpoint, and run again."""
    folder = tmp_path_factory.mktemp("tags")
    write_treebank(folder / "bank.conllu")
    done = regard_command(*TRAINED, "--run", "whole", cwd=folder)
    assert done.returncode == 0, done.stderr

    first = subprocess.Popen(
        [sys.executable, "-m", "regard", *TRAINED, "--run", "killed"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
    )
    while not list((folder / "killed").glob("checkpoints/step-*.safetensors")):
        assert first.poll() is None, "it ended before it could be killed"
        time.sleep(0.005)
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    assert not (folder / "killed" / "model.safetensors").exists()

    again = regard_command(*TRAINED, "--run", "killed", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert re.search(r"going on after step \d+", again.stderr), again.stderr
    return folder


def test_it_is_at_most_120_lines():
    assert len(SOURCE.read_text("utf-8").splitlines()) <= 120


def test_a_run_that_was_killed_ends_as_one_that_was_not_to_the_last_bit(folder):
    whole, killed = (folder / run / "model.safetensors" for run in ("whole", "killed"))
    assert whole.read_bytes() == killed.read_bytes()
    measured = [
        [
            (row["step"], row["dev_loss"])
            for row in read_rows(folder / run / "metrics.csv")
            if row.get("dev_loss")
        ]
        for run in ("whole", "killed")
    ]
    assert len(measured[0]) == 8
    assert measured[0] == measured[1]


def test_a_corpus_is_checked_by_its_fields(folder, regard_command):
    rows = ["the fish walk\tDET NOUN VERB", "", "a walk\tDET", "the cat\tDET BIRD"]
    (folder / "a.tsv").write_text("\n".join(rows))
    done = regard_command("data", "check", "a.tsv", "--task", "word-tags", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "2 sentences that can be used, 2 lines that cannot" in done.stdout
    assert "tags: 4 labels: DET 40.0 %, BIRD 20.0 %" in done.stdout
    done = regard_command("data", "check", "a.tsv", "-m", "whole", cwd=folder)
    assert "1 sentence that can be used, 3 lines that cannot" in done.stdout
    assert "the label 'BIRD' is not in the data to learn from" in done.stdout


def test_a_run_learns_and_leaves_a_report(folder):
    scores = json.loads((folder / "whole" / "scores.json").read_text())
    assert scores["test"]["accuracy"] > 0.95  # told by the words around: fish and walk are both
    report = (folder / "whole" / "report.html").read_text()
    assert "accuracy" in report
    assert "regard predict -m whole" in report


def test_it_is_evaluated(folder, regard_command):
    done = regard_command("evaluate", "-m", "whole", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    scores = json.loads((folder / "whole" / "scores.json").read_text())
    assert found["accuracy"] == pytest.approx(scores["test"]["accuracy"])
    other = regard_command("evaluate", "-m", "whole", "--data", "bank.conllu#form,xpos", cwd=folder)
    assert (other.returncode, other.stdout) == (2, "")
    assert "the label '_' is not in the data to learn from" in other.stderr


def test_it_answers_line_by_line(folder, regard_command):
    done = regard_command("predict", "-m", "whole", cwd=folder, stdin="the fish walk\na walk\n")
    assert done.stdout == "DET NOUN VERB\nDET NOUN\n", done.stderr
    asked = json.dumps({"words": ["every", "old", "walk", "likes", "the", "fish"]})
    done = regard_command("predict", "-m", "whole", "--json", asked, cwd=folder)
    (found,) = map(json.loads, done.stdout.splitlines())
    assert found["answer"] == ["DET", "ADJ", "NOUN", "VERB", "DET", "NOUN"]
    assert 0.5 < found["score"] <= 1
    assert [len(row) for row in found["attention"]] == [6] * 6
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in found["attention"])


def test_a_loaded_run_answers_alike_alone_and_in_a_batch(folder):
    run = load(folder / "whole", device="cpu")
    texts = ["the fish walk", "every old dog sees a small cat", "a walk"]
    together = run.predict(texts, attention=True)
    for text, found in zip(texts, together, strict=True):
        (alone,) = run.predict([text], attention=True)
        assert alone.answer == found.answer
        assert alone.score == pytest.approx(found.score, rel=1e-5)
        assert (alone.attention - found.attention).abs().max() < 1e-5
        assert (list(found.rows), list(found.columns)) == (found.answer, text.split())
    with pytest.raises(ValueError, match="example 1: words: empty"):
        run.predict([{"words": " "}])
    assert run.predict([" "])[0].answer is None  # a blank line, as the command reads it


def test_it_is_looked_at_and_the_record_is_opened_again(folder, regard_command):
    text = "every old walk likes the fish"
    files = ["--html", "seen.html", "--svg", "seen.svg", "--json", "seen.json"]
    done = regard_command("look", "-m", "whole", text, *files, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert text in (folder / "seen.html").read_text()
    assert (folder / "seen.svg").read_text().startswith("<svg")

    view = regard.look(folder / "seen.json")
    (record,) = view.records
    assert record.output == "DET ADJ NOUN VERB DET NOUN"
    assert record.map("encoder").weights.shape == (1, 4, 6, 6)
    assert record.map("encoder").mechanism.startswith("score: scaled-dot")
    assert record.sides["words"].tokens == tuple(text.split())
    assert "walk" in view.to_text()
    run = load(folder / "whole", device="cpu")
    (again,) = regard.look(run, text).records
    (found,) = run.predict([text], attention=True)
    assert again.map().weights.mean((0, 1)) == pytest.approx(found.attention.numpy(), abs=1e-5)


def test_it_is_served(folder, environment):
    server = subprocess.Popen(
        [sys.executable, "-m", "regard", "serve", "-m", "whole", "--port", "0", "--device", "cpu"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        cwd=folder,
        env=environment,
    )
    try:
        said = server.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", said)
        assert address, said + server.stderr.read()
        with httpx.Client(base_url=address[0], timeout=60, trust_env=False) as client:
            (model,) = client.get("/models").json()["models"]
            assert (model["task"], model["kind"]) == ("word-tags", "attending-tagger")
            asked = {"examples": ["the fish walk", {"words": ["a", "walk"]}], "attention": True}
            found = client.post("/predict", json=asked).json()["answers"]
            assert [one["answer"] for one in found] == [["DET", "NOUN", "VERB"], ["DET", "NOUN"]]
            assert [len(one["attention"]) for one in found] == [3, 2]
            answer = client.post("/attention", json={"text": "the fish walk"})
            record = AttentionRecord.from_json(answer.text)
            assert (record.output, record.model) == ("DET NOUN VERB", "whole")
            wrong = client.post("/attention", json={"text": "the fish", "beam": 3})
            assert wrong.status_code == 422
            assert "a model for task.kind=word-tags has no beam" in wrong.json()["error"]
            assert "start.js" in client.get("/").text
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)
    assert server.returncode == 0


def test_the_recipe_is_listed_and_its_keys_are_checked(folder, regard_command):
    listed = regard_command("recipes", "--json", cwd=folder)
    rows = {row["name"]: row["data"] for row in json.loads(listed.stdout)}
    assert rows["word-tags"] == "embedded"
    wrong = regard_command("train", "word-tags", "model.haeds=2", cwd=folder)
    assert wrong.returncode == 2
    assert "unknown key 'model.haeds'. Did you mean 'model.heads'?" in wrong.stderr
    wrong = regard_command("train", "word-tags", "model.attention.score=addtive", cwd=folder)
    assert "no score 'addtive'. Did you mean 'additive'?" in wrong.stderr
    assert not os.path.exists(folder / "runs")
