"""A picture: from files, arrays and lists to pixels; damaged and hostile ones are refused in words."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest
import torch
from lives import batch_of, reloaded, stored
from PIL import Image as Pillow

from regard.data import picture_files
from regard.data.examples import read_examples
from regard.data.fields import Image, Label, Unusable
from regard.data.fields import image as image_field
from regard.data.problems import Problems

GREY = np.array([[0, 51], [102, 255]], np.uint8)
COLOURS = np.stack([GREY, GREY.T, 255 - GREY], -1)


def png(picture: Pillow.Image, kind: str = "PNG", **settings) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **settings)
    return file.getvalue()


def uri(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def pixels(value: np.ndarray) -> list:
    return value.squeeze(-1).tolist() if value.shape[-1] == 1 else value.tolist()


@pytest.mark.parametrize(
    "cell",
    [
        GREY,
        GREY.tolist(),
        GREY[:, :, None],
        GREY[None],
        GREY.astype(">i8"),
        (GREY / 255).tolist(),
        (GREY / 255).astype(np.float32),
        GREY.astype(np.float32),  # bytes that became floats on their way
        GREY.astype(float).tolist(),
        png(Pillow.fromarray(GREY)),
        png(Pillow.fromarray(GREY.astype(np.uint16) * 257)),
        png(Pillow.fromarray(GREY).convert("RGB")),
        png(Pillow.fromarray(GREY).convert("LA")),
        png(Pillow.fromarray(GREY).convert("P")),
        uri(png(Pillow.fromarray(GREY))),
        f" {uri(png(Pillow.fromarray(GREY)), 'jpeg')}\n",  # the bytes say what they are
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_is_the_same_picture(cell):
    assert pixels(Image("image").read(cell)) == GREY.tolist()
    coloured = Image("image", channels=3).read(cell)
    assert coloured.tolist() == np.stack([GREY] * 3, -1).tolist()
    assert coloured.dtype == np.uint8


@pytest.mark.parametrize(
    "cell",
    [
        COLOURS,
        COLOURS.tolist(),
        png(Pillow.fromarray(COLOURS)),
        png(Pillow.fromarray(COLOURS).convert("RGBA")),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_is_the_same_picture_in_colour(cell):
    assert Image("image", channels=3).read(cell).tolist() == COLOURS.tolist()
    grey = np.asarray(Pillow.fromarray(COLOURS).convert("L"))
    assert pixels(Image("image").read(cell)) == grey.tolist()


def test_modes_of_files():
    read = Image("image", channels=3).read
    clear = Pillow.new("RGBA", (2, 1), (255, 0, 0, 0))
    assert read(png(clear)).tolist() == [[[255, 255, 255]] * 2]  # nothing to see is white
    marked = Pillow.new("P", (1, 1), 0)
    marked.putpalette([10, 20, 30])
    assert read(png(marked)).tolist() == [[[10, 20, 30]]]
    assert read(png(marked, transparency=0)).tolist() == [[[255, 255, 255]]]
    for shade in (Pillow.new("L", (1, 1), 9), Pillow.new("1", (1, 1), 0)):
        assert pixels(Image("image").read(png(shade, transparency=shade.getpixel((0, 0))))) == [
            [255]
        ]
    bits = Pillow.fromarray(np.array([[0, 255]], np.uint8)).convert("1")
    assert pixels(Image("image").read(png(bits))) == [[0, 255]]
    for mode in ("CMYK", "RGB", "L"):
        value = read(png(Pillow.new("RGB", (8, 8), (200, 200, 200)).convert(mode), "JPEG"))
        assert np.abs(value.astype(int) - 200).max() < 6
    turned = Pillow.new("RGB", (4, 2))
    exif = turned.getexif()
    exif[0x0112] = 6  # a quarter turn
    assert read(png(turned, "JPEG", exif=exif)).shape == (4, 2, 3)


def test_a_size_is_stretched_to():
    field = Image("image", size=(2, 4))
    assert field.read(np.zeros((9, 9), np.uint8)).shape == (2, 4, 1)
    assert field.read(png(Pillow.new("L", (9, 3)))).shape == (2, 4, 1)
    assert pixels(field.read(np.full((20, 20), 77, np.uint8))) == [[77] * 4] * 2


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width: int, height: int) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")
    )


def animated() -> bytes:
    frames = [Pillow.new("L", (2, 2), shade) for shade in (0, 200)]
    return png(frames[0], save_all=True, append_images=frames[1:])


WHOLE = png(Pillow.effect_noise((64, 64), 90))


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (WHOLE[: len(WHOLE) // 2], "a damaged picture"),
        (WHOLE[:20], "a damaged picture"),
        (b"", "a damaged picture"),
        (b"GIF89a" + bytes(40), "a file in GIF, neither PNG nor JPEG"),
        (png(Pillow.new("L", (2, 2)), "BMP"), "a file in BMP"),
        (bomb(50_000, 50_000), "over 67,108,864 pixels"),
        (bomb(10_000, 9_000), "over 67,108,864 pixels"),
        (bomb(0, 9), "a damaged picture"),
        (bomb(9_000, 7_000), "a damaged picture"),
        (animated(), "an animated picture"),
        (uri(animated()), "an animated picture"),
        (uri(b"GIF89a" + bytes(40)), "a file in GIF"),
        (uri(b"a text, renamed"), "neither PNG nor JPEG"),
        ("data:image/png;base64,%%%", "without base64"),
        ("data:image/png,AAAA", "without base64"),
        ("data:image/png;base64", "without base64"),
        (base64.b64encode(WHOLE).decode(), "write data:image/png;base64, before it"),
        (b"RIFF0000WEBPVP8 " + bytes(9), "a file in WebP"),
        (b"\0\0\0\x18ftypheic" + bytes(9), "a file in HEIC or AVIF"),
        (b'<?xml version="1.0"?>\n<svg width="9"></svg>', "a file in SVG"),
        (np.zeros((2, 2, 2, 2)), "no picture"),
        (np.zeros((2, 2, 4), np.uint8), "no picture"),
        (np.zeros((0, 2), np.uint8), "no picture"),
        (np.zeros(4), "no picture"),
        ([[0, 256]], "from 0 to 255"),
        ([[0, -1]], "from 0 to 255"),
        ([[0.0, 1.5]], "from 0 to 1"),
        ([[0.0, 256.0]], "whole numbers from 0 to 255"),
        ([[0.0, float("nan")]], "from 0 to 1"),
        ([[0, 10**30]], "not numbers"),
        ([["a"]], "not numbers"),
        ([[1, 2], [3]], "not all of one length"),
        ([[None]], "not numbers"),
        (None, "not numbers"),
        ({"a": 1}, "not numbers"),
        (3, "no picture"),
    ],
    ids=str,
)
def test_what_is_refused(cell, said):
    with pytest.raises(Unusable, match=said):
        Image("image").read(cell)


def test_nested_deeper_than_python_goes():
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(Unusable):
        Image("image").read(deep)


def test_every_cut_of_a_file_is_refused_or_read():
    for kind in ("PNG", "JPEG"):
        whole = png(Pillow.effect_noise((16, 16), 90), kind)
        for end in range(0, len(whole), 7):
            with suppress(Unusable):
                assert Image("image").read(whole[:end]).shape == (16, 16, 1)


def test_too_large_to_keep_without_a_size(monkeypatch):
    monkeypatch.setattr(image_field, "MOST_PIXELS", 100)
    with pytest.raises(Unusable, match="which no size is given for"):
        Image("image").read(np.zeros((11, 10), np.uint8))
    assert Image("image", size=(2, 2)).read(np.zeros((11, 10), np.uint8)).shape == (2, 2, 1)
    monkeypatch.setattr(picture_files, "MOST_PIXELS", 100)
    with pytest.raises(Unusable, match="over 100 pixels"):
        Image("image", size=(2, 2)).read(png(Pillow.new("L", (11, 10))))


def test_one_that_was_sent_has_fewer_pixels():
    large = png(Pillow.new("L", (2049, 2048)))
    assert Image("image", size=(2, 2)).accept(large).shape == (2, 2, 1)
    for cell in (large, uri(large), bomb(50_000, 50_000)):
        with pytest.raises(Unusable, match="over 4,194,304 pixels"):
            Image("image", size=(2, 2)).accept(cell, files=False)
    assert picture_files.count_pixels(large) == 2049 * 2048
    assert picture_files.count_pixels(bomb(50_000, 50_000)) > picture_files.MOST_PIXELS
    assert picture_files.count_pixels(b"no picture") == 0


def test_one_that_is_asked_about_is_stretched_to_the_size_that_was_learnt():
    field = Image("image")
    field.learn([field.read(GREY)])
    assert field.accept(np.full((9, 5), 77, np.uint8)).shape == (2, 2, 1)
    assert field.read(np.zeros((9, 5), np.uint8)).shape == (9, 5, 1)  # one of a corpus is not


def test_files_are_looked_for_beside_the_corpus(tmp_path):
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "a.png").write_bytes(png(Pillow.fromarray(GREY)))
    (tmp_path / "pics" / "b.jpg").write_bytes(b"no picture")
    lines = [
        "pics/a.png\tx",
        "pics/c.png\ty",
        "pics/b.jpg\tx",
        "/dev/zero\ty",
        "pics\ty",
        "a\0b\tx",
    ]
    (tmp_path / "list.tsv").write_text("".join(f"{line}\n" for line in lines))
    problems = Problems()
    fields = [Image("image"), Label("label")]
    (found,) = read_examples(tmp_path / "list.tsv", fields, problems)
    assert pixels(found["image"]) == GREY.tolist()
    assert problems.lines("image lines that name a missing file") == [2, 4, 6]
    assert problems.lines("image lines that name a folder, not a picture") == [5]
    assert problems.lines(
        "image lines with a damaged picture, or what is neither PNG nor JPEG"
    ) == [3]
    with pytest.raises(Unusable, match="cannot be read here"):
        Image("image").accept(str(tmp_path / "pics" / "a.png"), files=False)
    for path in (tmp_path / "pics" / "a.png", str(tmp_path / "pics" / "a.png")):
        assert pixels(Image("image").accept(path)) == GREY.tolist()


def test_a_batch_by_hand(tmp_path):
    field = Image("image")
    other = np.full((2, 2), 51, np.uint8)
    examples = [{"image": field.read(cell)} for cell in (GREY, other)]
    field.learn(example["image"] for example in examples)
    every = np.concatenate([GREY.ravel(), other.ravel()]) / 255
    batch = batch_of(tmp_path, [field], examples)
    assert list(batch) == ["image"]
    assert (batch["image"].shape, batch["image"].dtype) == ((2, 1, 2, 2), torch.float32)
    wanted = (GREY / 255 - every.mean()) / every.std()
    torch.testing.assert_close(batch["image"][0, 0], torch.tensor(wanted, dtype=torch.float32))
    assert field.size == (1, 2, 2)
    assert stored(tmp_path, [field], examples).lengths(field) is None


def test_channels_are_scaled_each(tmp_path):
    field = Image("image", channels=3)
    value = field.read(COLOURS)
    field.learn([value])
    image = batch_of(tmp_path, [field], [{"image": value}])["image"]
    assert image.shape == (1, 3, 2, 2)
    for channel in range(3):
        plain = COLOURS[:, :, channel] / 255
        wanted = torch.tensor((plain - plain.mean()) / plain.std(), dtype=torch.float32)
        torch.testing.assert_close(image[0, channel], wanted)


def test_sizes_that_differ_are_padded_with_the_mean(tmp_path):
    field = Image("image")
    examples = [{"image": field.read(np.full(shape, 9, np.uint8))} for shape in ((2, 3), (4, 1))]
    field.learn(example["image"] for example in examples)
    batch = batch_of(tmp_path, [field], examples)
    assert batch["image"].shape == (2, 1, 4, 3)
    assert batch["image_mask"].sum((1, 2)).tolist() == [6, 4]
    assert batch["image_mask"][0].tolist() == [[True] * 3] * 2 + [[False] * 3] * 2
    assert batch["image"].abs().max() < 1e-6  # one shade, and the mean around it
    assert field.size == (1, None, None)
    assert stored(tmp_path, [field], examples).lengths(field).tolist() == [6, 4]


def test_other_sizes_than_learnt_are_not_trained_on():
    field = Image("image")
    field.learn([field.read(np.zeros((2, 3)))])
    parts = field.encode([{"image": field.read(np.zeros(shape))} for shape in ((2, 3), (3, 2))])
    assert [field.too_long(each) for each in parts] == [
        None,
        "{}lines with a picture that is not 3x2",
    ]


def test_what_is_learnt_is_saved():
    for settings in ({}, {"channels": 3}, {"size": (4, 4)}, {"standardise": False}):
        field, again = Image("image", **settings), Image("image", **settings)
        with pytest.raises(ValueError, match="learnt no mean yet"):
            field.to_json()
        field.learn([field.read(GREY), field.read(COLOURS)])
        reloaded(field, again)
        assert again.scale.mean.tolist() == field.scale.mean.tolist()
    for standardise in (True, False):
        with pytest.raises(ValueError, match="no pictures to learn from"):
            Image("image", standardise=standardise).learn([])


def test_pixels_that_are_not_standardised_stay_in_0_to_1(tmp_path):
    field, again = (Image("image", standardise=False) for _ in range(2))
    examples = [{"image": field.read(cell)} for cell in (GREY, np.full((1, 3), 255, np.uint8))]
    field.learn(example["image"] for example in examples)
    reloaded(field, again)
    image = batch_of(tmp_path, [again], examples)["image"]
    torch.testing.assert_close(image[0, 0, :, :2], torch.tensor(GREY / 255, dtype=torch.float32))
    assert image[1, 0].tolist() == [[1, 1, 1], [0, 0, 0]]  # and padding is black
    learnt = Image("image")
    learnt.learn(example["image"] for example in examples)
    with pytest.raises(ValueError, match="standardised"):
        again.load(learnt.to_json())
    assert repr(again) == "Image('image', channels=1, size=None, standardise=False)"


@pytest.mark.parametrize(
    "change",
    [
        {"channels": 3},
        {"size": [1]},
        {"size": "a"},
        {"mean": [1, 2]},
        {"mean": ["a"]},
        {"mean": None},
        {"deviation": [0]},
        {"deviation": [1e400]},
        {"deviation": [1e-300]},
    ],
    ids=str,
)
def test_what_cannot_be_loaded(change):
    asset = {"channels": 1, "size": [2, 2], "mean": [0.5], "deviation": [0.1]}
    Image("image").load(json.dumps(asset))
    with pytest.raises(ValueError, match="it"):
        Image("image").load(json.dumps(asset | change))
    with pytest.raises(ValueError, match="not about pictures"):
        Image("image").load("[]")


def test_shown_and_told_apart():
    field = Image("image")
    assert field.show(field.read(np.zeros((2, 3)))) == "3x2 grey picture"
    assert Image("i", channels=3).show(np.zeros((2, 3, 3))) == "3x2 coloured picture"
    assert field.identity(field.read(GREY)) == field.identity(field.read(GREY.tolist()))
    assert field.identity(np.zeros((2, 3, 1), "u1")) != field.identity(np.zeros((3, 2, 1), "u1"))
    for settings, said in (
        ({"channels": 2}, "1 channel"),
        ({"size": (0, 3)}, r"\(height, width\)"),
    ):
        with pytest.raises(ValueError, match=said):
            Image("image", **settings)


def test_a_folder_is_no_picture(tmp_path):
    with pytest.raises(Unusable, match="a folder, not a picture"):
        Image("image").read(tmp_path.name, tmp_path.parent)
    with pytest.raises(Unusable, match="a missing file"):
        Image("image").read("other", tmp_path)


def test_shapes_that_are_stretched_to_one_are_told():
    def doubts(*sizes: tuple[int, int]) -> list[str]:
        field = Image("image", size=(8, 8))
        values = [field.read(png(Pillow.new("L", size))) for size in sizes]
        field.learn(values)
        return field.doubts(values)

    (told,) = doubts((8, 8), (16, 8), (30, 10), (8, 16))
    assert "several shapes (8x8, 16x8, 30x10, …) are stretched to 8x8" in told
    assert doubts((16, 16), (8, 8)) == []  # larger, and as they are
    assert doubts((16, 8), (32, 16)) == []


@pytest.mark.parametrize("size", [(300, 200), (20_000, 20_000)])
def test_pixels_are_counted_before_any_is_decoded(size):
    """Also of a file with more than pillow opens, which does not say how many."""
    head = struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n"
    for kind, part in ((b"IHDR", head), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")):
        check = struct.pack(">I", zlib.crc32(kind + part))
        data += struct.pack(">I", len(part)) + kind + part + check
    assert picture_files.count_pixels(data) == size[0] * size[1]
