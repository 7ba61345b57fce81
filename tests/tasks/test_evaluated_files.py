"""A run is judged by a file, whose columns may be called as those that it learnt from."""

import json

import pytest
from small_runs import hops_run

import regard
from regard.recipe.mistakes import RecipeError

ROWS = [("a b c", "yes"), ("b", "no"), ("c a", "yes")]


@pytest.fixture
def run(tmp_path):
    return hops_run(tmp_path)  # which learnt from the columns said and judged


def table(path, header, sign):
    path.write_text("".join(f"{sign.join(row)}\n" for row in [header, *ROWS]))
    return str(path)


def objects(path, names):
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in ROWS))
    return str(path)


def test_columns_of_the_training_data_are_found(run, tmp_path):
    named = ("said", "judged")
    files = [
        table(tmp_path / "a.csv", named, ","),
        table(tmp_path / "a.tsv", named, "\t"),
        objects(tmp_path / "a.jsonl", named),
    ]
    whole = [regard.evaluate(run, file).to_dict() for file in files]
    assert [found["texts"] for found in whole] == [3, 3, 3]
    assert whole[0]["accuracy"] == whole[1]["accuracy"] == whole[2]["accuracy"]


def test_the_names_of_the_fields_go_first(run, tmp_path):
    path = tmp_path / "both.jsonl"
    path.write_text(
        json.dumps({"text": "a", "label": "yes", "said": "b", "judged": "never"}) + "\n"
    )
    assert regard.evaluate(run, str(path)).to_dict()["texts"] == 1


def test_other_names_are_asked_for(run, tmp_path):
    with pytest.raises(RecipeError, match="no usable text") as refusal:
        regard.evaluate(run, objects(tmp_path / "b.jsonl", ("x", "y")))
    assert "#said,judged" in refusal.value.hint
