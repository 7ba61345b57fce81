"""What is counted of every item adds up to what `evaluate` says of all of them, for every task."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy import toy_recipe, write_corpus
from toy_tasks import task_recipe, write_book, write_labelled

from regard.measures.accuracy import Accuracy
from regard.recipe.recipe_files import read_recipe
from regard.runs.loaded_run import LoadedRun, load
from regard.tasks.tag.tag_task import TagTask
from regard.tasks.task import Tally
from regard.training.run import train


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, LoadedRun]:
    folder: Path = tmp_path_factory.mktemp("judged")
    write_labelled(folder)
    write_book(folder)
    pairs = tmp_path_factory.mktemp("pairs")
    write_corpus(pairs)
    few = {"steps": 3}
    recipes = {
        kind: task_recipe(folder, kind, training=few)
        for kind in ("classify", "blocks", "lines", "masked")
    }
    recipes["translate"] = toy_recipe(pairs, training=few)
    return {
        kind: load(train(recipe, folder / kind, quiet=True), device="cpu")
        for kind, recipe in recipes.items()
    }


def whole(run: LoadedRun, examples: list) -> dict[str, float]:
    """What `evaluate` says, by the names of the measures."""
    found = run.task.evaluate(run.module, "test", examples).to_dict()
    return {name: one.get("value") if isinstance(one, dict) else one for name, one in found.items()}


@pytest.mark.parametrize("kind", ["classify", "blocks", "lines", "masked", "translate"])
def test_the_items_add_up(runs, kind):
    run = runs[kind]
    examples = run.task.examples(run.recipe.data.test)
    judged, said = run.task.judge(run.module, examples), whole(run, examples)
    assert judged.counts
    for measure, counts in judged.counts:
        assert len(counts) == len(examples)
        assert float(measure.value(counts.sum(0))) == pytest.approx(said[measure.name], rel=1e-6)
    assert {measure.name for measure, _ in judged.counts} >= set(run.task.columns)


@pytest.mark.parametrize("kind", ["classify", "blocks", "lines", "masked", "translate"])
def test_an_item_alone_counts_as_among_others(runs, kind):
    run = runs[kind]
    examples = run.task.examples(run.recipe.data.test)
    together = run.task.judge(run.module, examples)
    alone = run.task.judge(run.module, examples[3:4])
    for (_, all_of_them), (_, one) in zip(together.counts, alone.counts, strict=True):
        assert one[0].tolist() == pytest.approx(all_of_them[3].tolist(), rel=1e-4, abs=1e-4)


class OfAStranger(TagTask):
    """A task that only says how good answers are, all together."""

    columns = ("accuracy",)
    measured_by = TagTask.__mro__[1].measured_by

    def measure(self, answers, examples):
        pairs = zip(answers, (example["tags"] for example in examples), strict=True)
        right = [a == b for answer, tags in pairs for a, b in zip(answer, tags, strict=True)]
        return {"accuracy": sum(right) / len(right)}


def test_of_a_measure_of_all_answers_the_mean_over_items_is_taken(monkeypatch):
    from regard.tasks.answer import Answer

    task = OfAStranger(read_recipe("tag"))
    examples = [{"words": ["a", "b"], "tags": ["X", "Y"]}, {"words": ["c"], "tags": ["X"]}]
    answers = [Answer("", ["X", "X"]), Answer("", ["X"])]
    monkeypatch.setattr(task, "predict", lambda *_, **__: answers)
    ((measure, counts),) = task.judge(None, examples).counts
    assert (measure.name, measure.share, measure.error) == ("accuracy", True, False)
    assert counts.tolist() == [[0.5, 1.0], [1.0, 1.0]]
    assert float(measure.value(counts.sum(0))) == 0.75


class Hits(Accuracy):
    """A share whose name does not say so."""

    name = "hits"


class OfHits(TagTask):
    columns = ("hits",)

    def measured_by(self):
        return (Hits(),)


def test_a_measure_says_whether_it_is_a_share(monkeypatch):
    task = OfHits(read_recipe("tag"))
    examples = [{"words": ["a"], "tags": ["X"]}, {"words": ["b"], "tags": ["Y"]}]
    monkeypatch.setattr(task, "tally", lambda *_, **__: Tally((1.0, 2.0), [["X"], ["X"]]))
    found = task.evaluate(None, "some.tsv", examples)
    assert found.text.startswith("hits 50.00 %, loss 0.5000")
    (score,) = task.scores(found)
    assert (score.name, score.value) == ("hits, %", 50.0)
