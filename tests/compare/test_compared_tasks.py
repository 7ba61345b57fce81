"""Runs of every task can be compared, and of a task that nobody here knows."""

from __future__ import annotations

import json
from pathlib import Path

import attending_tasks
import pytest
from toy import toy_recipe, write_corpus
from toy_tasks import task_recipe, write_book, write_labelled

from regard.compare.existing_runs import compare_runs
from regard.compare.variants import replaced
from regard.recipe.recipe import Recipe
from regard.training.run import train

MEASURES = {
    "blocks": "loss",
    "lines": "loss",
    "masked": "loss",
    "translate": "bleu",
    "tag": "accuracy",
    "stranger": "accuracy",
    "cloze": "accuracy",
    "match": "accuracy",
    "read": "accuracy",
    "read a span": "f1",
}
STRANGER = Path(__file__).parents[2] / "examples" / "task" / "src"


def recipe_of(kind: str, folder: Path, monkeypatch) -> Recipe:
    if kind.startswith(("match", "read")):
        return attending_tasks.recipe_of(kind, attending_tasks.KINDS[kind][0], folder)
    if kind == "translate":
        write_corpus(folder)
        return toy_recipe(folder, training={"steps": 3})
    if kind in ("tag", "stranger"):
        lines = [f"the cat sat\tDET NOUN VERB{n % 2 * 'S'}\n" for n in range(60)]
        (folder / "tags.tsv").write_text("".join(lines))
        base = task_recipe(folder, "classify", training={"steps": 3})
        data = dict.fromkeys(("train", "dev", "test"), f"{folder}/tags.tsv")
        given = base.model_dump(mode="json")
        given["training"]["metric"] = "auto"
        given |= {"task": {"kind": "tag"}, "data": given["data"] | data}
        given["model"] = {"kind": "recurrent-tagger", "embedding": 8, "hidden": 8}
        if kind == "stranger":
            monkeypatch.syspath_prepend(str(STRANGER))
            place = "regard_example_task.tagging"
            given["task"] = {"kind": f"{place}:WordTags"}
            given["model"] = {"kind": f"{place}:AttendingTagger", "size": 8, "heads": 2}
            monkeypatch.setattr(f"{place}.AttendingTagger.task", f"{place}:WordTags")
        return Recipe.model_validate(given)
    write_labelled(folder)
    write_book(folder)
    return task_recipe(folder, kind, training={"steps": 3})


@pytest.mark.parametrize("kind", MEASURES)
def test_runs_of_every_task(kind, tmp_path, monkeypatch):
    recipe = recipe_of(kind, tmp_path, monkeypatch)
    runs = []
    for rate in (0.0, 0.4):
        model = recipe.model.model_copy(update={"dropout": rate})
        for seed in (1, 2):
            made = replaced(recipe, model=model, seed=seed)
            runs.append(train(made, tmp_path / f"{rate}-{seed}", quiet=True))
    found = compare_runs(runs, tmp_path / "out", device="cpu")
    assert list(found.judged) == ["dropout=0.0", "dropout=0.4"]
    assert found.measure.name == MEASURES[kind]
    assert found.costs["dropout=0.0"].speed > 0
    read = json.loads((tmp_path / "out" / "compare.json").read_text("utf-8"))
    assert len(read["items"]) == len(read["variants"][0]["seeds"]["1"]["counts"][MEASURES[kind]])
    assert all(item["text"] for item in read["items"][:5])
