"""What is shown of how a picture was named: glimpses, windows and warps, as the model had them."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from PIL import Image as Pillow
from scribbles import MODELS, scribbles, see_recipe, write_scribbles

from regard.records.png_image import data_uri
from regard.records.question import BadQuestion, Question
from regard.records.record import AttentionRecord
from regard.records.sights import Canvases, Glimpses, Warps
from regard.tasks.recipe_task import task_of
from regard.training.run_preparation import make_module

WHOLE = ("stn-none", "cnn", "cnn-shallow")  # which see all at once
SIGHTS = {"ram": Glimpses, "ws-ram": Glimpses, "window-reader": Canvases, "stn": Warps}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scribbles")
    write_scribbles(folder)
    return folder


def asked(image: np.ndarray) -> str:
    file = io.BytesIO()
    Pillow.fromarray(image).save(file, "PNG")
    return data_uri(file.getvalue(), "png")


def looked(corpora, model: str, **task):
    recipe = see_recipe(corpora, model, task=task)
    made = task_of(recipe)
    made.learn(recipe.data.train)
    torch.manual_seed(0)
    module = make_module(made).eval()
    image = scribbles(1, seed=3)[0][0]
    record = made.look(module, Question(asked(image), name="scribble.png"), model="runs/x")
    (answer,) = made.respond(module, made.given([image]), batch=1)
    return record, answer, module, image


@pytest.mark.parametrize("model", [name for name in MODELS if name not in WHOLE])
def test_what_is_shown_is_what_was_answered(corpora, model):
    record, answer, module, image = looked(corpora, model, view="translated", ground=20)
    kind = next(kind for name, kind in SIGHTS.items() if model.startswith(name))
    assert isinstance(record.sight, kind)
    assert record.title == "scribble.png"
    assert record.output == f"{answer.answer} ({answer.score:.2f})"
    assert (record.sight.image.width, record.sight.image.height) == (20, 20)
    shown = np.asarray(Pillow.open(io.BytesIO(record.sight.image.data)))
    assert np.array_equal(shown[4:16, 4:16], image)
    if isinstance(record.sight, Warps):
        assert len(record.sight.warps) == len(module.model.network.transformer.locators)
    else:
        steps = record.sight.steps
        last = steps[-1].beliefs
        assert sum(last) == pytest.approx(1)
        assert max(last) == pytest.approx(answer.score, abs=1e-5)
    if isinstance(record.sight, Glimpses):
        assert [(step.x, step.y) for step in record.sight.steps] == list(answer.places)
    again = AttentionRecord.from_json(record.to_json())
    assert again.to_json() == record.to_json()


def test_a_glimpse_shows_what_the_retina_saw(corpora):
    record, _, module, image = looked(corpora, "ram")
    step = record.sight.steps[1]
    pictures = torch.from_numpy(image / 255).float()[None, None]
    places = torch.tensor([[step.x, step.y]])
    wanted = module.model.network.retina(pictures, places)[0]
    assert record.sight.widths == (4, 8)
    for number, each in enumerate(step.seen):
        pixels = np.asarray(Pillow.open(io.BytesIO(each.data))) / 255
        np.testing.assert_allclose(pixels, wanted[number].numpy(), atol=0.5 / 255 + 1e-6)


def test_both_digits_of_a_sum_are_shown(corpora):
    record, *_ = looked(corpora, "stn-two", view="sum", ground=16)
    assert (record.sight.image.width, len(record.sight.warps)) == (16, 2)


@pytest.mark.parametrize("model", ["stn-none", "cnn"])
def test_who_sees_all_at_once_has_nothing_to_show(corpora, model):
    with pytest.raises(BadQuestion, match="the whole picture at once"):
        looked(corpora, model)


def test_what_is_no_picture_is_told(corpora):
    recipe = see_recipe(corpora, "ram")
    task = task_of(recipe)
    task.learn(recipe.data.train)
    module = make_module(task).eval()
    for text, said in (
        ("hello", "cannot be read here"),
        ("data:image/png;base64,AAAA", "damaged"),
        ("/etc/passwd", "cannot be read here"),
    ):
        with pytest.raises(ValueError, match=said):
            task.look(module, Question(text))
    with pytest.raises(BadQuestion, match="beam"):
        task.look(module, Question(asked(scribbles(1)[0][0]), beam=3))
