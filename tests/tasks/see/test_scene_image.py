"""The field of pictures that scenes are made of: what it keeps of them, and what it takes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from regard.data.fields import Unusable
from regard.tasks.see.scene_image import SceneImage


def numbered(count: int, shape: tuple[int, int] = (3, 4)) -> list[np.ndarray]:
    return [np.full((*shape, 1), n, np.uint8) for n in range(count)]


@pytest.mark.parametrize(("count", "kept"), [(3, 5), (10, 5), (100, 8), (57, 8)])
def test_pictures_are_kept_from_all_over(count, kept):
    field = SceneImage("image", kept=kept)
    field.learn(iter(numbered(count)))
    shades = field.bank[:, 0, 0, 0].tolist()
    steps = set(np.diff(shades).tolist())
    assert min(kept, count) <= len(shades) < 2 * kept
    assert (shades[0], len(steps)) == (0, 1)
    assert shades[-1] + steps.pop() >= count  # and one more would be past the end


def test_what_is_kept_is_saved():
    field, again = SceneImage("image", kept=4), SceneImage("image", kept=4)
    field.learn(numbered(9))
    again.load(field.to_json())
    assert again.to_json() == field.to_json()
    assert np.array_equal(again.bank, field.bank)
    none = SceneImage("image")
    none.learn(numbered(9))
    again = SceneImage("image")
    again.load(none.to_json())
    assert len(again.bank) == 0


@pytest.mark.parametrize(
    "change",
    [{"bank": "!"}, {"bank": ""}, {"kept": 3}, {"kept": -1}, {"kept": 10**9}, {"bank": None}],
    ids=str,
)
def test_what_cannot_be_loaded(change):
    field = SceneImage("image", kept=4)
    field.learn(numbered(5))
    with pytest.raises(ValueError, match="it"):
        SceneImage("image").load(json.dumps(json.loads(field.to_json()) | change))


def test_pictures_of_several_sizes_are_refused_unless_a_size_is_given():
    mixed = [*numbered(2), *numbered(2, (5, 5))]
    with pytest.raises(ValueError, match=r"task\.size="):
        SceneImage("image").learn(mixed)
    field = SceneImage("image", size=(4, 4))
    field.learn([field.read(each[..., 0]) for each in mixed])
    assert field.size == (1, 4, 4)


def test_what_is_asked_about_is_a_scene_or_is_stretched():
    field = SceneImage("image")
    field.learn(numbered(2))
    field.scene = (9, 8)
    scene = np.random.default_rng(0).integers(0, 256, (9, 8)).astype(np.uint8)
    assert np.array_equal(field.accept(scene)[..., 0], scene)
    assert field.accept(np.zeros((30, 30), np.uint8)).shape == (3, 4, 1)
    with pytest.raises(Unusable, match="cannot be read here"):
        field.accept("digit.png", files=False)
    with pytest.raises(Unusable, match="no picture"):
        field.accept([1, 2, 3])
    both = SceneImage("image", beside=2)
    both.learn(numbered(2))
    assert both.accept(np.zeros((30, 30), np.uint8)).shape == (3, 8, 1)


def test_a_held_out_picture_of_another_size_cannot_be_judged():
    field = SceneImage("image")
    field.learn(numbered(2))
    field.check_known(numbered(1)[0])
    with pytest.raises(ValueError, match="of 5x2 pixels, where those to learn from have 4x3"):
        field.check_known(np.zeros((2, 5, 1), np.uint8))
