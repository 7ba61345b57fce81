"""What a look at patches shows: a map over the grid of the picture, and from patch to patch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.models.seeing.patch_options import PatchOptions
from regard.recipe.recipe import Recipe
from regard.records.png_image import PngImage
from regard.records.question import BadQuestion, Question
from regard.tasks.recipe_task import task_of
from regard.tasks.see.see_module import See
from regard.tasks.see.see_task import SeeTask


def asked(folder: Path, **model: object) -> tuple[SeeTask, See, Question]:
    pixels = np.random.default_rng(0).integers(0, 256, (20, 12, 10), np.uint8)
    np.save(folder / "image.npy", pixels)
    (folder / "label.txt").write_text("\n".join("ab" * 10))
    data = f"{folder}/image.npy,{folder}/label.txt"
    given = {
        "kind": "patches",
        "filters": 4,
        "stages": 2,
        "size": 8,
        "patch": 4,
        "heads": 2,
        **model,
    }
    recipe = Recipe.model_validate(
        {"task": {"kind": "see"}, "data": {"train": data}, "model": given}
    )
    task = task_of(recipe)
    assert isinstance(task, SeeTask)
    task.learn(data)
    torch.manual_seed(0)
    module = task.for_training(recipe.model.build(task.sizes)).eval()
    return task, module, Question(PngImage.of(pixels[0]).source, name="one.png")


@pytest.mark.parametrize("encoder", ["cnn", "transformer"])
def test_a_label_looks_at_patches(encoder: str, tmp_path: Path) -> None:
    task, module, question = asked(tmp_path, encoder=encoder, layers=2)
    record = task.look(module, question, model="tiny")
    pooled = record.map("pooling")
    picture = record.sides["image"].picture
    assert picture is not None
    assert (picture.rows, picture.columns) == (3, 3)
    assert pooled.weights.shape == (1, 1, 1, 9)
    assert pooled.weights.sum() == pytest.approx(1, abs=1e-5)
    answer, _ = record.output.split()
    assert answer in ("a", "b")
    assert record.title == "one.png"
    names = [each.name for each in record.maps]
    assert names == (["pooling"] if encoder == "cnn" else ["pooling", "encoder"])
    if encoder == "transformer":
        assert record.map("encoder").weights.shape == (2, 2, 9, 9)
    shown = torch.from_numpy(task.taken(question.text)["image"] / 255)[None].permute(0, 3, 1, 2)
    with torch.no_grad():
        seen = module.model(shown.float())
    np.testing.assert_allclose(pooled.weights.reshape(3, 3), seen.patches[0].numpy(), atol=1e-6)


def test_each_label_has_a_hop_of_its_own(tmp_path: Path) -> None:
    task, module, question = asked(tmp_path, per_label=True)
    record = task.look(module, question)
    assert record.map("pooling").weights.shape == (1, 2, 1, 9)
    assert "a, b" in record.notes[0]


def test_where_nothing_attends_nothing_is_shown(tmp_path: Path) -> None:
    task, module, question = asked(tmp_path, pool="mean")
    with pytest.raises(BadQuestion, match="nothing to look at"):
        task.look(module, question)
    task, module, question = asked(tmp_path, pool="mean", encoder="transformer", layers=1)
    assert [each.name for each in task.look(module, question).maps] == ["encoder"]


@pytest.mark.parametrize("per_label", [False, True])
def test_an_answer_has_the_weights_of_the_look(per_label: bool, tmp_path: Path) -> None:
    task, module, question = asked(tmp_path, per_label=per_label)
    example = task.taken(question.text)
    (plain,) = task.reply(module, [example], batch=1)
    assert plain.attention is None
    (answer,) = task.reply(module, [example], attention=True, batch=1)
    assert (list(answer.rows), len(answer.columns)) == ([answer.answer], 9)
    assert answer.columns[-1] == "row 3, column 3"
    shown = task.look(module, question).map("pooling").weights[0]  # a hop for each label that asks
    hop = task.names.index(answer.answer) if per_label else 0
    np.testing.assert_allclose(answer.attention.numpy(), shown[hop], atol=1e-6)
    assert task.extent(example).weights == answer.attention.numel()


def test_without_a_pooling_it_has_those_of_the_last_layer(tmp_path: Path) -> None:
    task, module, question = asked(tmp_path, pool="mean", encoder="transformer", layers=2)
    example = task.taken(question.text)
    (answer,) = task.reply(module, [example], attention=True, batch=1)
    shown = task.look(module, question).map("encoder").weights[-1].mean(0)
    np.testing.assert_allclose(answer.attention.numpy(), shown, atol=1e-6)
    assert list(answer.rows) == list(answer.columns)
    assert task.extent(example).weights == answer.attention.numel()
    task, module, question = asked(tmp_path, pool="mean")
    (answer,) = task.reply(module, [task.taken(question.text)], attention=True, batch=1)
    assert answer.attention is None


@pytest.mark.parametrize("encoder", ["cnn", "transformer"])
@pytest.mark.parametrize("size", [(20, 12), (21, 13), (32, 32)])
def test_the_grid_is_known_beforehand(encoder: str, size: tuple[int, int]) -> None:
    options = PatchOptions(encoder=encoder, filters=4, stages=3, size=8, patch=5, heads=2)
    model = options.build({"image": (1, *size), "label": 2})
    seen = model(torch.zeros(1, 1, *size))
    assert options.grid(*size) == tuple(seen.patches.shape[1:])
