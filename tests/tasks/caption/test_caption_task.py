"""Captions by recipe: learnt, gone on with, judged, answered and looked at."""

from __future__ import annotations

import base64
import json
import os
import signal

import numpy as np
import pytest
import torch
from PIL import Image as Pillow
from squares import CORNERS, caption_recipe, write_squares
from typer.testing import CliRunner

from regard.cli.app import app
from regard.looking.look import look
from regard.measures.pointing_score import Pointing
from regard.recipe.mistakes import RecipeError
from regard.recipe.recipe_files import read_recipe
from regard.records.question import BadQuestion, Question
from regard.report.run_evaluation import evaluate
from regard.runs.failures import Interrupted
from regard.runs.loaded_run import load
from regard.tasks.caption.caption_evaluation import CaptionEvaluation
from regard.tasks.recipe_task import task_of
from regard.tasks.task_module import Unanswerable
from regard.training.run import train
from regard.training.weight_update import Updater

PROMPTED = {"prompt": True, "boxes": True}


@pytest.fixture(autouse=True)
def _one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("squares")
    write_squares(folder)
    return folder


@pytest.fixture(scope="module")
def learnt(corpora, tmp_path_factory):
    recipe = caption_recipe(corpora, PROMPTED, training={"epochs": 30})
    return train(recipe, tmp_path_factory.mktemp("runs") / "squares", quiet=True)


def test_it_learns_to_say_what_the_prompt_wants_of_a_picture(learnt, corpora):
    scores = json.loads((learnt / "scores.json").read_text())["test"]
    assert scores["exact_match"] == 1.0
    assert scores["bleu"] == pytest.approx(100)
    assert scores["pointing_by_chance"] == pytest.approx(0.25)
    assert scores["weight_inside_by_chance"] == pytest.approx(0.25)
    assert scores["named"] == 12
    again = evaluate(load(learnt), str(corpora / "test.jsonl"))
    assert again.measures["weight_inside"] == pytest.approx(scores["weight_inside"], abs=1e-6)
    assert "by chance, pointing would be 25.0 %" in again.text


def test_answers_are_the_same_alone_and_among_others(learnt, corpora):
    run = load(learnt)
    examples = run.task.examples(str(corpora / "test.jsonl"))
    module = run.module
    together = run.task.predict(module, examples, attention=True, batch=5)
    for example, one in zip(examples, together, strict=True):
        (alone,) = run.task.predict(module, [example], attention=True, batch=1)
        assert alone.answer == one.answer
        assert alone.score == pytest.approx(one.score, abs=1e-5)
        torch.testing.assert_close(alone.attention, one.attention, atol=1e-5, rtol=0)
        assert one.attention.shape == (len(one.rows), 16)
        assert one.rows[-1] == "EOS"


def test_a_prompt_chooses_what_is_said(learnt, corpora):
    run = load(learnt)
    picture = str(corpora / "test0.png")
    given = run.task.given([{"image": picture, "prompt": p} for p in ("long", "short")])
    long, short = run.task.respond(run.module, given, batch=2)
    assert (long.answer, short.answer) == ("a square on the upper left", "upper left")
    assert long.to_dict()["input"] == {
        "image": f"{picture} (8x8 grey picture)",
        "prompt": "long",
    }


@pytest.mark.parametrize(
    ("task", "model"),
    [
        ({}, {}),
        ({"boxes": True}, {"attention": None}),
        ({"boxes": True}, {"attention": {"normalize": "uniform"}}),
        ({"boxes": True}, {"attention": {"normalize": "hard"}}),
        ({}, {"attention": {"normalize": "gumbel(0.5, straight_through=true)"}}),
        ({"channels": 3, "size": [9, 7]}, {"doubly_stochastic": 1.0, "norm": True}),
    ],
    ids=["plain", "none", "uniform", "hard", "gumbel", "stretched"],
)
def test_every_kind_trains_and_answers(corpora, tmp_path, task, model):
    run = train(caption_recipe(corpora, task, model), tmp_path / "run", quiet=True)
    scores = json.loads((run / "scores.json").read_text())["test"]
    if model.get("attention", {}) == {"normalize": "uniform"}:
        assert scores["pointing"] == pytest.approx(0.25)  # a look that is the same everywhere
        assert scores["weight_inside"] == pytest.approx(0.25, abs=1e-6)
    assert ("pointing" in scores) == ("boxes" in task and model.get("attention", {}) is not None)
    loaded = load(run)
    given = loaded.task.given([str(corpora / "test0.png")])
    (answer,) = loaded.task.respond(loaded.module, given, attention=True, batch=1)
    assert (answer.attention is None) == ("attention" in model and model["attention"] is None)


