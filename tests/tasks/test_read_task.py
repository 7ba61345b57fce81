"""Reading by recipe: choices, markers and spans are learnt, gone on with, answered, judged and looked at."""

from __future__ import annotations

import json
import math
import random

import pytest
import torch
from small_runs import reader_run
from typer.testing import CliRunner

from regard.cli.app import app
from regard.looking.look import look
from regard.recipe.mistakes import RecipeError
from regard.recipe.named_recipes import shipped_recipes
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.records.question import BadQuestion, Question
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import load
from regard.tasks.read.read_module import Choose, likeliest_span, permuted
from regard.tasks.task_module import Unanswerable
from regard.training.run import train

PEOPLE, PLACES = ("Mary", "John", "Anna"), ("attic", "garden", "park", "wood shed")
KINDS = {
    "attentive": ("choice", 0, {"kind": "reader", "focus": "attentive"}),
    "impatient-markers": (
        "choice",
        4,
        {"kind": "reader", "focus": "impatient", "embedding": 24, "hidden": 24},
    ),
    "uniform": ("choice", 0, {"kind": "reader", "focus": "uniform"}),
    "deep-lstm": ("choice", 0, {"kind": "deep-lstm-reader"}),
    "question-self": ("choice", 0, {"kind": "reader", "question": "self", "focus": "last"}),
    "impatient-static": (
        "choice",
        0,
        {
            "kind": "reader",
            "focus": "impatient",
            "question": "general",
            "attention": {"dynamic": False},
        },
    ),
    "span-dynamic": ("span", 0, {"kind": "reader", "question": "general", "dynamic": True}),
}
LEARNT = {"attentive": 12, "impatient-markers": 30, "span-dynamic": 12}  # epochs until it can do it


def _cell(model: dict[str, object]) -> dict[str, str]:
    return {"cell": "gru"} if model["kind"] == "reader" else {}  # learns sooner


def write_stories(path, count: int, seed: int) -> None:
    draw = random.Random(seed)
    with open(path, "w") as file:
        for _ in range(count):
            people = draw.sample(PEOPLE, 2)
            where = {person: draw.choice(PLACES) for person in people}
            asked = draw.choice(people)
            row = {
                "story": " ".join(f"{who} is in the {place}." for who, place in where.items()),
                "question": f"Where is {asked}?",
                "candidates": {"candidates": PLACES, "answer": where[asked]},
                "answer": [{"text": where[asked]}, {"text": f"the {where[asked]}"}],
            }
            file.write(json.dumps(row) + "\n")


