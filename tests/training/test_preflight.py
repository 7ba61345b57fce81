"""What is wrong with a recipe is told before anything is written or learnt."""

from __future__ import annotations

import pytest
import torch
from toy import toy_recipe, write_corpus

from regard.models.transformer_options import Transformer
from regard.recipe.mistakes import RecipeError
from regard.training.preflight import check


@pytest.fixture
def corpus(tmp_path):
    write_corpus(tmp_path)
    return tmp_path


def test_a_good_recipe_passes_and_draws_no_random_numbers(corpus):
    before = torch.get_rng_state()
    check(toy_recipe(corpus))
    check(toy_recipe(corpus, data={"dev": None, "test": None}))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("name", ["train", "dev", "test"])
def test_every_corpus_must_be_there(corpus, name):
    with pytest.raises(FileNotFoundError, match=rf"data\.{name}: no file '.*nope\.zh'"):
        check(toy_recipe(corpus, data={name: f"{corpus}/nope.zh,{corpus}/train.tsv"}))
    with pytest.raises(RecipeError, match=rf"data\.{name}: 'a,b,c' names 3 files"):
        check(toy_recipe(corpus, data={name: "a,b,c"}))


def test_a_recipe_needs_an_end(corpus):
    with pytest.raises(RecipeError, match="when to stop"):
        check(toy_recipe(corpus, training={"epochs": None}))
    with pytest.raises(RecipeError, match=r"which need data\.dev"):
        check(toy_recipe(corpus, data={"dev": None}, training={"patience": 2}))


def test_a_model_that_cannot_be_built_is_told(corpus):
    with pytest.raises(RecipeError, match=r"model: .*nope"):
        check(toy_recipe(corpus, model={"attention": {"score": "nope"}}))


def test_learned_positions_must_be_enough_for_the_longest_sequence(corpus):
    def recipe(**keys):
        model = Transformer(size=8, heads=2, inner=8, **keys)
        return toy_recipe(corpus, model=model, data={"max_length": 20})

    check(recipe(positions="learned", max_positions=21))
    check(recipe(positions="rotary", max_positions=1))
    with pytest.raises(RecipeError, match=r"max_positions is 20, but data\.max_length=20 needs 21"):
        check(recipe(positions="learned", max_positions=20))
