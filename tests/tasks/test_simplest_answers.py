"""What the same answer to everything scores, and a model that gives one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toy_tasks import TRAINER, task_recipe, write_book, write_documents, write_labelled

from regard.recipe.recipe import Recipe
from regard.tasks.recipe_task import task_of
from regard.tasks.simplest_answers import explained, one_answer, simplest_answer
from regard.tasks.task import Task

TAGGED = "the cat sat down\tDET NOUN VERB NOUN\nit ran\tPRON VERB\nhome\tNOUN\n"
PAIRS = "left\tright\tjudgement\n" + "a cat\tit sat\tyes\n" * 3 + "a dog\tit ran\tno\n"


def learnt(recipe: Recipe) -> tuple[Task, list[Any]]:
    """The task, and its test set."""
    task = task_of(recipe)
    task.learn(recipe.data.train)
    return task, task.examples(recipe.data.test)


def of_file(folder: Path, kind: str, text: str, **options: str) -> Recipe:
    file = folder / ("a.tsv" if kind == "tag" else "a.txt")
    file.write_text(text)
    columns = "" if kind == "tag" else "#left,right,judgement"
    model = {
        "tag": {"kind": "transformer-tagger", "size": 16, "heads": 2, "inner": 16, "layers": 1},
        "match": {"kind": "bag-of-words-pair", "embedding": 8, "hidden": 8},
    }[kind]
    given = {
        "task": {"kind": kind, **options},
        "data": dict.fromkeys(("train", "dev", "test"), f"{file}{columns}"),
        "tokenizer": {"source": {"kind": "word", "size": 100}},
        "model": model,
        "trainer": TRAINER,
    }
    return Recipe.model_validate(given)


def test_it_is_the_most_frequent_label(tmp_path):
    write_labelled(tmp_path)
    task, examples = learnt(task_recipe(tmp_path, "classify"))
    labels = [example["label"] for example in examples]
    most = max(sorted(set(labels)), key=labels.count)
    found = simplest_answer(task, examples)
    assert found.name == f"always answering {most}"
    assert found.measures["accuracy"] == labels.count(most) / len(labels)
    assert 0 < found.measures["macro_f1"] < found.measures["accuracy"]


def test_it_is_the_most_frequent_tag_of_a_word(tmp_path):
    task, examples = learnt(of_file(tmp_path, "tag", TAGGED))
    found = simplest_answer(task, examples)
    assert found.said == "NOUN"
    assert found.measures == {"accuracy": 3 / 7, "sentence_accuracy": 1 / 3}


def test_it_is_the_label_of_pairs_and_nothing_where_they_are_ranked(tmp_path):
    found = simplest_answer(*learnt(of_file(tmp_path, "match", PAIRS, answer="label")))
    assert found.said == "yes"
    assert found.measures["accuracy"] == 0.75
    ranked = of_file(tmp_path, "match", PAIRS, answer="rank", right="yes")
    assert simplest_answer(*learnt(ranked)) is None


def test_it_is_the_mean_of_numbers(tmp_path):
    write_documents(tmp_path)
    task, examples = learnt(task_recipe(tmp_path, "series"))
    numbers = [task.wanted(example) for example in examples]
    mean = sum(numbers) / len(numbers)
    found = simplest_answer(task, examples)
    assert found.name == f"always answering the mean, {mean:.4g}"
    squares = [(number - mean) ** 2 for number in numbers]
    assert found.measures["mean_squared_error"] == pytest.approx(sum(squares) / len(squares))
    assert found.measures["pearson"] == 0.0
    assert explained([mean] * len(numbers), numbers) == pytest.approx(0.0)
    assert explained(numbers, numbers) == 1.0


def test_a_text_has_none(tmp_path):
    write_book(tmp_path)
    assert simplest_answer(*learnt(task_recipe(tmp_path, "blocks"))) is None


@pytest.mark.parametrize(
    ("answers", "wanted", "said"),
    [
        (["a", "a", "a"], ["a", "b", "a"], "a"),
        (["a", "a", "b"], ["a", "b", "a"], None),
        (["a", "a", "a"], ["a", "a", "a"], None),  # there is nothing else to answer
        ([["a", "a"], ["a"]], [["a", "b"], ["a"]], "a"),
        ([0.5, 0.5001, 0.5], [0.0, 1.0, 0.5], "about 0.5"),
        ([0.4, 0.5, 0.6], [0.0, 1.0, 0.5], None),
        ([0.4, 0.4], [("q", True), ("q", False)], None),
        ([], [], None),
    ],
)
def test_a_model_that_answers_the_same_to_everything(answers, wanted, said):
    assert one_answer(answers, wanted) == said


@pytest.mark.parametrize(
    ("kind", "wrong", "beside"),
    [
        ("classify", ["good"], "; the model answers good to everything"),
        ("classify", ["good", "bad"], None),
        ("series", [0.0], "; the model answers about 0 to everything"),
        ("series", [-3.0, 3.0, 1.0], "; R² of the model "),
    ],
)
def test_an_evaluation_says_it_beside_its_scores(tmp_path, kind, wrong, beside):
    write_labelled(tmp_path)
    write_documents(tmp_path)
    task, examples = learnt(task_recipe(tmp_path, kind))
    answers = [wrong[place % len(wrong)] for place in range(len(examples))]
    measures = task.measure(answers, examples)
    found = task.evaluation(task, "made", examples, answers, (1.0, 1.0), 1.0, measures, 0.0)
    assert found.beside.startswith("always answering ")
    assert ": accuracy " in found.beside or ": mean absolute error " in found.beside
    assert (beside in found.beside) if beside else ("the model" not in found.beside)