def recipe_of(folder, kind: str, **training) -> Recipe:
    answers, markers, model = KINDS[kind]
    for seed, (name, count) in enumerate((("train", 240), ("dev", 30), ("test", 30))):
        write_stories(folder / f"{name}.jsonl", count, seed)
    return Recipe.model_validate(
        {
            "task": {"kind": "read", "answers": answers, "markers": markers},
            "data": {
                **{part: f"{folder}/{part}.jsonl" for part in ("train", "dev", "test")},
                "source": "en",
            },
            "tokenizer": {"source": {"kind": "word", "size": 100, "lowercase": True}},
            "model": {"embedding": 12, "hidden": 12, "dropout": 0.0, **_cell(model), **model},
            "training": {
                "epochs": LEARNT.get(kind, 1),
                "batch_sentences": 16 if markers else 8,
                "optimizer": {"lr": 0.01},
                "checkpoint_every": 20,
                **training,
            },
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )


@pytest.fixture(scope="module", params=KINDS)
def run(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    found = load(train(recipe_of(folder, request.param), folder / "run", quiet=True), device="cpu")
    return request.param, found


def asked(run, story: str, question: str) -> dict[str, object]:
    given: dict[str, object] = {"story": story, "question": question}
    return given | ({"candidates": list(PLACES)} if "candidates" in run.task.inputs else {})


STORY = "Mary is in the park. John is in the wood shed."


def test_it_learns_and_is_judged(run):
    kind, run = run
    found = evaluate(run)
    if kind in LEARNT:
        assert min(found.measures.values()) > 0.85  # who looks anywhere has a half
    if kind in ("attentive", "span-dynamic"):
        (answer,) = run.predict([asked(run, STORY, "Where is John?")])
        assert answer.answer == "wood shed"
        assert answer.score > 0.5
    assert set(found.measures) == (
        {"f1", "exact_match"} if kind.startswith("span") else {"accuracy"}
    )
    assert "%" in run.folder.report.read_text()
    assert all(0 <= value <= 1 for value in found.measures.values())


def test_probabilities_do_not_depend_on_what_is_asked_beside(run):
    _, run = run
    examples = [
        asked(run, STORY, "Where is John?"),
        asked(run, "", "Where is the man who was in the garden yesterday?"),
        asked(run, "Anna is in the park.", ""),
    ]
    alone = [run.predict([example])[0] for example in examples]
    for one, beside in zip(alone, run.predict(examples, attention=True), strict=True):
        assert one.answer == beside.answer
        if one.answer is None:
            assert (beside.score, one.input["story"]) == (None, "")
            assert "candidates" not in run.task.inputs
        else:
            assert one.score == pytest.approx(beside.score, abs=1e-5)
            assert math.isfinite(one.score)
        assert json.loads(json.dumps(beside.to_dict()))["input"]["story"] == one.input["story"]


def test_what_was_attended_to_is_told_and_drawn(run):
    kind, run = run
    example = asked(run, STORY, "Where is John?")
    (answer,) = run.predict([example], attention=True)
    rows, maps = {
        "attentive": (["wood shed"], {"focus": (1, 14)}),
        "impatient-markers": (["Where", "is", "John", "?", "EOS"], {"focus": (5, 13)}),
        "uniform": ([answer.answer], {"focus": (1, 14)}),
        "deep-lstm": ([], {}),
        "impatient-static": ([answer.answer], {"focus": (1, 14), "question": (1, 5)}),
        "question-self": ([], {"pooling": (1, 5)}),
        "span-dynamic": (
            ["wood shed"],
            {"focus": (1, 14), "focus 2": (1, 14), "question": (14, 5), "first word": (1, 14)},
        ),
    }[kind]
    assert list(answer.rows) == rows
    if rows:
        assert answer.columns[-1] == "EOS"
        assert answer.attention.shape == (len(rows), len(answer.columns))
        torch.testing.assert_close(answer.attention.sum(-1), torch.ones(len(rows)))
    if not maps:
        with pytest.raises(BadQuestion, match="nothing to look at"):
            look(run, json.dumps(example))
        return
    record = look(run, json.dumps(example)).records[0]
    assert {each.name: each.weights.shape[-2:] for each in record.maps} == maps
    assert record.output == f"{answer.answer} ({answer.score:.2f})"
    if "focus" in maps:
        places = record.answer_places["story"]
        story = record.sides["story"].text
        assert {story[start:end] for start, end in places} == {answer.answer}
        assert len(places) == (1 if "span" in kind else story.count(answer.answer))
    if kind == "impatient-markers":  # a candidate of two words is one marker
        assert "wood shed" in record.sides["story"].tokens


@pytest.mark.parametrize("story", ["", "   ", "\n\t"])
def test_a_story_without_words_has_no_span_and_no_probability_of_one(run, story):
    kind, run = run
    example = asked(run, story, "Where is John?")
    (answer,) = run.predict([example], attention=True)
    if not kind.startswith("span"):
        assert answer.answer in PLACES
        assert 0 < answer.score <= 1
        return
    assert (answer.answer, answer.score, answer.line) == (None, None, "")
    assert run.task.line(answer) == ""
    assert json.loads(json.dumps(answer.to_dict(), allow_nan=False))["answer"] is None
    assert look(run, json.dumps(example)).records[0].output == "—"
    for measure in run.task.measured_by():
        assert measure.score(["…", "park"], None) == 0


def test_a_question_that_cannot_be_asked_is_told(run):
    _, run = run
    for text in ("Where is John?", "[1]", '{"story": "a"}', '{"story": 3, "question": "b"}'):
        with pytest.raises(Unanswerable, match="the example"):
            run.task.look_extent(Question(text))
    with pytest.raises(ValueError, match="inputs"):
        run.predict(["Where is John?"])
    assert run.task.look_extent(Question(json.dumps(asked(run, STORY, "Who?")))).source > 10


def test_the_command_prints_the_answer_and_its_probability(run):
    kind, run = run
    if kind not in ("attentive", "span-dynamic"):
        pytest.skip("it does not know all")
    example = json.dumps(asked(run, STORY, "Where is Mary?"))
    done = CliRunner().invoke(app, ["predict", "-m", str(run.folder.path), example])
    answer, probability = done.stdout.strip().split("\t")
    assert answer == "park"
    assert 0.5 < float(probability) <= 1
    done = CliRunner().invoke(
        app, ["predict", "-m", str(run.folder.path), "--data", run.recipe.data.test]
    )
    assert [line.count("\t") for line in done.stdout.splitlines()] == [0] * 30


@pytest.mark.parametrize("kind", ["impatient-markers", "deep-lstm", "span-dynamic"])
def test_a_run_in_two_starts_is_the_run_in_one(kind, tmp_path):
    """With markers, the permutations that a run would have drawn are drawn when it goes on."""
    dropped = {"dropout": 0.2, **KINDS[kind][2]}

    def started(epochs: int, name: str):
        recipe = recipe_of(tmp_path, kind, epochs=epochs)
        recipe = recipe.model_copy(update={"model": recipe.model.of(recipe.model, dropped)})
        return train(recipe, tmp_path / name, quiet=True)

    whole = started(2, "whole")
    for epochs in (1, 2):
        parts = started(epochs, "parts")
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()


class Seen(torch.nn.Module):
    """Keeps what it is asked."""

    def forward(self, story, story_mask, question, question_mask, candidates, candidates_mask):
        self.asked = story, question, candidates
        return candidates.new_zeros(candidates.shape[:2], dtype=torch.float32)


def test_markers_are_permuted_alike_in_all_texts_and_in_training_only():
    words, markers, rows = 10, 5, 40
    story = torch.tensor([[4, 10, 11, 12]]).repeat(rows, 1)
    question = torch.tensor([[5, 11]]).repeat(rows, 1)
    candidates = torch.tensor([[[10], [11], [12]]]).repeat(rows, 1, 1)
    batch = {"story": story, "question": question, "candidates": candidates}
    batch |= {f"{name}_mask": x > 0 for name, x in batch.items()}
    batch["candidates_answer"] = torch.zeros(rows, dtype=torch.int64)
    module = Choose(Seen(), words=words, markers=markers)
    drawn = []
    for _ in range(2):
        module(**batch)
        new_story, new_question, new_candidates = module.model.asked
        assert torch.equal(new_story[:, 0], story[:, 0])
        assert torch.equal(new_story[:, 2], new_question[:, 1])
        assert torch.equal(new_story[:, 1:], new_candidates[..., 0])
        assert all(len(set(row)) == 3 for row in new_story[:, 1:].tolist())
        assert set(new_story[:, 1:].flatten().tolist()) == set(range(words, words + markers))
        drawn.append(new_story)
    assert not torch.equal(*drawn)  # anew each time
    assert len({tuple(row) for row in drawn[0].tolist()}) > 5  # and for each example
    module.eval()
    module(**batch)
    assert torch.equal(module.model.asked[0], story)


def test_a_permutation_is_its_definition():
    ids, order = torch.tensor([[3, 7, 8], [9, 7, 0]]), torch.tensor([[2, 0, 1], [1, 2, 0]])
    assert permuted(ids, order, 7).tolist() == [[3, 9, 7], [7, 8, 0]]


@pytest.mark.parametrize("longest", [1, 3, 7, 30])
def test_the_likeliest_span_is_the_best_of_all_that_are_allowed(longest):
    chance = torch.Generator().manual_seed(3)
    first, last = torch.randn(2, 20, 7, generator=chance).log_softmax(-1)
    last[::2, 5:] = -torch.inf  # padding
    found = likeliest_span(first, last, longest)
    for b in range(20):
        best = max(
            (float(first[b, i] + last[b, j]), i, j)
            for i in range(7)
            for j in range(i, min(i + longest, 7))
        )
        assert (int(found.first[b]), int(found.last[b])) == best[1:]
        assert float(found.log_prob[b]) == pytest.approx(best[0])


def test_what_is_wrong_with_a_recipe_is_told(tmp_path):
    recipe = recipe_of(tmp_path, "attentive").model_dump()
    recipe["training"]["metric"] = "f1"
    with pytest.raises(ValueError, match="measured by accuracy or loss"):
        Recipe.model_validate(recipe)
    rows = (tmp_path / "dev.jsonl").read_text()
    (tmp_path / "dev.jsonl").write_text(rows.replace('"answer": "attic"', '"reply": "attic"', 1))
    with pytest.raises(RecipeError, match=r"dev\.jsonl, line \d+: .*says not which"):
        train(recipe_of_files(tmp_path), tmp_path / "run", quiet=True)


def recipe_of_files(folder) -> Recipe:
    """With the files as they are there."""
    kept = {path: path.read_text() for path in folder.glob("*.jsonl")}
    recipe = recipe_of(folder, "attentive")
    for path, text in kept.items():
        path.write_text(text)
    return recipe


@pytest.mark.parametrize("name", [name for name in shipped_recipes() if name.startswith("reader-")])
def test_the_recipes_are_whole(name):
    recipe = read_recipe(name)
    assert (recipe.task.kind, recipe.name) == ("read", name)
    assert recipe.training.metric == ("accuracy" if recipe.task.answers == "choice" else "f1")
    recipe.model.build({"story": 9, "question": 9, **_answers(recipe)})


def _answers(recipe) -> dict[str, int]:
    return {"candidates": 9} if recipe.task.answers == "choice" else {"answer": 2}


def test_a_file_with_the_trained_columns_is_read_by_their_names(tmp_path):
    run = reader_run(tmp_path)
    data = run.task.recipe.data.model_copy(update={"train": "a.jsonl#text,ask,found"})
    run.task.recipe = run.task.recipe.model_copy(update={"data": data})
    file = tmp_path / "b.jsonl"
    file.write_text(json.dumps({"text": "a b", "ask": "c", "found": "a"}))
    with pytest.raises(RecipeError, match="line without two candidates"):  # found is read as them
        evaluate(run, str(file))
    file.write_text(json.dumps({"text": "a b", "ask": "c"}))
    with pytest.raises(RecipeError, match="1 line without a value 'story'") as error:
        evaluate(run, str(file))
    assert f"{file}#text,ask,found" in error.value.hint
    with pytest.raises(RecipeError) as error:  # the names were given
        evaluate(run, f"{file}#text,ask,ask")
    assert "the run was trained" not in error.value.hint


def test_answers_in_the_story_are_told_to_be_spans(tmp_path):
    write_stories(tmp_path / "a.jsonl", 3, seed=0)
    spec = f"{tmp_path}/a.jsonl#story,question,answer"
    recipe = read_recipe("reader-attentive", [f"data.train={spec}"])
    with pytest.raises(RecipeError, match="candidates' lines without") as error:
        train(recipe, tmp_path / "run", quiet=True)
    assert "task.answers=span" in error.value.hint
    assert "reader-span" in error.value.hint
