"""A person with two text files gets a model, its scores, translations and alignments."""

from __future__ import annotations

import json

import pytest
from processes import in_a_process

from regard.tasks.translate.text_translator import TextTranslator

SOURCE = [f"{a} {b}" for a in ("我", "你", "他", "她") for b in ("好", "来", "去", "看", "说")]
TARGET = [
    f"{b} {a}" for a in ("I", "you", "he", "she") for b in ("good", "come", "go", "see", "say")
]
SMALL = ["model.embedding=8", "model.hidden=8", "model.maxout=8", "training.steps=60"]
WORDS = ["tokenizer.source.kind=word", "tokenizer.target.kind=word"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    (folder / "a.zh").write_text("\n".join(SOURCE) + "\n", encoding="utf-8")
    (folder / "a.en").write_text("\n".join(TARGET) + "\n", encoding="utf-8")
    corpus = f"{folder / 'a.zh'},{folder / 'a.en'}"
    data = [f"data.train={corpus}", f"data.dev={corpus}", f"data.test={corpus}"]
    run = ["--run", str(folder / "run"), "--device", "cpu"]
    done = in_a_process("train", "rnnsearch", *data, *SMALL, *WORDS, *run)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "BLEU" in done.stderr
    return folder


def test_the_run_can_be_used(folder, run):
    model = ["-m", str(folder / "run"), "--device", "cpu"]
    text = (folder / "a.zh").read_bytes()
    done = run("translate", *model, stdin=b"\n" + text)
    assert done.status == 0, done.err
    assert done.out.count("\n") == 1 + len(SOURCE)
    assert done.out.startswith("\n")

    found = json.loads(run("evaluate", *model, "--json").out)
    assert found["sentences"] == len(SOURCE)
    assert found["bleu"]["signature"].startswith("nrefs:1|")

    pairs = [str(folder / "a.zh"), str(folder / "a.en")]
    scored = [json.loads(line) for line in run("score", *model, *pairs, "--json").out.splitlines()]
    assert len(scored) == len(SOURCE)
    mean = sum(one["log_prob"] for one in scored) / found["tokens"]
    assert mean == pytest.approx(-found["loss"], abs=1e-3)

    links = run("align", *model, *pairs).out.splitlines()
    assert len(links) == len(SOURCE)
    assert all(len(line.split()) == 2 for line in links)  # each target word has a source word


def test_the_beam_of_an_evaluation_can_be_chosen(folder, run, monkeypatch):
    beams = []
    predict = TextTranslator.predict

    def spied(self, texts, settings, **options):
        beams.append(settings.beam)
        return predict(self, texts, settings, **options)

    monkeypatch.setattr(TextTranslator, "predict", spied)
    model = ["-m", str(folder / "run"), "--device", "cpu"]
    for beam in (["--beam", "1"], []):
        assert run("evaluate", *model, *beam).status == 0
    assert beams == [1, 5]


def test_the_score_of_a_translation_is_the_score_reported(folder, run):
    model = ["-m", str(folder / "run"), "--device", "cpu"]
    best = json.loads(run("translate", *model, "--json", "--beam", "3", "我 好").out)
    assert best["finished"]
    given = f"我 好\t{best['text']}\n".encode()
    assert float(run("score", *model, stdin=given).out) == pytest.approx(best["score"], abs=1e-3)


def test_where_nobody_writes_blanks_a_character_is_a_word(folder, run):
    model = ["-m", str(folder / "run"), "--device", "cpu"]
    links = run("align", *model, stdin="我好\tI am\n".encode()).out.split()
    assert {link.split("-")[1] for link in links} == {"0", "1"}
    records = run("align", *model, "--json", stdin="我们。\tI am\n".encode()).out
    assert all(source < 3 for source, _ in json.loads(records))


def test_the_same_seed_draws_the_same_and_another_draws_otherwise(folder, run):
    model = ["-m", str(folder / "run"), "--device", "cpu"]
    text = (folder / "a.zh").read_bytes()
    once, again, other = (
        run("translate", *model, "--sample", "--seed", seed, stdin=text).out for seed in "112"
    )
    assert once == again
    assert once != other
