"""The tasks in a recipe: models and metrics that fit, and what is said of those that do not."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.registry import models_for


@pytest.mark.parametrize(
    ("task", "model", "metric"),
    [
        ("translate", "rnnsearch", "bleu"),
        ("classify", "transformer-classifier", "accuracy"),
        ("language", "transformer-language", "loss"),
        ("masked", "transformer-masked", "loss"),
        ("match", "abcnn", "accuracy"),
    ],
)
def test_a_task_brings_a_model_and_a_metric(tmp_path, task, model, metric):
    path = tmp_path / "mine.yaml"
    path.write_text(f"task: {{kind: {task}}}\n")
    recipe = read_recipe(str(path))
    assert (recipe.task.kind, recipe.model.kind) == (task, model)
    assert recipe.training.metric == metric
    assert models_for(task)[0] == model
    assert Recipe.model_validate(recipe.model_dump(mode="json")) == recipe


def test_a_recipe_of_before_there_were_tasks_is_a_translation():
    recipe = Recipe.model_validate({"task": {"kind": "translate"}, "training": {"metric": "chrf"}})
    assert recipe.training.metric == "chrf"
    assert Recipe().training.metric == "bleu"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["task.kind=classify"], "model.kind=rnnsearch is for task.kind=translate; for classify"),
        (["model.kind=transformer-masked"], "for translate there are rnnsearch, rnnenc"),
        (
            ["task.kind=clasify"],
            "Did you mean 'classify'? The kinds: translate, summarise, joint, classify",
        ),
        (["task.context=5"], "unknown key 'task.context': only task.kind=language has it"),
        (["training.metric=accuracy"], "task.kind=translate is measured by bleu or chrf or loss"),
        (["training.metric=bleuu"], "bleu or chrf or loss. Did you mean 'bleu'?"),
        (["model.pool=max"], "unknown key 'model.pool'"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line(words, said):
    with pytest.raises(RecipeError) as error:
        read_recipe("rnnsearch", words)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_every_kind_of_model_is_of_one_task():
    kinds = [
        kind
        for task in ("translate", "classify", "language", "masked")
        for kind in models_for(task)
    ]
    assert len(kinds) == len(set(kinds))
    with pytest.raises(ValidationError, match="for language there are transformer-language"):
        Recipe.model_validate({"task": {"kind": "language"}})
