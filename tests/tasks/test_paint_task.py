"""Pictures that are drawn: bounds by keys, scores, new pictures, looks, runs that go on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image as Pillow
from typer.testing import CliRunner

from regard.cli.app import app
from regard.layers.pictures.draws import keys_of, normal
from regard.measures.bound_measures import BoundLoss
from regard.models.seeing.draw import Draw
from regard.recipe.recipe import Recipe
from regard.records.png_image import PngImage
from regard.records.question import BadQuestion, Question
from regard.records.sights import Canvases
from regard.runs.loaded_run import LoadedRun, load
from regard.runs.model_file import load_model
from regard.runs.run_folder import RunFolder
from regard.tasks.paint.paint_module import Paint
from regard.tasks.paint.paint_task import PaintTask
from regard.tasks.recipe_task import task_of
from regard.tasks.task_module import Unanswerable
from regard.training.run import train

SIZE = (1, 7, 6)
TINY = {"kind": "draw", "steps": 3, "hidden": 12, "latent": 4, "read": 2, "write": 3}


def greys(count: int, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (count, 7, 6), np.uint8)


def images(count: int) -> torch.Tensor:
    return torch.from_numpy(greys(count) / 255)[:, None]


def module(**options: object) -> Paint:
    torch.manual_seed(0)
    model = Draw(SIZE, steps=3, features=12, latent=4, read=2, write=3)
    return Paint(model.double(), **options).eval()  # type: ignore[arg-type]


def recipe(folder: Path, **changes: object) -> Recipe:
    np.save(folder / "train.npy", greys(40))
    np.save(folder / "dev.npy", greys(10, 1))
    return Recipe.model_validate(
        {
            "task": {"kind": "paint", "samples": 3, **changes.pop("task", {})},  # type: ignore[dict-item]
            "model": {**TINY, **changes.pop("model", {})},  # type: ignore[dict-item]
            "data": {
                "train": str(folder / "train.npy"),
                "dev": str(folder / "dev.npy"),
                "test": str(folder / "dev.npy"),
            },
            "training": {
                "steps": 6,
                "batch_sentences": 16,
                "validate_every": 3,
                "checkpoint_every": 3,
                **changes.pop("training", {}),  # type: ignore[dict-item]
            },
            "trainer": {"accelerator": "cpu", "devices": 1},
        }
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    folder = tmp_path_factory.mktemp("paint")
    train(recipe(folder), folder / "run", quiet=True)
    return load(folder / "run", device="cpu")


# the chance of a score


@pytest.mark.parametrize("binary", ["sampled", "threshold", "none"])
def test_a_picture_costs_the_same_in_any_batch(binary: str) -> None:
    paint, given = module(binary=binary), images(5)
    with torch.no_grad():
        together = paint.bounds(given, 3)
        alone = [paint.bounds(each[None], 3)[0] for each in given]
        turned = paint.bounds(given.flip(0), 3)[::-1]
    for one, two, three in zip(together, alone, turned, strict=True):
        assert one.bound == pytest.approx(two.bound, abs=1e-9)
        assert one.estimate == pytest.approx(three.estimate, abs=1e-9)
    assert paint.bounds(given[:0], 3) == []


def test_pixels_are_drawn_once_by_their_grey() -> None:
    paint = module()
    torch.manual_seed(0)
    given = 0.2 + 0.2 * torch.rand(400, *SIZE)
    shown = paint.shown(given)
    assert set(shown.unique().tolist()) == {0.0, 1.0}
    assert shown.mean().item() == pytest.approx(0.3, abs=0.01)
    torch.testing.assert_close(paint.shown(given[7:9]), shown[7:9], rtol=0, atol=0)
    other = module(seed=1).shown(given)
    assert 0.3 < (other != shown).double().mean() < 0.55  # 2 · 0.3 · 0.7: strangers
    certain = torch.cat((torch.zeros(1, *SIZE), torch.ones(1, *SIZE)))
    torch.testing.assert_close(paint.shown(certain), certain.double(), rtol=0, atol=0)
    assert (module(binary="threshold").shown(given) == 0).all()
    torch.testing.assert_close(module(binary="none").shown(given), given.double())


def test_keyed_noise_is_normal() -> None:
    keys = keys_of(images(50), 3)
    numbers = normal(keys, 2001)
    assert numbers.shape == (50, 2001)
    assert numbers.isfinite().all()
    for power, moment in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)):
        assert (numbers.double() ** power).mean().item() == pytest.approx(moment, abs=0.06)
    torch.testing.assert_close(normal(keys[4:5], 2001)[0], numbers[4], rtol=0, atol=0)
    halves = numbers[:, :1000], numbers[:, 1001:2001]
    assert abs(np.corrcoef(*(x.flatten().numpy() for x in halves))[0, 1]) < 0.02


def test_an_estimate_is_below_the_bound_and_draws_matter() -> None:
    paint, given = module(), images(6)
    torch.nn.init.constant_(paint.model.mean.bias, 1.0)  # q is far from p
    with torch.no_grad():
        one, many = paint.bounds(given, 1), paint.bounds(given, 40)
    for few, more in zip(one, many, strict=True):
        assert more.estimate < more.bound
        assert few.bound != more.bound
        assert more.bound == more.reconstruction + more.divergence


def test_a_bound_is_the_mean_of_its_draws() -> None:
    paint, given = module(), images(2)
    with torch.no_grad():
        draws = [paint.drawn(given, number) for number in range(3)]
        found = paint.bounds(given, 3)
    bounds = torch.stack([draw.bound for draw in draws]).mean(0)
    weights = torch.stack([draw.weight.exp() for draw in draws]).mean(0)
    assert [one.bound for one in found] == pytest.approx(bounds.tolist())
    assert [one.estimate for one in found] == pytest.approx((-weights.log()).tolist())


def test_the_loss_of_a_batch_is_a_sum_over_its_pictures() -> None:
    paint, given = module(), images(3)
    torch.manual_seed(4)
    loss = paint(image=given)
    torch.manual_seed(4)
    noise = torch.randn(3, 3, 4, dtype=torch.double)
    torch.testing.assert_close(loss.total, paint.model(paint.shown(given), noise).bound.sum())
    assert loss.tokens.item() == 3
    assert paint.why_not_static is None
    assert list(paint.in_few_shapes({"image": given})) == ["image"]


# a run


def test_scores_are_those_of_stated_draws_and_always_the_same(run: LoadedRun) -> None:
    task, examples = run.task, run.task.examples(run.recipe.data.test)
    assert isinstance(task, PaintTask)
    first = task.evaluate(run.module, "dev", examples)
    again = task.evaluate(run.module, "dev", examples[::-1])
    assert first.loss == pytest.approx(again.loss, abs=1e-4)
    plain = first.to_dict()
    assert plain["loss"] == pytest.approx(plain["reconstruction"] + plain["divergence"])
    assert plain["samples"] == 3
    assert plain["pictures"] == 10
    assert plain["estimate"] < plain["loss"]
    assert math.isfinite(plain["estimate"])
    judged = {
        one.name: one.value(counts.sum(0))
        for one, counts in task.judge(run.module, examples).counts
    }
    assert judged["loss"] == pytest.approx(first.loss, abs=1e-4)
    assert judged["divergence"] == pytest.approx(first.measures["divergence"], abs=1e-4)
    assert BoundLoss.error
    answers = run.predict(greys(2, 1))
    assert [-answer.score for answer in answers] == [answer.answer for answer in answers]
    assert task.line(answers[0]) == f"{answers[0].answer:.2f} nats"


def test_the_best_checkpoint_is_that_of_the_least_bound(run: LoadedRun) -> None:
    assert run.recipe.training.metric == "loss"
    text = run.folder.metrics.read_text()
    header = text.splitlines()[0].split(",")
    assert {"dev_loss", "dev_reconstruction", "dev_divergence"} <= set(header)
    assert "reconstruction" in run.folder.scores.read_text()
    page = run.folder.report.read_text()
    assert (
        page.count('<img src="data:image/png;base64,') > 1
    )  # a sheet of new ones, and the dearest
    assert "The pictures that cost most" in page


def test_a_run_that_goes_on_is_one_that_never_stopped(tmp_path: Path) -> None:
    whole = train(recipe(tmp_path), tmp_path / "whole", quiet=True)
    train(recipe(tmp_path, training={"steps": 3}), tmp_path / "parts", quiet=True)
    parts = train(recipe(tmp_path), tmp_path / "parts", quiet=True)
    one, two = (load_model(RunFolder(path))[0].state_dict() for path in (whole, parts))
    for name, weight in one.items():
        torch.testing.assert_close(weight, two[name], rtol=0, atol=0)


def test_recorded_updates_are_the_same(tmp_path: Path) -> None:
    plain = train(recipe(tmp_path), tmp_path / "plain", quiet=True)
    given = recipe(tmp_path)
    recorded = given.model_copy(
        update={"trainer": given.trainer.model_copy(update={"compile": "graphs"})}
    )
    other = train(recorded, tmp_path / "recorded", quiet=True)
    one, two = (load_model(RunFolder(path))[0].state_dict() for path in (plain, other))
    for name, weight in one.items():
        torch.testing.assert_close(weight, two[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("attention", ["windows", "none"])
def test_models_have_the_parts_that_their_options_say(attention: str, tmp_path: Path) -> None:
    given = recipe(tmp_path, model={"attention": attention})
    network = given.model.build({"image": SIZE})
    assert (network.read, network.write) == ((2, 3) if attention == "windows" else (None, None))
    plain = given.model.without_attention("attention")
    assert plain is not None
    assert plain.build({"image": SIZE}).read is None


# new pictures, and looks


def test_new_pictures_are_told_by_a_seed(run: LoadedRun) -> None:
    many, few = run.imagine(5, seed=3), run.imagine(2, seed=3)
    assert many.shape == (5, 7, 6, 1)
    assert many.dtype == np.uint8
    np.testing.assert_array_equal(many[:2], few)
    assert (run.imagine(2, seed=4) != few).any()
    assert (many[0] != many[1]).any()


def test_pictures_are_written_as_a_sheet_or_each(run: LoadedRun, tmp_path: Path) -> None:
    def command(*words: str) -> str:
        result = CliRunner().invoke(app, ["generate", "-m", str(run.folder.path), *words])
        assert result.exit_code == 0, result.output
        return result.output

    command("--count", "5", "--seed", "3", "-o", str(tmp_path / "sheet.png"))
    sheet = np.asarray(Pillow.open(tmp_path / "sheet.png"))
    assert sheet.shape == (2 * 9 + 2, 3 * 8 + 2)
    np.testing.assert_array_equal(sheet[2:9, 2:8], run.imagine(1, seed=3)[0, ..., 0])
    np.testing.assert_array_equal(sheet[11:18, 10:16], run.imagine(5, seed=3)[4, ..., 0])
    command("--count", "2", "--seed", "3", "-o", str(tmp_path / "each"))
    one = np.asarray(Pillow.open(tmp_path / "each" / "0002.png"))
    np.testing.assert_array_equal(one, run.imagine(2, seed=3)[1, ..., 0])
    for wrong in (["-o", "x.jpg"], [], ["a prompt", "-o", "x.png"]):
        result = CliRunner().invoke(app, ["generate", "-m", str(run.folder.path), *wrong])
        assert result.exit_code == 2, wrong


def test_a_look_has_the_canvas_and_the_windows_of_every_step(run: LoadedRun) -> None:
    picture = greys(1, 5)[0]
    question = Question(PngImage.of(picture).source, name="digit.png")
    record = run.task.look(run.module, question, model="tiny")
    assert isinstance(record.sight, Canvases)
    assert record.title == "digit.png"
    steps = record.sight.steps
    assert len(steps) == 3
    assert all(step.read.count == 2 and step.write.count == 3 for step in steps)
    assert all((step.canvas.width, step.canvas.height) == (6, 7) for step in steps)
    samples = run.task.options.samples
    (answer,) = run.predict([picture])  # the same nats: a mean of as many draws
    assert record.output.startswith(f"{run.task.line(answer)}: ")
    assert samples > 1
    assert f"the nats are the mean of {samples} draws; the first is shown" in record.notes
    with pytest.raises(BadQuestion, match="no beam"):
        run.task.look(run.module, Question(question.text, beam=2))


# what is refused


@pytest.mark.parametrize(
    "given", ["no file.png", [[1.5]], [["a"]], None, {}, "data:image/png;base64,AAAA"]
)
def test_what_is_no_picture_is_refused(run: LoadedRun, given: object) -> None:
    with pytest.raises(Unanswerable):
        run.predict([given])


def test_pictures_of_several_sizes_are_refused(tmp_path: Path) -> None:
    lines = ['{"image": [[0, 1], [2, 3]]}', '{"image": [[0, 1, 2], [2, 3, 4]]}']
    (tmp_path / "mixed.jsonl").write_text("\n".join(lines * 9))
    given = recipe(tmp_path)
    data = given.data.model_copy(
        update={"train": str(tmp_path / "mixed.jsonl"), "dev": None, "test": None}
    )
    with pytest.raises(ValueError, match=r"several sizes.*task\.size"):
        train(given.model_copy(update={"data": data}), tmp_path / "run", quiet=True)
    stretched = task_of(recipe(tmp_path, task={"size": [4, 4]}))
    assert stretched.sizes == {"image": (1, 4, 4)}


def test_a_dev_picture_of_another_size_is_told(tmp_path: Path) -> None:
    given = recipe(tmp_path)
    np.save(tmp_path / "dev.npy", np.zeros((3, 7, 7), np.uint8))
    with pytest.raises(ValueError, match="7x7, where all are 6x7"):
        train(given, tmp_path / "run", quiet=True)
