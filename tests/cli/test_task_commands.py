"""classify, generate and fill: what they print, and how they are asked."""

from __future__ import annotations

import json
import math
import sys
from types import SimpleNamespace

import pytest

from regard.data.tokenizer import Tokens
from regard.tasks.classify.classify_module import Classification
from regard.tasks.masked.masked_module import Filling, Guess
from regard.tasks.prediction import Prediction

NOTHING = Tokens([], [], [])


class Everything:
    """A run of every task at once; remembers how it was asked."""

    module = None

    def __init__(self) -> None:
        self.asked: list[dict] = []

    def classify(self, texts, **options):
        self.asked.append(options)
        odds = {"no": math.log(0.25), "yes": math.log(0.75)}
        return [Classification(text, "yes", odds, NOTHING) for text in texts]

    def generate(self, prompts, **options):
        self.asked.append({"prompts": list(prompts), **options})
        return [
            Prediction(p, f"{p}…\nso", 0.0, 0.0, (), NOTHING, NOTHING, finished=False)
            for p in prompts
        ]

    def fill(self, texts, *, top):
        self.asked.append({"top": top})
        guesses = ((Guess("cat", 0.5), Guess("狗", 0.25)),)
        return [Filling(text, guesses, "the cat", NOTHING) for text in texts]


@pytest.fixture
def everything(monkeypatch) -> Everything:
    found = Everything()
    load = SimpleNamespace(load=lambda run=None, device=None: found)
    monkeypatch.setitem(sys.modules, "regard.runs.loaded_run", load)
    return found


def test_a_label_for_every_line_but_a_blank_one(run, everything):
    done = run("classify", "-m", "runs/x", stdin="好\n\nbad\n".encode())
    assert (done.status, done.out) == (0, "yes\n\nyes\n")
    done = run("classify", "-m", "runs/x", "-p", "a", "b")
    assert done.out == "yes\t0.7500\nyes\t0.7500\n"
    done = run("classify", "-m", "runs/x", "--json", "a")
    assert json.loads(done.out)["probabilities"] == pytest.approx({"no": 0.25, "yes": 0.75})
    assert everything.asked[-1] == {"attention": True}
    done = run("classify", "-m", "runs/x", "--json", stdin=b" \na\n")
    blank, labelled = map(json.loads, done.out.splitlines())
    assert (blank, labelled["label"]) == ({"text": " ", "label": None}, "yes")


def test_results_go_to_a_file(run, everything, tmp_path):
    run("classify", "-m", "runs/x", "a", "-o", str(tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "yes\n"


def test_texts_are_written_on_with_a_blank_line_between(run, everything):
    done = run("generate", "-m", "runs/x", "a", "b", "--length", "7")
    assert done.out == "a…\nso\n\nb…\nso\n"
    assert everything.asked[-1] == {"prompts": ["a", "b"], "length": 7, "beam": None, "nbest": 1}
    run("generate", "-m", "runs/x", "--sample", "--temperature", "0.5", "--seed", "3")
    asked = everything.asked[-1]
    assert asked["prompts"] == [""]
    assert (asked["method"], asked["temperature"], asked["seed"]) == ("sample", 0.5, 3)
    done = run("generate", "-m", "runs/x", "-", "--json", stdin=b"x\ny\n")
    assert [json.loads(line)["source"] for line in done.out.splitlines()] == ["x", "y"]


def test_a_line_for_every_mask(run, everything):
    done = run("fill", "-m", "runs/x", "the <mask>", "--top", "2")
    assert done.out == "cat 0.500  狗 0.250\n"
    assert everything.asked == [{"top": 2}]
    done = run("fill", "-m", "runs/x", "the <mask>", "--json")
    assert json.loads(done.out)["guesses"][0][1] == {"token": "狗", "probability": 0.25}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["generate", "-m", "x", "--top-k", "3"], "--top-k is for texts that are drawn"),
        (
            ["generate", "-m", "x", "--sample", "--beam", "3"],
            "--beam is for texts that are searched",
        ),
        (["classify", "a"], "missing option '-m'"),
        (["classify", "-m", "x", "-", "a"], "- is standard input"),
    ],
)
def test_what_is_asked_wrongly_is_told(run, everything, words, said):
    done = run(*words)
    assert done.status == 2
    assert said in done.err
