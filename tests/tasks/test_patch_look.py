"""What a look at patches shows: a map over the grid of the picture, and from patch to patch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

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
