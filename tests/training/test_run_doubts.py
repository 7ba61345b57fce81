"""Runs that will be worth little are told so before they begin."""

from __future__ import annotations

import pytest
from toy import toy_recipe, write_corpus

from regard.recipe.recipe import Schedule, Training
from regard.recipe.recipe_files import recipe_for
from regard.tasks.recipe_task import task_of
from regard.training.run import train
from regard.training.run_doubts import few_to_choose_by, planned_updates, short_for_warmup


@pytest.mark.parametrize(
    ("given", "updates"),
    [
        ({"epochs": 8}, 104),
        ({"epochs": 8, "accumulate": 4}, 32),  # 13 batches are 4 updates
        ({"epochs": 8, "steps": 50}, 50),
        ({"steps": 500}, 500),
        ({"minutes": 5}, None),
        ({"patience": 3}, None),
    ],
    ids=str,
)
def test_updates_are_counted_to_the_first_limit(given, updates):
    assert planned_updates(Training(**given), 13) == updates


def test_a_run_of_four_warm_ups_is_long_enough():
    def said(steps, warmup):
        return short_for_warmup(Training(steps=steps, schedule=Schedule(warmup=warmup)), 10)

    assert said(400, 100) is None
    assert said(1, 0) is None
    assert "has 104 updates" in said(104, 100)
    assert "training.schedule.warmup=10 " in said(104, 100)
    assert short_for_warmup(Training(minutes=1, schedule=Schedule(warmup=9)), 1) is None


def test_training_says_so(tmp_path, capsys):
    write_corpus(tmp_path, count=16)
    schedule = {"warmup": 100}
    recipe = toy_recipe(tmp_path, training={"epochs": None, "steps": 1, "schedule": schedule})
    train(recipe, tmp_path / "run", quiet=True)
    assert "training.schedule.warmup=0 is in proportion" in capsys.readouterr().err


def test_few_texts_to_choose_by(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tb\n")
    whole, part = f"{tmp_path}/a.tsv", f"{tmp_path}/a.tsv@dev"
    task = task_of(recipe_for("classify"))
    assert few_to_choose_by(task, whole, 100) is None
    said = few_to_choose_by(task, whole, 16)
    assert "dev is 16 texts" in said
    assert "data.dev=… names 100 or more" in said
    assert (
        few_to_choose_by(task, part, 16) == f"{said}; of a corpus that is split, dev is one in 50"
    )
    assert (
        few_to_choose_by(task_of(recipe_for("language")), whole, 1) is None
    )  # a text is many tokens
