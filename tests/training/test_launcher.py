"""How many processes there are is said by the recipe, or by who has started them, and never by chance."""

from __future__ import annotations

import pytest
from toy import toy_recipe, write_corpus

from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Trainer
from regard.training.launcher import BY_HAND, places
from regard.training.run import train


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    for name in (*BY_HAND, "TORCHELASTIC_RUN_ID", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def torchrun(monkeypatch):
    def start(here, nodes):
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
        monkeypatch.setenv("LOCAL_WORLD_SIZE", str(here))
        monkeypatch.setenv("WORLD_SIZE", str(here * nodes))

    return start


def test_alone_the_recipe_says_it():
    assert places(Trainer()) == ("auto", 1)
    assert places(Trainer(devices=[0, 2])) == ([0, 2], 1)


def test_several_machines_need_somebody_to_say_which_this_is(tmp_path):
    write_corpus(tmp_path)
    recipe = toy_recipe(tmp_path, trainer={"num_nodes": 2})
    with pytest.raises(RecipeError, match="which of the 2 machines this is") as refused:
        train(recipe, tmp_path / "run")
    assert "torchrun --nnodes=2" in refused.value.hint
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", BY_HAND)
def test_who_sets_the_environment_by_hand_is_believed(name, monkeypatch):
    monkeypatch.setenv(name, "0")
    assert places(Trainer(devices=4, num_nodes=2)) == (4, 2)


@pytest.mark.parametrize("given", [{}, {"devices": -1}, {"devices": "auto", "num_nodes": 3}])
def test_torchrun_says_what_the_recipe_does_not_name(given, torchrun):
    torchrun(here=2, nodes=3)
    assert places(Trainer(**given)) == (2, 3)


@pytest.mark.parametrize("devices", [2, "2", "0,2", [0, 2]])
def test_the_same_numbers_may_be_named(devices, torchrun):
    torchrun(here=2, nodes=1)
    assert places(Trainer(devices=devices, num_nodes=1)) == (devices, 1)


@pytest.mark.parametrize(
    "given", [{"devices": 1}, {"devices": 4}, {"devices": [0]}, {"num_nodes": 2}], ids=str
)
def test_other_numbers_than_those_of_torchrun_are_refused(given, torchrun):
    torchrun(here=2, nodes=1)
    with pytest.raises(RecipeError, match="torchrun has started 2 processes, 2 on each") as no:
        places(Trainer(**given))
    assert "trainer.devices=2 trainer.num_nodes=1" in no.value.hint
