"""Attention over a picture: any file or array, any grid, and boxes where the model glimpsed."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from regard.looking.look import look
from regard.looking.pictures import image_uri
from regard.records.image_size import image_size
from regard.records.png_image import data_uri, encode_png
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.view.stills.png import LONGEST, MOST_PIXELS, Smaller

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 18, 3)).astype(np.uint8)
WORDS = ["a", "dog"]


def said_to_be(wide, high):
    """A PNG of a few bytes whose header says that it is so large."""
    data = encode_png(np.zeros((1, 1, 3), np.uint8))
    header = b"IHDR" + struct.pack(">II", wide, high) + data[24:29]
    return data[:12] + header + struct.pack(">I", zlib.crc32(header)) + data[33:]


def weights(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(6), size=shape).astype(np.float32)


def test_words_look_at_the_cells_of_a_grid():
    given = weights(2)
    (record,) = look(given, WORDS, image=PIXELS, grid=(2, 3), title="t").records
    shown = record.map()
    np.testing.assert_array_equal(shown.weights[0, 0], given)
    picture = record.sides[shown.keys].picture
    assert (picture.rows, picture.columns) == (2, 3)
    assert record.sides[shown.keys].tokens[4] == "row 2, column 2"
    assert (record.output, record.title) == ("a dog", "t")
    assert AttentionRecord.from_json(record.to_json()).to_json() == record.to_json()


def test_a_grid_may_be_in_the_weights_and_heads_and_layers_before_them():
    given = weights(4, 3, 2)
    (flat,) = look(given, WORDS, image=PIXELS, grid=(2, 3)).records
    (square,) = look(given.reshape(4, 3, 2, 2, 3), WORDS, image=PIXELS, grid=(2, 3)).records
    np.testing.assert_array_equal(flat.map().weights, square.map().weights)
    assert flat.map().weights.shape == (4, 3, 2, 6)


def test_a_square_need_not_be_named():
    picture = look(np.full((2, 49), 1 / 49), WORDS, image=PIXELS).records[0].sides["image"].picture
    assert (picture.rows, picture.columns) == (7, 7)


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp"])
def test_a_file_is_known_by_its_first_bytes(kind, tmp_path):
    path = tmp_path / "picture.any"
    Image.fromarray(PIXELS).save(path, kind)
    data = path.read_bytes()
    uri = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    assert image_uri(path) == image_uri(str(path)) == image_uri(data) == image_uri(uri) == uri


@pytest.mark.parametrize("array", [PIXELS, PIXELS[..., 0], np.dstack([PIXELS, PIXELS[..., :1]])])
def test_an_array_becomes_a_png_of_its_size(array):
    assert image_uri(array).startswith("data:image/png;base64,")
    assert image_size(image_uri(array)) == (18, 12)


@pytest.mark.parametrize(
    "glimpses", [[(0.1, 0.2, 0.3, 0.4)] * 2, [[(0, 0, 1, 1)], [(0, 0, 1, 1)] * 2]]
)
def test_glimpses_are_one_box_or_several_for_each_word(glimpses):
    (record,) = look(weights(2), WORDS, image=PIXELS, grid=(2, 3), glimpses=glimpses).records
    assert len(record.glimpses) == 2
    assert all(len(box) == 4 for boxes in record.glimpses for box in boxes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "6 cells are no square"),
        ({"grid": (2, 2)}, "a grid of 2 × 2 has 4 cells, but there are weights for 6"),
        ({"grid": (1, 5)}, r"class token: weights\[..., 1:\]"),
        ({"grid": (2, 3), "glimpses": [(0, 0, 1, 1)]}, "glimpses for 1 words, and 2 words"),
        ({"grid": (2, 3), "glimpses": [(0, 0, 224, 224)] * 2}, "from 0 to 1"),
        ({"grid": (2, 3), "image": PIXELS / 255}, r"astype\('uint8'\)"),
        ({"grid": (2, 3), "image": PIXELS.transpose(2, 0, 1)}, "colours last"),
        ({"grid": (2, 3), "image": b"no picture"}, "PNG, JPEG, GIF or WebP"),
        ({"grid": (2, 3), "image": b"\xff\xd8\xff\xe0rest"}, "a damaged picture"),
        ({"grid": (2, 3), "image": encode_png(PIXELS)[:300]}, "a damaged picture"),
        ({"grid": (2, 3), "image": "data:image/png;base64,?"}, "no base64"),
        ({"grid": (2, 3), "image": "data:image/png;base64,AAAA"}, "PNG, JPEG, GIF or WebP"),
        ({"grid": (2, 3), "image": said_to_be(10**5, 10**5)}, "at most 67,108,864 pixels"),
        ({"grid": (2, 3), "glimpses": 5}, "boxes for each word, not int"),
        ({"grid": (2, 3), "glimpses": [1, 2]}, "from 0 to 1; given 1"),
        ({"grid": (2, 3), "glimpses": [(0, 0, 1, np.nan)] * 2}, "from 0 to 1"),
        ({"grid": 5}, "of whole numbers, not 5"),
        ({"grid": (2.0, 3.0)}, "of whole numbers"),
        ({"grid": (2, 3, 1)}, "of whole numbers"),
    ],
)
def test_what_does_not_fit_is_told(options, said):
    with pytest.raises(NotARecord, match=said):
        look(weights(2), WORDS, **{"image": PIXELS, **options})


def test_a_record_does_not_take_a_picture_that_is_larger_than_any():
    (record,) = look(weights(2), WORDS, image=PIXELS, grid=(2, 3)).records
    given = json.loads(record.to_json())
    for data, said in (
        (said_to_be(10**5, 10**5), "this one has 100000 × 100000"),
        (said_to_be(0, 5), "this one has 0 × 5"),
        (b"\x89PNG", "this one has 0 × 0"),
    ):
        given["sides"]["image"]["picture"]["source"] = data_uri(data, "png")
        with pytest.raises(NotARecord, match=said):
            AttentionRecord.from_dict(given)


def test_a_thin_picture_is_drawn_smaller():
    thin = np.zeros((2000, 1, 3), np.uint8)
    view = look(weights(2), WORDS, image=thin, grid=(2, 3))
    with pytest.warns(Smaller, match="an .svg file keeps all"):
        drawn = view.to_png()
    with Image.open(io.BytesIO(drawn)) as opened:
        assert opened.width * opened.height <= MOST_PIXELS
        assert max(opened.size) <= LONGEST
    with Image.open(io.BytesIO(view.to_gif())) as film:
        sizes = {film.seek(n) or film.size for n in range(film.n_frames)}
    assert len(sizes) == 1
