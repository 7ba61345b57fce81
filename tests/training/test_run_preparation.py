"""What is said of data that nothing can be learnt from."""

from __future__ import annotations

import json

import pytest

from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe_files import read_recipe
from regard.training.run import train


@pytest.mark.parametrize("spec", ["", "#body,head"])
def test_keys_that_lines_have_are_named_where_others_are_asked_for(spec, tmp_path):
    file = tmp_path / "articles.jsonl"
    lines = ["no object", json.dumps({"body": "a b c", "headline": "a"})]
    file.write_text("\n".join(lines * 20) + "\n")
    recipe = read_recipe("pointer", [f"data.train={file}{spec}", "trainer.accelerator=cpu"])
    with pytest.raises(RecipeError) as refused:
        train(recipe, tmp_path / "run")
    told = "have body, headline: name those for source, target, as"
    assert told in refused.value.hint
    assert refused.value.hint.endswith(f"{file}#body,headline")
