"""Runs that will be worth little are told so before they begin."""

from __future__ import annotations

import pytest
from toy import toy_recipe, write_corpus

from regard.data.fields import Field, Label, Labels, Numbers, Text
from regard.data.text_blocks import TextBlock
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Schedule, Training
from regard.recipe.recipe_files import recipe_for
from regard.tasks.recipe_task import task_of
from regard.tasks.task import Task
from regard.training.run import train
from regard.training.run_doubts import (
    ended_in_warmup,
    few_to_choose_by,
    planned_updates,
    short_for_warmup,
)


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


def test_a_run_that_ended_in_its_warm_up_was_too_short():
    def said(updates, warmup):
        training = Training(minutes=1, schedule=Schedule(warmup=warmup))
        return ended_in_warmup(training, updates, "training.minutes=1")

    assert said(600, 600) is None
    assert said(0, 0) is None
    told = said(65, 600)
    assert told.startswith("training.minutes=1 was reached at update 65,")
    assert "training.schedule.warmup=6 " in told
    assert "more training.minutes goes on" in told


@pytest.mark.parametrize("limit", [{"minutes": 0.001}, {"steps": 1}, {"epochs": 1}], ids=str)
def test_training_says_so_at_its_end(limit, tmp_path, capsys):
    write_corpus(tmp_path, count=16)
    training = {"epochs": None, "schedule": {"warmup": 1000}, **limit}
    train(toy_recipe(tmp_path, training=training), tmp_path / "run", quiet=True)
    ((name, value),) = limit.items()
    said = capsys.readouterr().err
    assert f"warning: training.{name}={value} was reached at update " in said
    assert said.count("it will have learnt little") == (name != "minutes")


def test_few_texts_to_choose_by(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tb\n")
    whole, part = f"{tmp_path}/a.tsv", f"{tmp_path}/a.tsv@dev"
    task = task_of(recipe_for("classify"))
    task.fields["label"].learn(["b", "c"])
    texts = [{"text": "a", "label": "b"}] * 100
    assert few_to_choose_by(task, whole, texts) is None
    said = few_to_choose_by(task, whole, texts[:16])
    assert "dev is 16 texts" in said
    assert "data.dev=… names 100 or more" in said
    assert (
        few_to_choose_by(task, part, texts[:16])
        == f"{said}; of a corpus that is split, dev is one in 10"
    )


def test_what_is_scored_token_by_token_needs_fewer_texts(tmp_path):
    (tmp_path / "a.txt").write_text("a\n")
    task = task_of(recipe_for("language"))
    task.text.learn(["a b"])
    long, short = (TextBlock(1, [4] * n) for n in (120, 4))
    assert few_to_choose_by(task, f"{tmp_path}/a.txt", [long]) is None
    assert "dev is 1 text:" in few_to_choose_by(task, f"{tmp_path}/a.txt", [short])


class Stars(Field):
    """A rating, as a package of its own has it."""

    parts, size, types = ("stars",), 5, ("<u1",)

    def read(self, cell, folder=None):
        return int(cell)

    def encode(self, examples):
        return [([example[self.name]],) for example in examples]

    def collate(self, several):
        raise NotImplementedError


class RatingTask(Task):
    """Nothing is said of what is scored."""

    columns = ("accuracy",)
    inputs = ("text",)

    def make_fields(self):
        return self.answered_by

    def for_training(self, model):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("kind", "cells", "enough"),
    [
        (Stars, [3], False),
        (lambda name: Numbers(name, sequence=False), [[1.0, 2.0]], False),
        (Label, ["good", "bad"], False),
        (lambda name: Labels(name, of=Text("text", kind="split")), [["A"] * 10, ["B"]], True),
        (lambda name: Text(name, kind="split"), ["c d e f g h i j k l"], True),
    ],
    ids=["a field of its own", "a number", "a label", "labels", "a text"],
)
def test_a_task_of_another_package_is_told_too(tmp_path, kind, cells, enough):
    (tmp_path / "a.tsv").write_text("a\tb\n")
    field = kind("rating")
    RatingTask.answered_by = (Text("text", kind="split"), field)
    values = [field.read(cell) for cell in cells]
    field.learn(values)
    examples = [{"text": "a b c", "rating": values[0]}] * 20
    told = few_to_choose_by(RatingTask(recipe_for("classify")), f"{tmp_path}/a.tsv", examples)
    assert (told is None) == enough
    assert enough or "dev is 20 examples" in told


def test_a_question_has_one_answer(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tb\tc\n")
    task = task_of(recipe_for("read"))
    assert task.count_scored([{}] * 9) == 9


def test_a_corpus_too_small_for_a_part_says_so(tmp_path):
    file = tmp_path / "two.tsv"
    file.write_text("aa bb\tbb aa\ncc\tcc\n")
    parts = {part: f"{file}@{part}" for part in ("train", "dev", "test")}
    said = "of 2 pairs none is left for test"
    with pytest.raises(RecipeError, match=said) as refused:
        train(toy_recipe(tmp_path, data=parts), tmp_path / "run", quiet=True)
    assert "data.test=FILES names others" in refused.value.hint
