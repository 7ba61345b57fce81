"""A run folder belongs to one recipe."""

from __future__ import annotations

import pytest

from regard.recipe.recipe import Recipe
from regard.runs.failures import FolderInUse, OtherRecipe
from regard.runs.run_folder import RunFolder
from regard.tasks.recipe_task import task_of


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    """Of a run that has learnt something."""
    found = RunFolder(tmp_path / "run")
    found.claim(Recipe())
    (found.checkpoints / "step-00000005.safetensors").touch()
    return found


def test_a_changed_recipe_is_refused_and_every_changed_key_named(folder):
    other = {"seed": 2, "model": {"kind": "rnnsearch", "hidden": 64}, "training": {"epochs": 9}}
    with pytest.raises(OtherRecipe) as caught:
        folder.claim(Recipe.model_validate(other))
    said = str(caught.value)
    assert "seed was 1, is 2" in said
    assert "model.hidden was 1000, is 64" in said
    assert "epochs" not in said
    assert folder.read_recipe() == Recipe()


def test_two_runs_do_not_train_in_one_folder_at_a_time(folder):
    with folder.held(), pytest.raises(FolderInUse, match="another process is training in"):
        folder.held().__enter__()
    with folder.held():
        pass


def test_another_kind_of_model_is_another_recipe(folder):
    with pytest.raises(OtherRecipe, match=r"model\.kind was 'rnnsearch', is 'rnnenc'"):
        folder.claim(Recipe.model_validate({"model": {"kind": "rnnenc"}}))


@pytest.mark.parametrize(
    "change",
    [
        {"training": {"epochs": 5, "steps": 7, "minutes": 1.5, "patience": 3}},
        {"data": {"test": "b.zh,b.en"}},
        {"data": {"test": ["b.zh", "b.en"]}},
        {"trainer": {"devices": 2, "precision": "32", "threads": 1}},
        {"search": {"beam": 9, "validation_beam": 3}},
        {"name": "other", "description": "the same in other words"},
    ],
)
def test_what_does_not_change_what_is_learnt_may_change(folder, change):
    recipe = Recipe.model_validate(change)
    folder.claim(recipe)
    assert folder.read_recipe() == recipe


@pytest.mark.parametrize("learnt", ["model.safetensors", "checkpoints/best-00000005.safetensors"])
def test_where_nothing_was_learnt_another_recipe_begins_anew(tmp_path, learnt):
    folder = RunFolder(tmp_path / "run")
    folder.claim(Recipe(seed=1))
    shared = Recipe.model_validate({"tokenizer": {"shared": True}})
    tokenizers = {path for each in (Recipe(), shared) for path in folder.assets(task_of(each))}
    for path in tokenizers:
        path.write_text("of the first recipe")
    folder.claim(Recipe(seed=2))
    assert folder.read_recipe().seed == 2
    assert not any(path.exists() for path in tokenizers)

    for path in (*tokenizers, folder.path / learnt):
        path.write_text("of the second recipe")
    folder.claim(Recipe(seed=2))
    assert all(path.exists() for path in tokenizers)
    with pytest.raises(OtherRecipe, match="seed was 2, is 3"):
        folder.claim(Recipe(seed=3))
