"""Summaries as long as they are asked for."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pydantic import ValidationError

from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.runs.loaded_run import load
from regard.tasks.recipe_task import task_of
from regard.tasks.summarise.told_lengths import told_length
from regard.training.run import train


def recipe_of(folder: Path, lengths: list[int]) -> Recipe:
    """Of every text there is a short summary and a long one: nothing in it tells which is wanted."""
    for seed, (name, count) in enumerate((("train", 300), ("dev", 20), ("test", 20))):
        draw, lines = random.Random(seed), []
        for _ in range(count):
            first, second = draw.sample("abcdefgh", 2)
            summary = draw.choice([f"{first}", f"{first} and {second} both"])
            lines.append(f"look , {first} , {second} .\t{summary}\n")
        (folder / f"{name}.tsv").write_text("".join(lines))
    data = {part: f"{folder}/{part}.tsv" for part in ("train", "dev", "test")}
    return Recipe.model_validate(
        {
            "task": {"kind": "summarise", "lengths": lengths},
            "data": {**data, "source": "de", "target": "de", "max_length": 20},
            "tokenizer": {"target": {"kind": "word", "size": 40}},
            "model": {"kind": "pointer-generator", "embedding": 16, "hidden": 24},
            "training": {"epochs": 12, "batch_sentences": 16, "optimizer": {"lr": 0.01}},
            "search": {"beam": 2, "max_length": 12},
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )


@pytest.mark.slow
def test_a_summary_is_as_long_as_it_is_asked_for(tmp_path: Path) -> None:
    run = load(train(recipe_of(tmp_path, [2]), tmp_path / "run", quiet=True))
    texts = ["look , a , g .", "look , h , b ."]
    short, long = (
        [one.answer for one in run.predict([f"{name} {text}" for text in texts])]
        for name in ("short:", "long:")
    )
    assert short == ["a", "h"]
    assert long == ["a and g both", "h and b both"]


def test_the_length_told_is_that_of_the_summary(tmp_path: Path) -> None:
    task = task_of(recipe_of(tmp_path, [2]))
    found = task.examples(f"{tmp_path}/test.tsv")
    assert {one["source"].split()[0] for one in found} == {"short:", "long:"}
    for one in found:
        assert one["source"].startswith("long:" if "both" in one["target"] else "short:")
        assert told_length(one["source"].split(" ", 1)[1], 1, []) == one["source"].split(" ", 1)[1]
    plain = task_of(recipe_of(tmp_path, [])).examples(f"{tmp_path}/test.tsv")
    assert all(one["source"].startswith("look") for one in plain)


def test_where_one_length_ends_and_the_next_begins() -> None:
    told = [told_length("x", words, [4, 8]) for words in (1, 4, 5, 8, 9)]
    assert told == ["short: x", "short: x", "medium: x", "medium: x", "long: x"]


@pytest.mark.parametrize("lengths", [[8, 4], [4, 4], [1, 2, 3], [0]])
def test_bounds_rise_and_are_two_at_most(tmp_path: Path, lengths: list[int]) -> None:
    with pytest.raises(ValidationError):
        recipe_of(tmp_path, lengths)


def test_three_bounds_are_refused_with_what_is_wanted():
    with pytest.raises(RecipeError, match=r"one or two bounds, as in \[8\] or \[6, 12\], not"):
        read_recipe("pointer", ["task.lengths=[6,8,10]"])
