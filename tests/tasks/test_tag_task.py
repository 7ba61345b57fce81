"""Tagging by recipe: it learns, goes on after being stopped, answers, is judged, looked at and served."""

from __future__ import annotations

import json
import random

import pytest

from regard.looking.look import look
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.records.question import Question
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import load
from regard.training.run import train

TAGS = {"the": "DET", "a": "DET", "cat": "NOUN", "dog": "NOUN", "sat": "VERB", "ran": "VERB"}
SMALL = {
    "recurrent-tagger": {"embedding": 8, "hidden": 8, "characters": 4, "dropout": 0.0},
    "transformer-tagger": {"size": 16, "heads": 2, "inner": 16, "dropout": 0.0},
}


def write_bank(path, count: int, seed: int) -> None:
    """A treebank with a range, an empty node and comments in it."""
    draw, lines = random.Random(seed), []
    for number in range(count):
        words = [draw.choice(sorted(TAGS)) for _ in range(draw.randint(1, 6))]
        lines += [f"# sent_id = {number}", f"# text = {' '.join(words)}"]
        lines += ["1-2\tdont\t_\t_\t_\t_\t_\t_\t_\t_"] * (len(words) > 1)
        for place, word in enumerate(words, 1):
            lines.append(f"{place}\t{word}\t_\t{TAGS[word]}\t_\t_\t_\t_\t_\t_")
        lines += ["1.1\tnothing\t_\tX\t_\t_\t_\t_\t_\t_", ""]
    path.write_text("\n".join(lines) + "\n")


def recipe_of(folder, kind: str, **training) -> Recipe:
    for seed, (name, count) in enumerate((("train", 80), ("dev", 12), ("test", 10))):
        write_bank(folder / f"{name}.conllu", count, seed)
    data = {part: f"{folder}/{part}.conllu#form,upos" for part in ("train", "dev", "test")}
    return Recipe.model_validate(
        {
            "task": {"kind": "tag"},
            "data": data,
            "model": {"kind": kind, **SMALL[kind]},
            "training": {
                "epochs": 6,
                "batch_sentences": 8,
                "optimizer": {"lr": 0.02},
                "checkpoint_every": 4,
                **training,
            },
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )


@pytest.fixture(scope="module", params=SMALL)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return load(train(recipe_of(folder, request.param), folder / "run", quiet=True), device="cpu")


def test_it_learns_and_is_judged_by_word_and_by_sentence(run):
    found = evaluate(run)
    assert found.measures["accuracy"] > 0.95
    assert found.measures["sentence_accuracy"] > 0.8
    assert found.to_dict()["f1"]["DET"] > 0.9
    assert "NOUN" in found.table
    assert "What is taken for what" in run.folder.report.read_text()


def test_words_are_answered_however_they_are_given(run):
    wanted = ["DET", "NOUN", "VERB"]
    words = ["the", "cat", "sat"]
    for example in ("the cat sat", words, {"words": "the cat sat"}, {"words": words, "more": 1}):
        (answer,) = run.predict([example])
        assert answer.answer == wanted
        assert answer.line == "DET NOUN VERB"
        assert answer.score < 0
    alone = [run.predict([text])[0] for text in ("a dog", "the", "cat cat cat cat")]
    together = run.predict(["a dog", "the", "cat cat cat cat"])
    for one, beside in zip(alone, together, strict=True):
        assert one.answer == beside.answer
        assert one.score == pytest.approx(beside.score, abs=1e-5)


def test_what_are_no_words_is_told(run):
    assert run.predict([" "])[0].answer is None
    for wrong in ([], 3, {"text": "the cat"}):
        with pytest.raises(ValueError, match="example 1"):
            run.predict([wrong])
    with pytest.raises(ValueError, match="list of examples"):
        run.predict("the cat")


def test_it_is_looked_at_where_it_attends(run):
    if run.recipe.model.kind == "recurrent-tagger":
        shown = look(run, "the cat sat").records[0]
        assert [each.name for each in shown.maps] == ["memory", "gates", "states"]
        assert shown.map("gates").weights.shape[-1] == 3
        return
    record = look(run, "the cat sat").records[0]
    assert record.maps[0].weights.shape[-2:] == (3, 3)
    assert "NOUN" in record.output
    for same in ('{"words": ["the", "cat", "sat"]}', '["the", "cat", "sat"]'):
        again = look(run, same).records[0]
        assert (again.maps[0].weights == record.maps[0].weights).all()
        assert (again.title, again.output) == (record.title, record.output)
    (answer,) = run.predict(["the cat sat"], attention=True)
    assert answer.attention.shape == (3, 3)
    assert answer.attention.sum(-1).tolist() == pytest.approx([1.0] * 3, abs=1e-5)
    assert json.loads(json.dumps(answer.to_dict()))["input"] == ["the", "cat", "sat"]


@pytest.mark.parametrize("kind", SMALL)
def test_a_run_in_two_starts_is_the_run_in_one(kind, tmp_path):
    whole = train(recipe_of(tmp_path, kind, epochs=2), tmp_path / "whole", quiet=True)
    for epochs in (1, 2):
        parts = train(recipe_of(tmp_path, kind, epochs=epochs), tmp_path / "parts", quiet=True)
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()


def test_a_label_that_was_never_seen_is_told_before_training(tmp_path):
    recipe = recipe_of(tmp_path, "recurrent-tagger")
    bank = (tmp_path / "dev.conllu").read_text()
    (tmp_path / "dev.conllu").write_text(bank.replace("NOUN", "NUON", 1))
    with pytest.raises(RecipeError, match=r"dev\.conllu.*line \d+.*'NUON'"):
        train(recipe, tmp_path / "run", quiet=True)


@pytest.mark.parametrize("name", ["tag", "tag-en", "tag-zh"])
def test_the_recipes_are_whole(name):
    recipe = read_recipe(name)
    assert recipe.task.kind == "tag"
    assert recipe.training.metric == "accuracy"


def test_a_blank_text_is_refused_in_words(run):
    with pytest.raises(ValueError, match="words: empty") as told:
        run.task.look_extent(Question(" "))
    assert "{}" not in str(told.value)