def test_vectors_made_elsewhere_are_described(corpora, tmp_path):
    draw = np.random.default_rng(0)
    lines = []
    for number in range(24):
        vectors = draw.normal(size=(2 + number % 3, 4)).round(3)
        lines.append({"image": vectors.tolist(), "caption": ("one thing", "another")[number % 2]})
    (tmp_path / "v.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    recipe = caption_recipe(corpora, {"input": "numbers"})
    data = recipe.data.model_copy(
        update={"train": str(tmp_path / "v.jsonl"), "dev": str(tmp_path / "v.jsonl"), "test": None}
    )
    run = load(train(recipe.model_copy(update={"data": data}), tmp_path / "run", quiet=True))
    given = run.task.given([{"image": lines[0]["image"]}])
    (answer,) = run.task.respond(run.module, given, attention=True, batch=1)
    assert answer.columns == ["1", "2"]


@pytest.mark.parametrize("normalize", ["softmax", "hard"])
def test_a_run_stopped_by_a_signal_ends_as_if_it_had_not(corpora, tmp_path, monkeypatch, normalize):
    model = {"attention": {"normalize": normalize}, "dropout": 0.2}
    training = {"epochs": 2, "checkpoint_every": 4}
    recipe = caption_recipe(corpora, {"boxes": True}, model, training)
    whole = train(recipe, tmp_path / "whole", quiet=True)
    real, calls = Updater.update, []

    def at_the_sixth(self, *batches, **options):
        calls.append(batches)
        if len(calls) == 6:
            os.kill(os.getpid(), signal.SIGTERM)
        return real(self, *batches, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Updater, "update", at_the_sixth)
        with pytest.raises(Interrupted, match="after step 6"):
            train(recipe, tmp_path / "run", quiet=True)
    run = train(recipe, tmp_path / "run", quiet=True)
    assert (run / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_bad_pictures_are_told(learnt, corpora, tmp_path):
    run = load(learnt)
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\nno")
    for picture, said in (
        (str(broken), "damaged"),
        (str(tmp_path / "none.png"), "missing file"),
        ([[0.5, 2.0]], "from 0 to 1"),
        ([[1, 2], [3]], "of one length"),
    ):
        with pytest.raises(Unanswerable, match=said):
            run.task.given([{"image": picture, "prompt": "long"}])
    with pytest.raises(Unanswerable, match="cannot be read here"):
        run.task.given([{"image": str(corpora / "test0.png"), "prompt": "long"}], files=False)


def test_lines_without_a_picture_are_left_out_of_a_corpus(corpora, tmp_path):
    rows = (corpora / "train.jsonl").read_text().splitlines()
    for name in ("train0.png", "train1.png"):
        Pillow.open(corpora / name).save(tmp_path / name)
    (tmp_path / "few.jsonl").write_text("\n".join(rows[:3]) + "\n")
    task = task_of(caption_recipe(corpora))
    problems = task.left_out(str(tmp_path / "few.jsonl"))
    assert len(list(task.read(str(tmp_path / "few.jsonl")))) == 2
    assert "missing file" in problems.report()


def test_a_table_of_paths_and_captions_is_a_corpus(corpora, tmp_path):
    Pillow.open(corpora / "train0.png").save(tmp_path / "a.png")
    (tmp_path / "mine.tsv").write_text("a.png\tupper left\n")
    (example,) = task_of(caption_recipe(corpora)).read(str(tmp_path / "mine.tsv"))
    assert example["caption"] == "upper left"
    assert example["image"].shape == (8, 8, 1)


def test_a_look_has_a_picture_for_each_word(learnt, corpora):
    run = load(learnt)
    sent = "data:image/png;base64," + base64.b64encode((corpora / "test0.png").read_bytes()).decode(
        "ascii"
    )
    text = json.dumps({"image": sent, "prompt": "long"})
    record = run.task.look(run.module, Question(text))
    (cross,) = record.maps
    assert record.output == "a square on the upper left"
    assert record.sides["caption"].tokens[:2] == ("a", "square")
    assert (record.sides["image"].picture.rows, record.sides["image"].picture.columns) == (4, 4)
    assert cross.weights.shape == (1, 1, 7, 16)
    assert cross.weights.sum(-1) == pytest.approx(np.ones((1, 1, 7)), abs=1e-5)
    (answer,) = run.task.respond(
        run.module, run.task.given([json.loads(text)]), attention=True, batch=1
    )
    assert cross.weights[0, 0] == pytest.approx(answer.attention.numpy(), abs=1e-5)
    told = run.task.look(run.module, Question(text, target="lower right"))
    assert told.output == "lower right"
    with pytest.raises(BadQuestion, match="prefix"):
        run.task.look(run.module, Question(text, prefix="a"))
    page = look(run, text).to_html()
    assert sent[:60] in page or "data:image/png;base64" in page


def test_the_commands_describe_a_picture(learnt, corpora, tmp_path):
    picture = f"{corpora / 'test1.png'}\tshort"
    runner = CliRunner()
    said = runner.invoke(app, ["predict", "-m", str(learnt), picture])
    assert said.stdout == "upper right\n", said.output
    plain = runner.invoke(app, ["predict", "-m", str(learnt), "--json", picture])
    found = json.loads(plain.stdout)
    assert found["answer"] == "upper right"
    assert found["rows"] == ["upper", "right", "EOS"]
    assert found["columns"][0] == "row 1, column 1"
    assert len(found["attention"][0]) == 16
    scored = runner.invoke(app, ["evaluate", "-m", str(learnt)])
    assert "exact match 100.00 %" in scored.output
    assert "pointing" in scored.output


def test_two_runs_can_be_compared_by_every_measure(learnt):
    run = load(learnt)
    examples = run.task.examples(run.recipe.data.test)
    judged = run.task.judge(run.module, examples)
    named = {measure.name: measure.value(counts.sum(0)) for measure, counts in judged.counts}
    scores = json.loads((learnt / "scores.json").read_text())["test"]
    for name in ("exact_match", "pointing", "weight_inside", "perplexity"):
        assert float(named[name]) == pytest.approx(scores[name], rel=1e-4)


def test_boxes_of_vectors_are_refused(corpora):
    with pytest.raises(ValueError, match="boxes are places in a picture"):
        caption_recipe(corpora, {"input": "numbers", "boxes": True})


def test_shipped_recipes_can_be_read():
    for name in ("caption", "caption-icons", "caption-emoji-zh", "caption-side", "describe"):
        assert read_recipe(name, []).task.kind == "caption"
    with pytest.raises(RecipeError, match="doubly_stochastic"):
        read_recipe("caption", ["model.doubly_stochastic=1", "model.attention.normalize=hard"])


def test_a_word_points_where_its_weights_are():
    weights = np.array([0.1, 0.2, 0.7, 0.0])  # a grid of 2 x 2
    box = (0.0, 0.5, 0.25, 0.5)  # the left half of the lower left cell
    found = Pointing.of_word(weights, box, (2, 2), (0.5, 0.5))
    assert found.inside == pytest.approx(0.35)
    assert found.inside_by_chance == pytest.approx(0.125)
    assert found.peaks == 0.0  # the middle of that cell is on the box's right edge, outside
    wide = Pointing.of_word(weights, (0.0, 0.5, 0.5, 0.5), (2, 2), (0.5, 0.5))
    assert (wide.peaks, wide.peaks_by_chance) == (1.0, 0.25)
    even = Pointing.of_word(np.full(4, 0.25), (0.0, 0.5, 0.5, 0.5), (2, 2), (0.5, 0.5))
    assert even.peaks == even.peaks_by_chance == 0.25
    both = found + wide
    assert (both.words, both.inside) == (2, pytest.approx(0.35 + 0.7))


def test_cells_that_reach_beyond_a_picture_count_what_is_in_it():
    weights = np.array([0.0, 1.0])  # two columns of 4 pixels over a picture of 5
    found = Pointing.of_word(weights, (0.8, 0.0, 0.2, 1.0), (1, 2), (1.0, 0.8))
    assert found.inside == pytest.approx(1.0)
    assert found.peaks == 1.0
    assert found.inside_by_chance == pytest.approx(0.2)


def test_all_corners_are_told_apart(learnt, corpora):
    run = load(learnt)
    given = [{"image": str(corpora / f"test{n}.png"), "prompt": "short"} for n in range(4)]
    answers = run.task.respond(run.module, run.task.given(given), batch=4)
    assert [one.answer for one in answers] == list(CORNERS)


SAID = {"red": "红色的圆", "blue": "蓝色的方块", "green": "绿色的三角"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_captions_without_spaces_are_said_word_by_word(tmp_path, language):
    """Of few captions, pieces of 2,000 tokens are whole captions."""
    lines = []
    for number, name in enumerate(list(SAID) * 8):
        Pillow.new("L", (8, 8), number).save(tmp_path / f"{number}.png")
        lines.append(f"{number}.png\t{SAID[name] if language == 'zh' else f'a {name} one'}\n")
    (tmp_path / "train.tsv").write_text("".join(lines))
    spec = str(tmp_path / "train.tsv")
    task = task_of(read_recipe("describe", [f"data.train={spec}"]))
    task.learn(spec)
    told = task.describe(task.store(spec, tmp_path / "store"))
    assert ("said by character" in told) == (language == "zh")
    if language == "zh":
        assert task.caption.tokenizer.encode(SAID["red"]).pieces == list("红色的圆")
        again = task_of(task.recipe)
        again.caption.load(task.caption.to_json())
        bleu = again.measured_by()[1]
        assert bleu.of([SAID["red"]], [SAID["red"]]) == pytest.approx(100)
        assert 0 < bleu.of([SAID["blue"]], [SAID["blue"][:4] + "圆"]) < 100
    else:
        assert task.caption.tokenizer.kind == "bpe"


@pytest.mark.parametrize(("longest", "short"), [("a dot", True), ("a dot on the left", False)])
def test_a_bleu_of_short_captions_is_no_score(corpora, longest, short):
    task = task_of(caption_recipe(corpora))
    task.caption.learn(["dot", longest])
    found = CaptionEvaluation(
        task=task,
        corpus="dev",
        examples=[{"caption": "dot"}, {"caption": longest}],
        answers=["dot", longest],
        counts=(1.0, 2.0, 2.0),
        loss=0.5,
        measures={"exact_match": 1.0, "bleu": 0.0 if short else 100.0},
        seconds=1.0,
    )
    assert any("BLEU says nothing" in note for note in found.reservations) == short
    assert any("BLEU" in score.name for score in task.scores(found)) != short
