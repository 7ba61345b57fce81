"""Summaries by recipe: what was never seen is copied, features are tuned, all of it judged and looked at."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch

from regard.data.tokenizer import UNK
from regard.looking.look import look
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe import Recipe
from regard.recipe.recipe_files import read_recipe
from regard.records.question import Question
from regard.report.run_evaluation import evaluate
from regard.runs.loaded_run import LoadedRun, load
from regard.tasks.recipe_task import task_of
from regard.training.run import train

MODELS = {
    "pointer-generator": {"cell": "gru", "embedding": 16, "hidden": 24},
    "abs": {"embedding": 16, "hidden": 24, "extractive": True},
}


def write_pairs(path: Path, count: int, seed: int) -> None:
    """Who did it? A name of six letters, which a vocabulary of whole words will not know."""
    draw, lines = random.Random(seed), []
    for _ in range(count):
        name = "".join(draw.choices("bdklmnrt", k=6)).capitalize()
        verb, thing = draw.choice(["saw", "ate", "drew"]), draw.choice(["cats", "figs", "hens"])
        beside = draw.choice(["It rained.", "We slept.", "Nobody knew why."])
        lines.append(f"{beside} Then {name} {verb} {thing}.\t{name} {verb} {thing}\n")
    path.write_text("".join(lines))


def recipe_of(folder: Path, kind: str, **training) -> Recipe:
    for seed, (name, count) in enumerate((("train", 400), ("dev", 40), ("test", 40))):
        write_pairs(folder / f"{name}.tsv", count, seed)
    return Recipe.model_validate(
        {
            "task": {"kind": "summarise"},
            "data": {
                **{part: f"{folder}/{part}.tsv" for part in ("train", "dev", "test")},
                "source": "en",
                "target": "en",
                "max_length": 20,
            },
            "tokenizer": {"target": {"kind": "word", "size": 40}},
            "model": {"kind": kind, **MODELS[kind]},
            "training": {
                "epochs": 4 if kind == "abs" else 10,
                "batch_sentences": 16,
                "optimizer": {"lr": 0.01},
                **training,
            },
            "search": {"beam": 3, "max_length": 12},
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, LoadedRun]:
    """Trained once for all tests."""
    made = {}
    for kind in MODELS:
        folder = tmp_path_factory.mktemp(kind)
        made[kind] = load(train(recipe_of(folder, kind), folder / "run", quiet=True))
    return made


@pytest.fixture(params=MODELS)
def run(request, runs) -> LoadedRun:
    return runs[request.param]


@pytest.fixture
def pointer(runs) -> LoadedRun:
    return runs["pointer-generator"]


TEXTS = [
    "It rained. Then Zazibo ate hens.",
    "Nobody knew why. Then Quxify drew cats.",
    "We slept. Then Zazibo saw figs. It rained, and Wogusa slept.",
]


def test_names_that_were_never_seen_are_copied(pointer: LoadedRun) -> None:
    said = [one.answer for one in pointer.predict(TEXTS[:2])]
    assert said == ["Zazibo ate hens", "Quxify drew cats"]
    assert UNK in pointer.tokenizers[1].encode(said[0]).ids, "the vocabulary has no such word"


def test_one_vocabulary_for_both(run: LoadedRun) -> None:
    assert [path.name for path in run.folder.path.glob("tokenizer*")] == ["tokenizer.json"]
    source, target = run.tokenizers
    assert source.to_json() == target.to_json()


def test_together_and_alone_are_the_same(run: LoadedRun) -> None:
    together = run.translate(TEXTS, nbest=3)
    for text, one in zip(TEXTS, together, strict=True):
        (alone,) = run.translate([text], nbest=3)
        assert [p.text for p in (alone, *alone.alternatives)] == [
            p.text for p in (one, *one.alternatives)
        ]
        assert alone.score == pytest.approx(one.score, abs=1e-5)


def test_the_score_of_an_answer_is_what_it_was_found_with(run: LoadedRun) -> None:
    found = [p for one in run.translate(TEXTS, nbest=3) for p in (one, *one.alternatives)]
    found = [one for one in found if one.finished]
    assert len(found) >= 6
    scored = run.score([one.source for one in found], [one.tokens for one in found])
    for one, again in zip(found, scored, strict=True):
        assert again.score == pytest.approx(one.score, abs=1e-4)
        assert again.text == one.text
        assert again.tokens == one.tokens


def test_it_is_judged_by_rouge(run: LoadedRun) -> None:
    found = evaluate(run)
    plain = json.loads(json.dumps(found.to_dict()))
    assert 0.5 < plain["rouge1"] <= 1
    assert plain["rouge"]["rouge1"]["f1"] == pytest.approx(plain["rouge1"])
    assert {*plain["rouge"]["rougeL"]} == {"precision", "recall", "f1"}
    assert "ROUGE-1" in found.text
    assert "ROUGE-L" in (run.folder.path / "report.html").read_text("utf-8")
    counted = {
        one.name: (one, each) for one, each in run.task.judge(run.module, found.examples).counts
    }
    rouge2, each = counted["rouge2"]
    assert rouge2.value(each.sum(0)) == pytest.approx(plain["rouge2"])


def test_a_look_shows_the_source_and_what_was_copied(pointer: LoadedRun) -> None:
    record = look(pointer, TEXTS[0]).records[0]
    assert record.output == "Zazibo ate hens"
    cross = record.map("cross")
    assert cross.weights.shape[-1] == len(record.sides["source"])
    assert cross.weights.sum(-1) == pytest.approx(1.0, abs=1e-4)
    names = list(record.sides["source"].tokens)
    assert "Zazibo" in names[int(cross.weights[0, 0, 0].argmax())]
    (shares,) = [each.rows["p_gen"] for each in record.explanations if each.name == "p_gen"]
    assert len(shares) == cross.weights.shape[-2]
    assert shares[0] < 0.1, "a name that nobody knows is not said, but copied"
    assert any("Zazibo" in node.token for node in record.beam.nodes)


def test_looks_can_be_explained_and_told_what_to_write(run: LoadedRun) -> None:
    record = run.task.look(run.module, Question(TEXTS[0], explain=True))
    assert {"gradient", "leave-one-out"} <= {each.name for each in record.explanations}
    forced = run.task.look(run.module, Question(TEXTS[0], target="Zazibo saw figs"))
    assert forced.output == "Zazibo saw figs"


def test_a_long_source_is_read_up_to_a_length(run: LoadedRun) -> None:
    text = TEXTS[0] + " It rained." * 30
    (one,) = run.translate([text], attention=True)
    assert len(one.source_tokens) == 20
    assert one.attention.shape[1] == 21
    (again,) = run.translate([text + " We slept."])
    assert again.text == one.text


def test_blank_and_unknown_texts_have_answers(run: LoadedRun) -> None:
    blank, unknown = run.translate(["  ", "Ωμέγα ☃"])
    assert blank.text == ""
    assert torch.isfinite(torch.tensor(unknown.log_probs)).all()


def test_extractive_weights_are_tuned_kept_and_deterministic(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, "abs", epochs=2)
    first = load(train(recipe, tmp_path / "first", quiet=True))
    alpha = first.module.model.decoder.extractive.alpha
    again = load(train(recipe, tmp_path / "again", quiet=True))
    assert torch.equal(again.module.model.decoder.extractive.alpha, alpha)
    examples = first.task.examples(recipe.data.dev)
    tuned = first.task.tally(first.module, examples, beam=3)
    measured = first.task.validation(tuned, examples).measures["rouge1"]
    alpha.zero_()
    plain = first.task.tally(first.module, examples, beam=3)
    assert measured >= first.task.validation(plain, examples).measures["rouge1"]


def test_coverage_is_trained_by_and_not_reported(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, "pointer-generator")
    task = task_of(recipe)
    task.learn(recipe.data.train)
    module = task.for_training(recipe.model.build(task.sizes))
    examples = task.examples(recipe.data.dev)
    (_, batch), *_ = task.batches(examples, torch.device("cpu"), batch=8)
    assert batch["source"].max() >= task.source.size
    trained = module.train()(**batch)
    reported = module.eval()(**batch)
    assert trained.total > reported.total
    likely = task.likelihoods(module, examples[:8])
    rows = [task.batches(examples[:8], torch.device("cpu"))]
    whole = sum(float(module(**each).total) for found in rows for _, each in found)
    assert sum(one.nll for one in likely) == pytest.approx(whole, rel=1e-4)


def test_smoothing_is_refused_where_words_are_copied(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, "pointer-generator", label_smoothing=0.1)
    task = task_of(recipe)
    task.learn(recipe.data.train)
    with pytest.raises(RecipeError, match="label_smoothing"):
        task.for_training(recipe.model.build(task.sizes))


def test_models_that_translate_summarise_too(tmp_path: Path) -> None:
    given = recipe_of(tmp_path, "abs", epochs=1).model_dump()
    model = {"kind": "recurrent", "embedding": 8, "hidden": 8}
    made = train(Recipe.model_validate({**given, "model": model}), tmp_path / "run", quiet=True)
    assert "rouge2" in evaluate(load(made)).to_dict()


def test_chinese_by_character(tmp_path: Path) -> None:
    lines = [f"今天第{i}次下雨，大家都在家里读书。\t第{i}次下雨\n" for i in range(60)]
    (tmp_path / "pairs.tsv").write_text("".join(lines), "utf-8")
    recipe = Recipe.model_validate(
        {
            "task": {"kind": "summarise"},
            "data": {
                "train": f"{tmp_path}/pairs.tsv@train",
                "dev": f"{tmp_path}/pairs.tsv",
                "source": "zh",
                "target": "zh",
            },
            "tokenizer": {"target": {"kind": "character", "size": 12}},
            "model": {"kind": "pointer-generator", **MODELS["pointer-generator"]},
            "training": {"epochs": 8, "batch_sentences": 8, "optimizer": {"lr": 0.01}},
            "search": {"max_length": 12},
            "trainer": {"accelerator": "cpu", "threads": 1},
        }
    )
    run = load(train(recipe, tmp_path / "run", quiet=True))
    (one,) = run.translate(["今天第8次下雨，大家都在家里读书。"])
    assert "次下雨" in one.text
    assert run.task.measured_by()[0].compare("第八次", "第九次").recall == pytest.approx(2 / 3)


@pytest.mark.parametrize("given", ["[10, 6]", "[6, 6]", "[0, 6]", "[2, 4, 6]"])
def test_bounds_of_lengths_rise_and_are_two_at_most(given):
    with pytest.raises(RecipeError, match=r"task\.lengths"):
        read_recipe("pointer", [f"task.lengths={given}"])
