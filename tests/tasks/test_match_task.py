"""Judging two texts by recipe: labels, numbers and ranks are learnt, answered, judged and looked at."""

from __future__ import annotations

import json
import random
import shlex

import numpy as np
import pytest
from small_runs import pair_run
from typer.testing import CliRunner

from regard.cli.app import app
from regard.data.fields.number_text import number_text
from regard.looking.look import look
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.records.question import BadQuestion, Question
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import load
from regard.tasks.task_module import Unanswerable
from regard.training.run import train

NOUNS, VERBS = ("cat", "dog", "bird", "man"), ("sat", "ran", "slept")
SMALL = {
    "abcnn": {"embedding": 12, "filters": 8, "width": 2, "compare": "vectors", "dropout": 0.0},
    "bcnn": {"embedding": 12, "filters": 8, "width": 2, "compare": "vectors", "dropout": 0.0},
    "self-attentive-pair": {
        "embedding": 12,
        "states": 8,
        "scoring": 8,
        "hops": 2,
        "factors": 8,
        "hidden": 12,
        "overlap": True,
        "dropout": 0.0,
    },
    "bag-of-words-pair": {"embedding": 12, "compare": "vectors", "hidden": 12, "dropout": 0.0},
}
ANSWERS = ("label", "number", "rank")


def write_pairs(path, count: int, seed: int, answer: str) -> None:
    """Two texts of a noun and a verb; they match as far as they share these."""
    draw, lines = random.Random(seed), ["id\tleft\tright\tjudgement"]
    for number in range(count):
        noun, verb = draw.choice(NOUNS), draw.choice(VERBS)
        candidates = [(noun, verb), (draw.choice(NOUNS), draw.choice(VERBS))]
        if answer == "rank":  # a question and its candidates: one right
            others = [(n, v) for n in NOUNS for v in VERBS if (n, v) != (noun, verb)]
            candidates = [(noun, verb), *draw.sample(others, 2)]
        for other, did in candidates:
            alike = (noun == other) + (verb == did)
            judged = {"label": ["no", "yes"][alike == 2], "number": 1 + 2 * alike}
            wanted = judged.get(answer, int(alike == 2))
            lines.append(f"{number}\t{number} the {noun} {verb}\tit {did} the {other}\t{wanted}")
    path.write_text("\n".join(lines) + "\n")


