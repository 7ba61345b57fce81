"""What is known of a picture beyond its pixels: its file, colours that it lost, and the ground it lies on."""

import json

import numpy as np
import pytest
from PIL import Image as Pillow

from regard.data.fields import Image
from regard.data.fields.read_picture import ReadPicture, border_brightness, like, picture_words

RED = np.zeros((4, 6, 3), np.uint8)
RED[1:3, 2:4, 0] = 200
GREY = np.full((4, 6, 3), 90, np.uint8)


def learnt(pictures) -> Image:
    """As a run has it that was read from its folder."""
    taught, field = Image("image"), Image("image")
    taught.learn([taught.read(one) for one in pictures])
    field.load(taught.to_json())
    return field


def on(ground: int, mark: int) -> np.ndarray:
    """A mark in the middle of a ground."""
    picture = np.full((6, 6), ground, np.uint8)
    picture[2:4, 2:4] = mark
    return picture


def test_a_picture_of_a_file_is_called_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Pillow.fromarray(GREY[..., 0]).save("seven.png")
    field = Image("image")
    assert field.show(field.accept("seven.png")) == "seven.png (6x4 grey picture)"
    assert field.show(field.accept(GREY)) == "6x4 grey picture"
    padded = np.pad(field.accept("seven.png"), [(1, 1), (1, 1), (0, 0)])
    assert picture_words(like(padded, field.accept("seven.png"))) == "seven.png (8x6 grey picture)"
    assert picture_words(np.zeros((2, 3, 3), np.uint8)) == "3x2 coloured picture"


def test_colours_that_are_lost_are_told(tmp_path):
    grey, coloured = Image("image"), Image("image", channels=3)
    pictures = [RED, GREY, RED]
    (said,) = grey.doubts([grey.read(one) for one in pictures])
    assert said.startswith("2 of 3 pictures have colours, and are seen in grey")
    assert "task.channels=3" in said
    assert grey.doubts([grey.read(GREY)]) == []
    assert coloured.doubts([coloured.read(one) for one in pictures]) == []
    (said,) = grey.doubts([grey.read(RED)])
    assert said.startswith("the picture has colours, and is seen in grey")


def test_pixels_that_others_are_made_of_keep_what_is_known():
    picture = ReadPicture.of(RED, file="a.png", lost_colours=True)
    assert (picture[1:].file, picture[1:].lost_colours) == ("a.png", True)
    assert np.array_equal(np.asarray(picture), RED)


def test_the_border_is_the_outermost_pixels():
    assert border_brightness(on(0, 255)[..., None]) == 0
    assert border_brightness(on(255, 0)[..., None]) == 1
    assert border_brightness(np.full((1, 1, 3), 51, np.uint8)) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("ground", "mark", "said"),
    [
        (10, 240, "has a bright ground, and those that the run learnt from have a dark one"),
        (245, 10, "has a dark ground, and those that the run learnt from have a bright one"),
    ],
)
def test_a_ground_that_is_the_opposite_of_what_was_learnt_is_told(ground, mark, said):
    field = learnt([on(ground + shade, mark) for shade in range(10)])
    assert field.doubts([field.accept(on(ground, 128))]) == []
    (told,) = field.doubts([field.accept(on(mark, ground))])
    assert said in told
    assert "Give it inverted" in told
    (told,) = field.doubts([field.accept(on(mark, ground)), field.accept(on(ground, mark))])
    assert told.startswith("1 of 2 pictures have")


def test_nothing_is_said_where_grounds_differed_or_are_not_known():
    field = learnt([on(shade, 0) for shade in (0, 90, 200, 250)])
    assert field.doubts([field.accept(on(0, 255)), field.accept(on(255, 0))]) == []
    known = json.loads(learnt([on(0, 255)]).to_json())
    del known["ground"]  # of a run of an earlier version
    field.load(json.dumps(known))
    assert field.doubts([field.accept(on(255, 0))]) == []


@pytest.mark.parametrize("ground", [[0.1], ["a", 1], [2, 0], [0.5, -1], {}, 3])
def test_a_ground_that_is_none_is_refused(ground):
    known = json.loads(learnt([on(0, 255)]).to_json())
    with pytest.raises(ValueError, match="ground"):
        Image("image").load(json.dumps({**known, "ground": ground}))
