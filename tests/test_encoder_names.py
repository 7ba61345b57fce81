"""Encoders go by the names that the pages call them by."""

from __future__ import annotations

import pytest

from regard.encoder_names import ENCODERS, encoder_of
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe_files import read_recipe


@pytest.mark.parametrize(
    ("recipe", "name", "meant"),
    [
        ("meng", "NNJM", "window"),
        ("meng", "tagCNN", "tag-cnn"),
        ("meng", "tag_CNN", "tag-cnn"),
        ("meng", "inCNN", "in-cnn"),
        ("meng", "CNN", "cnn"),
        ("meng", "nnlm", "none"),
        ("abs", "BoW", "bow"),
        ("abs", "bag of words", "bow"),
        ("abs", "TDNN", "tdnn"),
        ("abs", "NNLM", "none"),
        ("abs", "Attention", "attention"),
        ("abs", "ABS", "attention"),
        ("lstm-mr", "BoW", "bag"),
        ("lstm-mr", "LSTM", "lstm"),
    ],
)
def test_a_recipe_takes_them(recipe, name, meant):
    assert read_recipe(recipe, [f"model.encoder={name}"]).model.encoder == meant


def test_a_name_counts_where_there_is_such_a_choice():
    assert encoder_of("NNJM", ["bow", "none"]) is None
    with pytest.raises(RecipeError, match=r"model\.encoder is 'NNJM'"):
        read_recipe("abs", ["model.encoder=NNJM"])


def test_no_name_is_that_of_two_choices_of_one_option():
    for choices in (("in-cnn", "tag-cnn", "cnn", "window", "none"), ("attention", "tdnn", "bow")):
        every = [name.lower() for choice in choices for name in ENCODERS.get(choice, ())]
        assert len(every) == len(set(every))
