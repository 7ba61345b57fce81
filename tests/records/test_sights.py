"""Glimpses, canvases and warps survive JSON, and what is no such thing is refused with a reason."""

from __future__ import annotations

import base64
import copy
import io
import json
import struct
from typing import Any

import numpy as np
import pytest
from PIL import Image
from seen_pictures import canvases, glimpses, pixels, warps

from regard.records.png_image import MOST_PIXELS, PngImage, encode_png
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord, Picture, Side
from regard.records.sights import FilterWindow, GlimpseStep, WarpedImage

SIGHTS = {"glimpses": glimpses, "canvases": canvases, "warp": warps}


def record_of(kind: str) -> AttentionRecord:
    return AttentionRecord({}, (), title="digit.png", output="7", sight=SIGHTS[kind]())


@pytest.mark.parametrize("kind", SIGHTS)
def test_a_sight_is_the_same_after_json(kind):
    record = record_of(kind)
    again = AttentionRecord.from_json(record.to_json())
    assert again.to_json() == record.to_json()
    assert again.sight.kind == kind
    assert again.sight.image == record.sight.image
    if kind == "warp":
        np.testing.assert_array_equal(again.sight.warps[0].grid, record.sight.warps[0].grid)
    else:
        assert again.sight == record.sight


def test_a_record_from_before_there_were_sights_has_none():
    old = AttentionRecord.of([[1.0]], ["a"]).to_dict()
    del old["sight"]
    assert AttentionRecord.from_dict(old).sight is None


@pytest.mark.parametrize(
    "given",
    [
        pixels(5, 7),
        pixels(5, 7, 3),
        pixels(5, 7, 3).transpose(2, 0, 1),
        pixels(5, 7) / 255,
        (pixels(5, 7) > 128),
    ],
)
def test_pixels_become_a_png_that_others_read(given):
    made = PngImage.of(given)
    with Image.open(io.BytesIO(made.data)) as opened:
        assert opened.size == (made.width, made.height) == (7, 5)
        read = np.asarray(opened)
    plain = given.transpose(1, 2, 0) if given.shape[0] == 3 else given
    wanted = np.rint(plain.astype(float) * (255 if plain.dtype != np.uint8 else 1))
    np.testing.assert_array_equal(read, wanted)


def test_numbers_beyond_0_and_1_are_cut_off():
    made = PngImage.of(np.array([[-3.0, 0.5, 7.0]]))
    with Image.open(io.BytesIO(made.data)) as opened:
        assert np.asarray(opened).tolist() == [[0, 128, 255]]


def png_with_header(width: int, height: int, depth: int = 8, kind: int = 0) -> bytes:
    data = bytearray(encode_png(pixels(2, 2)[..., None]))
    data[16:26] = struct.pack(">IIBB", width, height, depth, kind)
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a" + bytes(40),
        b"\x89PNG\r\n\x1a\n",
        png_with_header(0, 5),
        png_with_header(MOST_PIXELS, 2),
        png_with_header(2**32 - 1, 2**32 - 1),
        png_with_header(2, 2, depth=9),
        png_with_header(2, 2, kind=5),
    ],
)
def test_bytes_that_are_no_png_are_refused(data):
    with pytest.raises(NotARecord):
        PngImage(data)


@pytest.mark.parametrize(
    "given", [np.zeros((0, 4)), np.zeros((2, 2, 2)), np.full((2, 2), np.nan), np.full((2, 2), 256)]
)
def test_what_are_no_pixels_is_refused(given):
    with pytest.raises(NotARecord):
        PngImage.of(given)


def changed(kind: str, path: str, value: Any) -> dict[str, Any]:
    """The JSON of a record, in which one place of the sight is another."""
    plain = copy.deepcopy(json.loads(record_of(kind).to_json()))
    at: Any = plain["sight"]
    *above, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in above:
        at = at[part]
    at[last] = value
    return plain


