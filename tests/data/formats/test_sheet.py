"""Sheets: one picture cut into tiles, row by row."""

from __future__ import annotations

import json
import lzma

import numpy as np
import pytest
from PIL import Image as Pillow

from regard.data.examples import read_examples
from regard.data.fields import Image, Text
from regard.data.problems import CorpusError, Problems

TILES = np.random.default_rng(0).integers(0, 256, (10, 4, 3), np.uint8)
FIELDS = [Image("image"), Text("name")]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """10 tiles 3 wide and 4 high, 4 in a row; the last two places are empty."""
    monkeypatch.chdir(tmp_path)
    whole = np.concatenate([TILES, np.zeros((2, 4, 3), np.uint8)])
    sheet = whole.reshape(3, 4, 4, 3).swapaxes(1, 2).reshape(12, 12)
    Pillow.fromarray(sheet).save("sheet.png")
    Pillow.fromarray(sheet).convert("RGB").save("colours.png")
    (tmp_path / "names.txt").write_text("".join(f"name {i}\n" for i in range(10)))
    return tmp_path


def images(found) -> np.ndarray:
    return np.stack([example["image"][..., 0] for example in found])


@pytest.mark.parametrize(
    "spec",
    ["sheet.png#3x4,names.txt", "colours.png#3x4,names.txt", ["sheet.png#3x4", "names.txt"]],
    ids=str,
)
def test_tiles_have_the_order_of_a_text(spec):
    problems = Problems()
    found = list(read_examples(spec, FIELDS, problems))
    assert np.array_equal(images(found), TILES)
    assert [example["name"] for example in found] == [f"name {i}" for i in range(10)]
    assert not problems


def test_a_sheet_alone_and_in_parts():
    assert len(list(read_examples("sheet.png#3x4", FIELDS[:1]))) == 10
    parts = (
        list(read_examples(f"sheet.png#3x4@{p}", FIELDS[:1])) for p in ("train", "dev", "test")
    )
    assert sum(map(len, parts)) == 10
    assert len(list(read_examples("sheet.png#3x4+colours.png#3x4", FIELDS[:1]))) == 20


def test_a_file_beside_it_says_the_size(tmp_path):
    for said, count in (({"tile": [3, 4]}, 10), ({"tile": [3, 4], "count": 12}, 12)):
        (tmp_path / "sheet.json").write_text(json.dumps(said))
        problems = Problems()
        assert len(list(read_examples("sheet.png,names.txt", FIELDS, problems))) == 10
        assert problems.count("image lines without a name") == count - 10
    (tmp_path / "packed.png.xz").write_bytes(lzma.compress((tmp_path / "sheet.png").read_bytes()))
    (tmp_path / "packed.json").write_text('{"tile": [3, 4]}')
    assert np.array_equal(images(read_examples("packed.png", FIELDS[:1])), TILES)
    for text, said in (
        ('{"tile": [3, 4], "count": 13}', "has 12 tiles, not the 13 that it is said to have"),
        ('{"tile": [3, 4], "count": -1}', "say how large they are"),
        ('{"tile": [0, 4]}', "say how large they are"),
        ("[" * 9999, "cannot be read as JSON"),
        ("[]", "say how large they are"),
    ):
        (tmp_path / "sheet.json").write_text(text)
        with pytest.raises(CorpusError, match=said):
            list(read_examples("sheet.png", FIELDS[:1]))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("sheet.png", r"say how large they are, as sheet\.png#28x28, or in sheet\.json"),
        ("sheet.png#5x4", "is 12x12 pixels: it cannot be cut into tiles of 5x4"),
        ("sheet.png#3", "after # comes the size of a tile, as"),
        ("sheet.png#0x4", "after # comes the size of a tile"),
        ("sheet.png#99999999999x1", "after # comes the size of a tile"),
        ("bad.png#3x4", "cannot be read as a picture: a damaged picture"),
        ("cut.png#3x4", "cannot be read as a picture"),
        ("bad.png.gz#3x4", "cannot be read as a picture"),
    ],
)
def test_mistakes_get_an_answer(tmp_path, spec, said):
    (tmp_path / "bad.png").write_bytes(b"no picture")
    (tmp_path / "bad.png.gz").write_bytes(b"no gzip")
    (tmp_path / "cut.png").write_bytes((tmp_path / "sheet.png").read_bytes()[:70])
    with pytest.raises(CorpusError, match=said):
        list(read_examples(spec, FIELDS[:1]))
    with pytest.raises(
        CorpusError, match="holds pictures alone: name a file for each of image, name"
    ):
        list(read_examples("sheet.png", FIELDS))
