"""The recipes to start with take data of one's own, its columns named as the fields are, and learn it."""

from __future__ import annotations

import csv
import json
import random
from itertools import product
from pathlib import Path

import pytest

from regard.recipe.recipe_files import read_recipe
from regard.runs.loaded_run import load
from regard.training.run import train

PEOPLE = ("Tom", "Mary", "the cat", "our teacher", "my old friend", "nobody", "she", "he")
DONE = ("sings", "runs fast", "likes tea", "went home", "can swim", "is late", "reads it", "left")
PLACES = ("park", "garden", "kitchen")


def trained(folder: Path, recipe: str, *words: str):
    given = [f"data.{part}={folder / part}.jsonl" for part in ("train", "dev", "test")]
    recipe = read_recipe(recipe, [*given, "trainer.threads=1", "trainer.accelerator=cpu", *words])
    return load(train(recipe, folder / "run", quiet=True), device="cpu")


def write(folder: Path, rows: list[dict]) -> None:
    """One in four to be judged by."""
    random.Random(0).shuffle(rows)
    parts = {"test": rows[::4], "dev": rows[1::4], "train": rows[2::4] + rows[3::4]}
    for name, chosen in parts.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in chosen]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")


def accuracy(run) -> float:
    return json.loads((run.folder.path / "scores.json").read_text("utf-8"))["test"]["accuracy"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_texts_with_labels(language, tmp_path):
    asked = {"en": ("why {} {}", "{} {}"), "zh": ("{}{}吗", "{}{}了")}[language]
    words = {
        "en": (PEOPLE, DONE),
        "zh": (
            ("我", "你", "他们", "小猫", "老师", "朋友"),
            ("去", "来", "看书", "喝茶", "回家", "睡觉"),
        ),
    }[language]
    labels = ("question", "statement")
    rows = [
        {"text": form.format(*pair), "label": label}
        for pair in product(*words)
        for form, label in zip(asked, labels, strict=True)
    ]
    write(tmp_path, rows)
    run = trained(tmp_path, "classify", f"data.source={language}")
    assert accuracy(run) >= 0.9


def test_a_csv_needs_no_names_of_its_columns(tmp_path):
    with (tmp_path / "own.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [(f"{who} {what}", who) for who, what in product(PEOPLE, DONE)]
        csv.writer(file).writerows([("text", "label"), *rows])
    task = read_recipe("classify", [f"data.train={tmp_path / 'own.csv'}"])
    run = load(train(task, tmp_path / "run", quiet=True), device="cpu")
    assert sorted(run.task.fields["label"].labels) == sorted(PEOPLE)


def test_pairs_with_labels(tmp_path):
    every = [f"{who} {what}" for who, what in product(PEOPLE, DONE)]
    rows = []
    for number, one in enumerate(every):
        for form, far in (("so {}", 9), ("{} then", 20), ("and {}", 35)):
            other = every[(number + far) % len(every)]
            rows.append({"first": one, "second": form.format(one), "label": "same"})
            rows.append({"first": one, "second": form.format(other), "label": "other"})
    write(tmp_path, rows)
    run = trained(tmp_path, "match")
    assert accuracy(run) >= 0.8


def test_stories_with_candidates(tmp_path):
    rows = []
    for who, (one, other) in product(("Tom", "Mary", "John"), product(PLACES, PLACES)):
        story = f"{who} went to the {one}. Then {who} went to the {other}."
        choice = {"candidates": list(PLACES), "answer": other}
        rows.append({"story": story, "question": f"Where is {who}?", "candidates": choice})
    write(tmp_path, rows * 6)
    run = trained(tmp_path, "read")
    assert accuracy(run) >= 0.8
