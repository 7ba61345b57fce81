"""Glimpses, canvases, warps and words over a picture as SVG, PNG, films and text, as they were recorded."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from seen_pictures import DIGITS, canvases, glimpses, pixels, seven, warps

from regard.looking.look import look
from regard.records.png_image import PngImage
from regard.records.record import AttentionRecord
from regard.records.side import NotARecord
from regard.records.sights import Canvases, CanvasStep, FilterWindow, Sight, WarpedImage, Warps
from regard.view.attention_view import View
from regard.view.stills.drawn_marks import (
    NOW,
    READ,
    WRITE,
    PictureFrame,
    glimpse_marks,
    warp_marks,
    window_marks,
)
from regard.view.stills.moving_picture import MOST_FRAMES, shown_steps
from regard.view.stills.warped_pixels import pixels_of, resampled, source_places

SIGHTS = {"glimpses": glimpses, "canvases": canvases, "warp": warps}
BAD = "<script>alert(1)</script>"


def record(sight: Sight, **parts) -> AttentionRecord:
    given = {"title": "digit.png", "model": "a model", "output": "7 (0.9)", **parts}
    return AttentionRecord({}, (), sight=sight, **given)


def caption() -> AttentionRecord:
    weights = np.random.default_rng(0).dirichlet(np.ones(6), 3)
    (made,) = look(weights, ["a", "red", "dog"], image=pixels(20, 30, 3), grid=(2, 3)).records
    return made


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", SIGHTS)
def test_a_still_picture_is_whole_and_asks_for_nothing(kind, theme):
    view = View((record(SIGHTS[kind]()),))
    svg = view.to_svg(theme=theme)
    root = ET.fromstring(svg)
    hrefs = [value for node in root.iter() for name, value in node.attrib.items() if "href" in name]
    assert hrefs
    assert all(value.startswith("data:image/png;base64,") for value in hrefs)
    with Image.open(io.BytesIO(view.to_png(theme=theme, zoom=1))) as drawn:
        assert drawn.size == (int(root.get("width")), int(root.get("height")))
        assert len(drawn.convert("RGB").getcolors(1 << 24)) > 10


def test_every_step_and_label_is_in_the_still_picture():
    svg = View((record(glimpses(6)),)).to_svg()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert [text for text in texts if re.fullmatch(r"[1-6]", text)].count("4") == 2  # path, column
    assert [text for text in texts if text.startswith("7 0.")] != []
    assert svg.count("<image") == 1 + 6 * 3


def test_of_many_steps_some_at_even_distances_are_drawn():
    svg = View((record(canvases(64)),)).to_svg()
    numbers = [int(n) for n in re.findall(r">(\d+)</text>", svg)]
    assert (len(numbers), numbers[0], numbers[-1]) == (16, 1, 64)
    assert max(np.diff(numbers)) - min(np.diff(numbers)) <= 1


@pytest.mark.parametrize(
    ("made", "frames", "end"),
    [
        (lambda: record(glimpses(3)), 3, "gif"),
        (lambda: record(glimpses(3)), 3, "apng"),
        (lambda: record(canvases(4)), 4, "gif"),
        (lambda: record(warps()), 13, "gif"),
        (caption, 3, "gif"),
    ],
    ids=["glimpses", "apng", "canvases", "warp", "caption"],
)
def test_a_film_has_a_picture_for_each_step(made, frames, end, tmp_path):
    path = View((made(),)).save(tmp_path / f"film.{end}")
    with Image.open(path) as film:
        assert film.n_frames == frames
        assert film.info["loop"] == 0
        seen = set()
        for number in range(frames):
            film.seek(number)
            assert film.info["duration"] >= 60
            seen.add(film.convert("RGB").tobytes())
        assert len(seen) == frames


@pytest.mark.parametrize("count", [MOST_FRAMES, MOST_FRAMES + 1, 1000])
def test_a_film_of_many_steps_is_thinned_out_and_says_so(count):
    if count == MOST_FRAMES:
        assert shown_steps(count) == list(range(count))
        return
    with pytest.warns(UserWarning, match=rf"shows 72 of the {count:,} steps"):
        steps = shown_steps(count)
    assert (steps[0], steps[-1], len(steps)) == (0, count - 1, MOST_FRAMES)
    assert steps == sorted(set(steps))


def test_a_long_film_has_its_last_step(tmp_path):
    sight = glimpses(80)
    with pytest.warns(UserWarning, match="72 of the 80 steps"):
        path = View((AttentionRecord({}, (), sight=sight),)).save(tmp_path / "long.gif")
    with Image.open(path) as film:
        assert film.n_frames == MOST_FRAMES
        film.seek(MOST_FRAMES - 1)
        assert film.info["duration"] == 1800  # the last step rests


def test_a_long_path_shows_its_end():
    frame = PictureFrame.around(glimpses(1).image, 100)
    short, long = (
        "".join(map(str, glimpse_marks(glimpses(count), frame, count - 2))) for count in (6, 90)
    )
    assert ">6<" in short  # what comes later, too
    assert ">89<" in long
    assert ">50<" in long
    assert all(f">{number}<" not in long for number in (49, 90))


def test_what_does_not_move_is_no_film():
    with pytest.raises(NotARecord, match="a film needs something that moves"):
        View((AttentionRecord.of([[1.0]], ["a"]),)).to_gif()


def attributes(marks: list[str], name: str, ink: str) -> list[dict[str, str]]:
    found = [ET.fromstring(mark) for mark in marks]
    return [node.attrib for node in found if node.tag == name and node.get("stroke") == ink]


def test_squares_lie_around_their_place():
    sight = glimpses(2)
    frame = PictureFrame(0, 0, 60, 60, 8.0)
    squares = attributes(glimpse_marks(sight, frame, 1), "rect", NOW)
    step = sight.steps[1]
    for square, wide in zip(squares, sight.widths, strict=True):
        x, y, side = (float(square[name]) for name in ("x", "y", "width"))
        assert side == 8 * wide
        assert x + side / 2 == pytest.approx((step.x + 1) * 30 * 8)
        assert y + side / 2 == pytest.approx((step.y + 1) * 30 * 8)


def test_a_frame_holds_the_squares_that_go_beyond_the_picture():
    frame = PictureFrame.with_squares(glimpses(1), 400)  # around (12, 15), 48 wide
    assert (frame.left, frame.top) == (-12, -12)
    assert frame.left + frame.width == 72  # as much on every side
    inside = PictureFrame.with_squares(glimpses(1), 400, (12,))
    assert (inside.left, inside.width) == (0, 60)


def test_a_window_goes_through_its_outermost_filters():
    window = FilterWindow(10.5, 5.5, 2.0, 0.1, 5)  # its middle is at pixels 10 and 5 from the edges
    frame = PictureFrame(0, 0, 28, 28, 20.0)
    (square,) = attributes(window_marks(window, frame, READ), "rect", READ)
    assert float(square["x"]) == pytest.approx((10 - 4) * 20)
    assert float(square["y"]) == pytest.approx((5 - 4) * 20)
    assert float(square["width"]) == pytest.approx(8 * 20)
    alone = FilterWindow(10.5, 5.5, 3.0, 2.0, 1)
    (square,) = attributes(window_marks(alone, frame, READ), "rect", READ)
    assert float(square["width"]) == pytest.approx(2 * 2.0 * 20)


def test_a_window_beyond_the_picture_has_room_and_is_dashed_where_that_ends():
    image = canvases().steps[0].canvas
    wide, spacing = image.width, image.width / 4
    window = FilterWindow((wide + 1) / 2 + 0.2 * wide, (image.height + 1) / 2, spacing, 0.1, 5)
    frame = PictureFrame.with_windows(image, [None, window], 280)
    assert frame.left == pytest.approx(-(0.2 * wide + 0.05))
    (square,) = attributes(window_marks(window, frame, READ), "rect", READ)
    right = float(square["x"]) + float(square["width"])
    assert right == pytest.approx((0.2 * wide + wide - frame.left) * frame.zoom, abs=0.1)
    assert right <= frame.wide
    assert attributes(window_marks(window, frame, READ), "line", READ) == []

    vast = replace(window, spacing=10.0 * wide)
    frame = PictureFrame.with_windows(image, [vast], 280)
    assert frame.left == pytest.approx(-0.3 * wide)
    lines = attributes(window_marks(vast, frame, READ), "line", READ)
    assert len(lines) == 4
    for line in lines:
        assert line["stroke-dasharray"]
        assert all(0 < float(line[end]) < frame.wide for end in ("x1", "x2"))
        assert all(0 < float(line[end]) < frame.high for end in ("y1", "y2"))
    inside = PictureFrame.around(image, 280)  # no room: the right side alone is not seen
    aside = replace(window, spacing=0.8 * spacing)
    assert len(attributes(window_marks(aside, inside, READ), "line", READ)) == 1


def test_the_grid_lies_where_the_warp_reads():
    grid = warps().warps[0].grid
    ends = np.array([-1.0, 1.0])
    corners = source_places(grid, ends, ends)
    cos, sin = 0.55 * np.cos(0.35), 0.55 * np.sin(0.35)
    for place, sign in zip(corners, ends, strict=True):
        wanted = sign * (cos - sin) + 0.25, sign * (sin + cos) + 0.3
        np.testing.assert_allclose(place, wanted, atol=1e-5)
    np.testing.assert_array_equal(source_places(grid, ends, ends, 0.0), [[-1, -1], [1, 1]])
    assert len(warp_marks(warps().warps[0], PictureFrame(0, 0, 60, 60, 5), 1.0)) == 36
    one = WarpedImage(PngImage.of(pixels(3, 3)), np.zeros((1, 1, 2), np.float32))
    np.testing.assert_array_equal(source_places(one.grid, ends, ends), np.zeros((2, 2)))


def test_a_picture_read_as_it_is_is_itself_and_a_warp_reads_as_the_layer_does():
    torch = pytest.importorskip("torch")
    from regard.layers.pictures.sample import sample

    picture = pixels(9, 7, 3)
    grid = np.random.default_rng(0).uniform(-1.3, 1.3, (9, 7, 2))
    np.testing.assert_array_equal(resampled(picture, grid, 0.0, (9, 7)), picture)
    whole = torch.from_numpy(picture.transpose(2, 0, 1)[None] / 1.0)
    wanted = sample(whole, torch.from_numpy(grid)[None])[0].numpy().transpose(1, 2, 0)
    np.testing.assert_array_equal(resampled(picture, grid, 1.0, (9, 7)), np.rint(wanted))


def test_nothing_in_a_record_becomes_markup():
    labels = (BAD, *DIGITS[1:])
    step = CanvasStep(None, FilterWindow(5, 5, 1, 1, 2), beliefs=(0.91, *[0.01] * 9))
    sight = Canvases(PngImage.of(seven(28)), (step,), labels)
    named = Warps(
        PngImage.of(seven()),
        tuple(
            WarpedImage(PngImage.of(seven()), np.zeros((2, 2, 2), np.float32), BAD)
            for _ in range(2)
        ),
    )
    for each in (sight, named):
        view = View((record(each, title=BAD, output=BAD, model=BAD),))
        assert "<script" not in view.to_svg()
        assert "<script>alert" not in view.to_html()
        assert "\x1b" not in view.to_text(colour=False)


@pytest.mark.parametrize("kind", SIGHTS)
def test_a_damaged_png_is_told_when_it_is_read(kind):
    """Its header is right, and nothing behind it."""
    plain = record(SIGHTS[kind]()).to_dict()
    text = re.sub(
        r"data:image/png;base64,[A-Za-z0-9+/=]+",
        lambda found: _damaged(found[0]),
        json.dumps(plain),
    )
    with pytest.raises(NotARecord, match="damaged"):
        AttentionRecord.from_json(text)


def _damaged(uri: str) -> str:
    import base64

    head, coded = uri.split(",")
    data = bytearray(base64.b64decode(coded))
    data[41:-12] = bytes(len(data) - 53)
    return f"{head},{base64.b64encode(data).decode()}"


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("kind", SIGHTS)
def test_a_terminal_shows_the_picture_and_says_the_steps(kind, colour, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = View((record(SIGHTS[kind]()),)).to_text(colour=colour)
    lines = text.splitlines()
    assert lines[0].startswith("digit.png — ")
    assert ("▀" in text) == colour
    if kind == "glimpses":
        assert "Glimpse 4 of 4, at the bottom (x 0.30, y 0.50)" in text
        assert "After it 7 is believed most, with 0.59." in text
    if kind == "canvases":
        assert "Step 8 of 8. Read in the middle" in text
    if kind == "warp":
        assert "covers 55 % of one of the picture, turned by 20°" in text


def test_numbers_mark_the_path_in_a_terminal():
    lines = View((record(glimpses(4)),)).to_text(colour=False).splitlines()[1:23]
    found = {c: (row, line.index(c)) for row, line in enumerate(lines) for c in line if c in "1234"}
    assert set(found) == set("1234")
    assert found["1"][0] < found["3"][0] < found["4"][0]
    assert found["1"][1] < found["2"][1] < found["3"][1]


def test_a_notebook_shows_the_page_or_a_picture(monkeypatch):
    view = View((record(glimpses()),))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    bundle = view._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "iframe" in bundle["text/html"]
    assert "Glimpse 4 of 4" in bundle["text/plain"]


def test_a_map_that_is_asked_for_is_drawn_in_the_place_of_the_picture():
    both = AttentionRecord.of([[0.2, 0.8]], ["q"], ["a", "b"])
    both = AttentionRecord(both.sides, both.maps, sight=glimpses())
    assert View((both,)).to_svg().count("<image") == 13
    assert "<image" not in View((both,)).picking(map="attention").to_svg()
    with pytest.raises(NotARecord, match="no map of weights"):
        View((record(glimpses()),)).picking(map="attention")


def test_several_records_stand_side_by_side():
    view = View((record(glimpses()), record(warps())))
    assert view.to_svg().count("<image") == 13 + 2
    assert pixels_of(PngImage.of(seven())).shape == (60, 60, 3)
    assert WRITE != READ