SMALL = base64.b64encode(encode_png(pixels(3, 3)[..., None])).decode()
WRONG: list[tuple[str, str, Any]] = [
    ("glimpses", "kind", "film"),
    ("glimpses", "kind", ["glimpses"]),
    ("glimpses", "steps", []),
    ("glimpses", "steps", None),
    ("glimpses", "steps", 5),
    ("glimpses", "steps.0", "left"),
    ("glimpses", "steps.0.x", float("nan")),
    ("glimpses", "steps.0.x", "1"),
    ("glimpses", "steps.0.y", None),
    ("glimpses", "steps.0.y", 1e300),
    ("glimpses", "steps.0.y", 10**400),
    ("glimpses", "steps.0.y", True),
    ("glimpses", "steps.0.beliefs", [0.5]),
    ("glimpses", "steps.0.beliefs", [2.0] * 10),
    ("glimpses", "steps.0.beliefs", [0.5] * 10),
    ("glimpses", "steps.0.beliefs", [0.0] * 10),
    ("glimpses", "steps.0.beliefs", [0.05] * 10),
    ("glimpses", "steps.1.seen.0", {}),
    ("glimpses", "widths", []),
    ("glimpses", "widths", [-1, 2]),
    ("glimpses", "widths", [float("inf"), 2]),
    ("glimpses", "labels", [1] * 10),
    ("glimpses", "image", None),
    ("glimpses", "image.source", "https://example.org/a.png"),
    ("glimpses", "image.source", "data:image/svg+xml;base64,AAAA"),
    ("glimpses", "image.source", "data:image/png;base64,%%%%"),
    ("glimpses", "image.source", "data:image/png;base64,AAAA"),
    ("glimpses", "image.source", 5),
    ("glimpses", "image.width", 9),
    ("glimpses", "image", {"source": f"data:image/png;base64,{SMALL}", "width": 4, "height": 3}),
    ("canvases", "steps.0.read.count", 0),
    ("canvases", "steps.0.read.count", 2.5),
    ("canvases", "steps.0.read.spacing", -1),
    ("canvases", "steps.0.read.onload", "alert(1)"),
    ("canvases", "steps.0.write", [1, 2]),
    ("canvases", "steps.0.canvas", "data:"),
    ("warp", "warps", []),
    ("warp", "warps.0.grid", None),
    ("warp", "warps.0.grid.shape", [2, 2]),
    ("warp", "warps.0.grid.shape", [10**9, 10**9, 2]),
    ("warp", "warps.0.grid.data", "!"),
    ("warp", "warps.0.grid.type", "float64"),
    ("warp", "warps.0.name", 7),
]


@pytest.mark.parametrize(("kind", "path", "value"), WRONG)
def test_what_is_wrong_is_told_and_nothing_else_happens(kind, path, value):
    given = changed(kind, path, value)
    with pytest.raises(NotARecord):
        AttentionRecord.from_dict(given)


@pytest.mark.parametrize("path", ["steps.0.seen", "steps.0.beliefs"])
def test_a_glimpse_need_not_keep_what_it_saw_or_believed(path):
    step = AttentionRecord.from_dict(changed("glimpses", path, [])).sight.steps[0]
    assert getattr(step, path.split(".")[-1]) == ()


def test_places_that_are_not_finite_are_refused():
    grid = np.zeros((2, 2, 2), np.float32)
    grid[0, 0] = np.nan
    with pytest.raises(NotARecord, match="finite"):
        WarpedImage(PngImage.of(pixels(2, 2)), grid)
    with pytest.raises(NotARecord, match="a place"):
        GlimpseStep(float("inf"), 0)
    with pytest.raises(NotARecord, match="filters"):
        FilterWindow(1, 1, 1, 1, 0)


@pytest.mark.parametrize(
    "source",
    [
        "https://example.org/dog.png",
        "data:image/svg+xml;base64,AAAA",
        "data:image/png,AAAA",
        'data:image/png;base64,A" onload="alert(1)',
        5,
    ],
)
def test_the_picture_of_a_side_is_bytes_of_a_known_kind(source):
    with pytest.raises(NotARecord):
        Picture(source, 1, 1)


@pytest.mark.parametrize("size", [(0, 1), (1, 2.0), (10**9, 1), (True, 1)])
def test_a_grid_has_rows_and_columns(size):
    with pytest.raises(NotARecord):
        Picture("data:image/png;base64,AAAA", *size)


def test_the_cells_of_a_grid_are_named_row_by_row():
    side = Side.of_grid(PngImage.of(pixels(4, 6)).source, 2, 3)
    assert (len(side), side.tokens[4]) == (6, "row 2, column 2")
    assert Side.from_dict(side.to_dict()) == side


def whole() -> bytes:
    return encode_png(pixels(20, 20)[..., None])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (whole()[:-1], "is cut off"),
        (whole()[:-12], "is cut off"),
        (whole()[:60], "is cut off"),
        (whole()[:50] + b"!" + whole()[51:], "a checksum is wrong"),
        (whole()[:33] + whole()[-12:], "has no pixels"),
    ],
)
def test_a_png_that_was_cut_or_changed_is_refused_when_it_is_read(data, said):
    source = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    sight = changed("glimpses", "image", {"source": source, "width": 20, "height": 20})
    seen = Side.of_grid(PngImage(whole()).source, 2, 2)
    mapped = AttentionRecord.of(np.full((1, 4), 0.25), ["a"], ["b", "c", "d", "e"]).to_dict()
    side = mapped["maps"][0]["keys"]
    mapped["sides"] = {"queries": Side.of_labels(["a"]).to_dict(), side: seen.to_dict()}
    mapped["maps"][0]["queries"] = "queries"
    assert AttentionRecord.from_dict(mapped).sides[side].picture is not None
    mapped["sides"][side]["picture"] = {"source": source, "rows": 2, "columns": 2}
    for given in (sight, mapped):
        with pytest.raises(NotARecord, match=said):
            AttentionRecord.from_json(json.dumps(given))


def test_rounded_beliefs_are_taken():
    GlimpseStep(0, 0, beliefs=(0.333, 0.333, 0.333))