def recipe_of(folder, kind: str, answer: str = "label", **training) -> Recipe:
    for seed, (name, count) in enumerate((("train", 150), ("dev", 20), ("test", 20))):
        write_pairs(folder / f"{name}.txt", count, seed, answer)
    data = {part: f"{folder}/{part}.txt#left,right,judgement" for part in ("train", "dev", "test")}
    return Recipe.model_validate(
        {
            "task": {"kind": "match", "answer": answer},
            "data": data,
            "tokenizer": {"source": {"kind": "word", "size": 300}},
            "model": {"kind": kind, **SMALL[kind]},
            "training": {
                "epochs": 12,
                "batch_sentences": 16,
                "optimizer": {"lr": 0.02},
                "checkpoint_every": 7,
                **training,
            },
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )


@pytest.fixture(
    scope="module", params=[(k, "label") for k in SMALL] + [("abcnn", a) for a in ANSWERS[1:]]
)
def run(request, tmp_path_factory):
    kind, answer = request.param
    folder = tmp_path_factory.mktemp("match")
    return load(train(recipe_of(folder, kind, answer), folder / "run", quiet=True), device="cpu")


def test_it_learns_and_is_judged_by_what_fits(run):
    found = evaluate(run)
    measures = {
        "label": {"accuracy": 0.85},
        "number": {"pearson": 0.9, "spearman": 0.85},
        "rank": {"map": 0.9, "mrr": 0.9},
    }[run.recipe.task.answer]
    for name, least in measures.items():
        assert found.measures[name] > least, name
    assert run.recipe.training.metric == next(iter(measures))
    page = run.folder.report.read_text()
    if run.recipe.task.answer == "rank":  # 20 questions of 3 candidates
        assert "20 questions with a right candidate, among 60 pairs of" in found.text
        assert (found.to_dict()["questions"], found.to_dict()["pairs"]) == (20, 60)
    if run.recipe.task.answer == "label":
        assert "yes" in found.table
        assert found.to_dict()["f1"]["yes"] > 0.7
        assert "What is taken for what" in page
    assert next(iter(measures)) in (run.folder.path / "metrics.csv").read_text().splitlines()[0]


PAIR = {"first": "1 the cat sat", "second": "it sat the cat"}


def test_a_pair_is_answered_however_it_is_given(run):
    lines = ["1 the cat sat\tit sat the cat", json.dumps(PAIR)]
    answers = run.predict([PAIR, *(run.task.of_line(line) for line in lines)])
    same = answers[0].answer
    for one in answers:  # a number to what rows of a batch differ in
        assert one.answer == (same if isinstance(same, str) else pytest.approx(same, abs=1e-5))
    assert answers[0].input == PAIR
    line = answers[0].line
    match run.recipe.task.answer:
        case "label":
            assert answers[0].answer == "yes"
            assert line == "yes"
            assert 0.5 < answers[0].score <= 1
        case "number":
            assert 3 < answers[0].answer < 6
            assert line == number_text(answers[0].answer)
        case _:
            assert 0.5 < answers[0].answer <= 1
    beside = run.predict([PAIR, {"first": "the " * 9 + "man", "second": "man"}])
    assert answers[0].score == pytest.approx(beside[0].score, abs=1e-5)


def test_texts_without_words_are_answered(run):
    for pair in ({"first": "", "second": ""}, {"first": "the cat", "second": " "}):
        (answer,) = run.predict([pair], attention=True)
        assert answer.answer == answer.answer  # not NaN
        assert "nan" not in answer.line


@pytest.mark.parametrize("wrong", ["the cat", 3, {"first": "the cat"}, "{", "a\tb\tc"])
def test_what_is_no_pair_is_told(run, wrong):
    with pytest.raises(ValueError, match="example 1"):
        run.predict([run.task.of_line(wrong) if isinstance(wrong, str) else wrong])


def test_the_hint_is_json_that_can_be_answered(run):
    for wrong in ("the cat", {"first": "the cat"}):
        with pytest.raises(Unanswerable) as told:
            run.predict([wrong])
        written = shlex.split(told.value.hint)
        example = next(part for part in written if part.startswith("{"))
        (answer,) = run.predict([json.loads(example)])
        assert answer.input == {"first": "…", "second": "…"}


def test_questions_without_a_right_candidate_are_counted_apart(tmp_path):
    recipe = recipe_of(tmp_path, "bag-of-words-pair", "rank", epochs=1)
    with open(tmp_path / "test.txt", "a") as file:
        file.write("x\tnobody knows\tthis\t0\nx\tnobody knows\tthat\t0\n")
    found = evaluate(load(train(recipe, tmp_path / "run", quiet=True), device="cpu"))
    assert "20 questions with a right candidate, among 62 pairs of" in found.text
    assert "; 1 without one are left out, answered in " in found.text
    assert found.to_dict()["questions_without_right"] == 1


def test_it_is_looked_at_where_it_attends(run):
    kind, text = run.recipe.model.kind, json.dumps(PAIR)
    (answer,) = run.predict([PAIR], attention=True)
    if kind in ("bcnn", "bag-of-words-pair"):
        assert answer.attention is None
        with pytest.raises(BadQuestion, match="nothing to look at") as refused:
            look(run, text)
        assert "abcnn" in refused.value.hint
        return
    record = look(run, text).records[0]
    assert record.title == "1 the cat sat ⟷ it sat the cat"
    assert record.output.startswith(answer.line)
    shapes = {each.name: each.weights.shape for each in record.maps}
    if kind == "abcnn":
        assert shapes == {"pair": (1, 1, 4, 4), "pair windows": (1, 1, 5, 5)}
        assert answer.attention.shape == (4, 4)
        assert answer.rows == ["1", "the", "cat", "sat"]
        assert answer.columns == ["it", "sat", "the", "cat"]
        same = answer.attention[2, 3].item(), answer.attention[1, 2].item()
        assert same == pytest.approx((1.0, 1.0), abs=1e-4)  # cat and cat, the and the
        assert record.sides["first windows"].tokens[:3] == ("1", "1 the", "the cat")
    else:
        assert shapes == {"pooling first": (1, 2, 1, 4), "pooling second": (1, 2, 1, 4)}
        assert answer.columns == ["1", "the", "cat", "sat", "it", "sat", "the", "cat"]
        assert answer.attention.sum().item() == pytest.approx(2.0, abs=1e-5)
    assert json.loads(json.dumps(answer.to_dict()))["attention"]
    assert run.task.look_extent(Question(text)).source > 8
    with pytest.raises(BadQuestion, match="no words"):
        look(run, "\tthe cat")


@pytest.mark.parametrize("kind", ["abcnn", "self-attentive-pair"])
def test_a_run_in_two_starts_is_the_run_in_one(kind, tmp_path):
    whole = train(recipe_of(tmp_path, kind, epochs=2), tmp_path / "whole", quiet=True)
    for epochs in (1, 2):
        parts = train(recipe_of(tmp_path, kind, epochs=epochs), tmp_path / "parts", quiet=True)
    assert (whole / "model.safetensors").read_bytes() == (parts / "model.safetensors").read_bytes()


def test_a_right_label_that_no_candidate_has_is_told(tmp_path):
    recipe = recipe_of(tmp_path, "bag-of-words-pair", "rank")
    wrong = recipe.model_copy(update={"task": recipe.task.model_copy(update={"right": "yes"})})
    with pytest.raises(RecipeError, match="no candidate has the label 'yes': there are 0, 1"):
        train(wrong, tmp_path / "run", quiet=True)


def test_a_dev_set_that_cannot_be_ranked_is_told_before_training(tmp_path):
    recipe = recipe_of(tmp_path, "bag-of-words-pair", "rank")
    rows = (tmp_path / "dev.txt").read_text().splitlines()
    (tmp_path / "dev.txt").write_text("\n".join(row[:-1] + "0" for row in rows[1:]) + "\n")
    (tmp_path / "dev.txt").write_text(rows[0] + "\n" + (tmp_path / "dev.txt").read_text())
    with pytest.raises(RecipeError, match=r"dev\.txt.*: no question has a right candidate"):
        train(recipe, tmp_path / "run", quiet=True)
    assert not (tmp_path / "run" / "metrics.csv").exists()


@pytest.mark.parametrize(
    ("answer", "metric"), [("label", "accuracy"), ("number", "pearson"), ("rank", "map")]
)
def test_a_metric_fits_its_answer(tmp_path, answer, metric):
    recipe = recipe_of(tmp_path, "bcnn", answer)
    assert recipe.training.metric == metric
    assert Recipe.model_validate(recipe.model_dump(mode="json")) == recipe
    other = {"label": "map", "number": "accuracy", "rank": "pearson"}[answer]
    with pytest.raises(ValueError, match=f"measured by {metric}"):
        recipe_of(tmp_path, "bcnn", answer, metric=other)


def test_both_texts_have_one_tokenizer_which_is_one_file(run):
    assert run.task.fields["second"].tokenizer is run.task.fields["first"].tokenizer
    assert "it" in run.task.fields["first"].tokenizer.encode("it").pieces  # a word of the second
    assert sorted(path.name for path in run.folder.path.glob("tokenizer*")) == ["tokenizer.json"]


@pytest.mark.parametrize("data", ["paraphrase", "sick", "sick-relatedness", "answer"])
@pytest.mark.parametrize("system", ["abcnn", "bcnn", "bag-of-words"])
def test_the_recipes_are_whole(system, data):
    recipe = read_recipe(f"{system}-{data}")
    assert recipe.task.kind == "match"
    assert recipe.model.kind.removesuffix("-pair") == system
    one = read_recipe(f"abcnn-{data}").model
    for name in ("embedding", "compare", "overlap", "rest", "dropout", "hidden"):
        assert getattr(recipe.model, name) == getattr(one, name), name


def test_candidates_have_a_score_and_a_rank_among_those_of_their_question(tmp_path):
    run = pair_run("rank", tmp_path)
    pairs = [("a b", "c"), ("d", "e f"), ("a b", "a b"), ("d", "d e"), ("a b", "c"), ("A b", "g")]
    examples = [{"first": first, "second": second} for first, second in pairs]
    answers = run.predict(examples)
    for question in ("a b", "d"):
        own = [one for one in answers if one.input["first"].lower() == question]
        assert all(one.score == one.answer for one in own)
        scores = [one.answer for one in own]
        ahead = [sum(other > score + 1e-6 for other in scores) for score in scores]
        assert [one.rank for one in own] == [1 + better for better in ahead]
    assert answers[0].rank == answers[4].rank  # equals
    assert {one.rank for one in answers} > {1, 2}
    assert answers[2].to_dict()["rank"] == answers[2].rank
    assert run.task.line(answers[0]) == f"{answers[0].answer:.4f}\t{answers[0].rank}"
    assert "rank" not in pair_run("label", tmp_path).predict(examples)[0].to_dict()
    with_weights = run.predict(examples, attention=True)
    assert [one.rank for one in with_weights] == [one.rank for one in answers]


def test_the_command_prints_candidates_in_their_order_with_a_rank(tmp_path, monkeypatch):
    run = pair_run("rank", tmp_path)
    monkeypatch.setattr("regard.runs.loaded_run.load", lambda model, **_: run)
    monkeypatch.setattr("regard.cli.texts.CHUNK", 1)
    pairs = [("a b", "c"), ("d", "e f"), ("a b", "a b"), ("d", "d e")]
    rows = [json.dumps({"left": first, "right": second}) for first, second in pairs]
    (tmp_path / "rank.jsonl").write_text("\n".join(rows) + "\n")
    wanted = run.predict([{"first": first, "second": second} for first, second in pairs])
    corpus = ["predict", "-m", "x", "--data", f"{tmp_path}/rank.jsonl#left,right"]
    told = [line.split("\t") for line in CliRunner().invoke(app, corpus).stdout.splitlines()]
    assert told == [[f"{one.score:.4f}", str(one.rank)] for one in wanted]
    typed = "".join(f"{first}\t{second}\n" for first, second in pairs)
    done = CliRunner().invoke(app, ["predict", "-m", "x", "--json"], input=typed)
    assert [json.loads(line)["rank"] for line in done.stdout.splitlines()] == [
        one.rank for one in wanted
    ]


@pytest.mark.parametrize("number", [1.25e-6, 2000042.5])
def test_a_number_is_told_in_the_digits_that_it_needs(number, tmp_path):
    run = pair_run("number", tmp_path)
    run.task.number.learn(np.array([[0.999], [1.001]]) * number)
    (answer,) = run.predict([("a b", "c d")], attention=True)
    assert float(answer.line) == pytest.approx(answer.answer, rel=1e-8)
    assert answer.answer == pytest.approx(number, rel=0.1)
