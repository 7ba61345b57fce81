"""Glimpses, canvases and warps on the page: with a mouse, with keys, on a narrow screen, by their address."""

from __future__ import annotations

import base64
import io
import json
import re
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from reading_pages import choose, expect
from seen_pictures import canvases, glimpses, pixels, seven, warps

from regard.records.png_image import PngImage
from regard.records.record import AttentionRecord
from regard.records.sights import Canvases, CanvasStep, FilterWindow, WarpedImage, Warps

MADE = {"glimpses": lambda: glimpses(6), "canvases": lambda: canvases(12), "warp": warps}
BAD = "<img src=x onerror=alert(1)>"


def record(sight, **parts) -> AttentionRecord:
    given = {"title": "digit.png", "model": "a model", "output": "7 (0.73)", **parts}
    return AttentionRecord({}, (), sight=sight, **given)


def said(page):
    return page.locator(".sight-said")


def address(page) -> str:
    return page.evaluate("location.hash")


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_record_without_weights_is_shown_whole(open_records, keep, kind, width, dark):
    page = open_records(record(MADE[kind]()), width=width, dark=dark)
    expect(page.get_by_role("region", name="the picture and how it was looked at")).to_be_visible()
    expect(page.locator(".output")).to_have_text("7 (0.73)")
    assert page.get_by_role("tablist").count() == 0 or page.get_by_role("tablist").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    images = page.locator(".sight-place img").evaluate_all(
        "all => all.map((each) => each.complete && each.naturalWidth > 0)"
    )
    assert all(images)
    keep(page, f"sight-{kind}-{width}")


def test_glimpses_are_gone_through_with_buttons_keys_and_the_strip(open_records):
    sight = glimpses(6)
    page = open_records(record(sight))
    expect(said(page)).to_contain_text("Glimpse 6 of 6")
    page.get_by_role("button", name="one back").click()
    expect(said(page)).to_contain_text("Glimpse 5 of 6")
    assert "sight-step=5" in address(page)
    figure = page.get_by_role("group", name=re.compile("arrow keys"))
    figure.focus()
    for key, step in (
        ("ArrowLeft", 4),
        ("Home", 1),
        ("ArrowRight", 2),
        ("End", 6),
        ("ArrowRight", 6),
    ):
        page.keyboard.press(key)
        expect(said(page)).to_contain_text(f"Glimpse {step} of 6")
    page.get_by_role("button", name="step 3", exact=True).click()
    expect(page.get_by_role("button", name="step 3", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    slider = page.get_by_role("slider", name="glimpse")
    expect(slider).to_have_value("3")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(said(page)).to_contain_text("Glimpse 4 of 6, at the bottom (x 0.30, y 0.50).")
    expect(said(page)).to_contain_text("After it 7 is believed most, with 0.59.")
    assert slider.get_attribute("aria-valuetext").startswith("Glimpse 4 of 6")


def test_the_squares_are_where_the_glimpse_was(open_records):
    sight = glimpses(6)
    page = open_records(record(sight), fragment="#sight-step=3")
    picture = page.locator(".sight-drawing image").bounding_box()
    squares = page.locator('.sight-drawing rect[stroke="#ffd84d"]').all()
    step, zoom = sight.steps[2], picture["width"] / 60
    for square, wide in zip(squares, sight.widths, strict=True):
        box = square.bounding_box()  # with its line
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        assert middle[0] == pytest.approx(picture["x"] + (step.x + 1) * 30 * zoom, abs=1)
        assert middle[1] == pytest.approx(picture["y"] + (step.y + 1) * 30 * zoom, abs=1)
        assert box["width"] == pytest.approx(wide * zoom, abs=5)


def test_what_is_seen_and_believed_is_that_of_the_step(open_records):
    sight = glimpses(6)
    page = open_records(record(sight), fragment="#sight-step=2")
    shown = page.locator(".sight-seen img").evaluate_all("all => all.map((each) => each.src)")
    assert shown == [image.source for image in sight.steps[1].seen]
    numbers = page.locator(".belief-number").all_inner_texts()
    assert [float(n) for n in numbers] == pytest.approx(sight.steps[1].beliefs, abs=6e-3)
    assert page.locator(".is-best .belief-label").inner_text() == "7"


def test_it_plays_to_its_end_and_can_be_paused(open_records):
    page = open_records(record(canvases(12)), fragment="#sight-step=1")
    before = address(page)
    page.get_by_role("button", name="play", exact=True).click()
    expect(said(page)).to_have_attribute("aria-live", "off")  # nobody is told of each step
    assert address(page) == before
    expect(said(page)).to_contain_text("Step 12 of 12")
    expect(page.get_by_role("button", name="play", exact=True)).to_be_visible()
    expect(said(page)).to_have_attribute("aria-live", "polite")
    assert "sight-step=12" in address(page)
    page.get_by_role("group", name=re.compile("arrow keys")).focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="pause")).to_be_visible()
    page.get_by_role("button", name="pause").click()
    expect(page.get_by_role("button", name="play", exact=True)).to_be_visible()


def test_where_less_motion_is_wished_for_it_plays_slowly_and_never_by_itself(open_records):
    page = open_records(record(canvases(12)), fragment="#sight-step=1", reduced_motion="reduce")
    page.wait_for_timeout(600)
    expect(said(page)).to_contain_text("Step 1 of 12")
    page.get_by_role("button", name="play", exact=True).click()
    page.wait_for_timeout(700)  # three steps at the usual pace
    expect(said(page)).to_contain_text("Step 1 of 12")


def test_canvases_have_both_windows_where_they_are(open_records):
    sight = canvases(12)
    page = open_records(record(sight), fragment="#sight-step=4")
    for ink, window, pane in (
        ("#4da3ff", sight.steps[3].read, 0),
        ("#ff8a3d", sight.steps[3].write, 1),
    ):
        drawing = page.locator(".sight-pane").nth(pane)
        picture = drawing.locator("image").bounding_box()
        square = drawing.locator(f'rect[stroke="{ink}"]').bounding_box()
        zoom = picture["width"] / 28
        middle = square["x"] + square["width"] / 2 - picture["x"]
        assert middle == pytest.approx((window.x - 0.5) * zoom, abs=1.5)
    assert (
        page.locator(".sight-pane").nth(1).locator("image").get_attribute("href")
        == sight.steps[3].canvas.source
    )


def test_a_model_that_only_reads_has_one_picture(open_records):
    step = CanvasStep(None, FilterWindow(14, 14, 3, 1, 4), seen=PngImage.of(pixels(4, 4)))
    page = open_records(record(Canvases(PngImage.of(seven(28)), (step, step))))
    expect(page.locator(".sight-pane")).to_have_count(1)
    made = Canvases(None, (CanvasStep(PngImage.of(seven(28))),))
    page = open_records(record(made))
    expect(page.locator(".sight-pane")).to_have_count(1)
    expect(page.locator(".sight-player")).to_be_hidden()  # one step is nothing to play


def shown_pixels(page) -> np.ndarray:
    """What is on the canvas of the result."""
    size = page.locator(".sight-pane canvas").evaluate("each => [each.width, each.height]")
    data = page.locator(".sight-pane canvas").evaluate(
        "each => [...each.getContext('2d').getImageData(0, 0, each.width, each.height).data]"
    )
    return np.array(data, np.uint8).reshape(size[1], size[0], 4)[..., 0]


def test_the_slider_goes_from_the_picture_to_the_warp(open_records):
    page = open_records(record(warps()))
    result = page.locator(".sight-pane").nth(1)
    expect(result.locator("img")).to_have_attribute("src", warps().warps[0].image.source)
    slider = page.get_by_role("slider", name="from the picture as it is to the warp")
    slider.focus()
    page.keyboard.press("Home")
    expect(result.locator("canvas")).to_be_visible()
    expect(said(page)).to_contain_text("in the middle of the picture")
    expect(said(page)).to_contain_text("turned by 0°")
    assert "sight-share=0" in address(page)
    from regard.view.stills.warped_pixels import pixels_of, resampled

    sight = warps()
    wanted = resampled(pixels_of(sight.image), sight.warps[0].grid, 0.0, (40, 40))[..., 0]
    np.testing.assert_allclose(shown_pixels(page).astype(int), wanted, atol=1)
    page.keyboard.press("End")
    expect(result.locator("img")).to_be_visible()
    expect(said(page)).to_contain_text("turned by 20°")


def test_of_several_warps_one_is_chosen(open_records):
    one = warps()
    other = WarpedImage(PngImage.of(pixels(9, 9)), np.zeros((3, 3, 2), np.float32), "a point")
    page = open_records(record(Warps(one.image, (*one.warps, other))))
    choose(page, "warp", "a point")
    expect(page.locator(".sight-pane").nth(1).locator("img")).to_have_attribute(
        "src", other.image.source
    )
    assert "sight-warp=2" in address(page)


def test_an_address_brings_the_step_back_and_nonsense_harms_nothing(open_records):
    page = open_records(record(glimpses(6)), fragment="#sight-step=2")
    expect(said(page)).to_contain_text("Glimpse 2 of 6")
    for nonsense in ("sight-step=99", "sight-step=-3", "sight-step=%3Cb%3E", "map=cross&layer=7"):
        page = open_records(record(glimpses(6)), fragment=f"#{nonsense}")
        expect(said(page)).to_contain_text("Glimpse 6 of 6")
    page = open_records(record(warps()), fragment="#sight-share=1e9&sight-warp=x")
    expect(said(page)).to_contain_text("turned by 20°")


def test_no_text_of_a_record_becomes_markup(open_records):
    sight = glimpses(2)
    labels = tuple(f"{BAD}{n}" for n in range(10))
    hostile = type(sight)(sight.image, sight.widths, sight.steps, labels)
    page = open_records(record(hostile, title=BAD, output=BAD, model=BAD, notes=(BAD,)))
    expect(page.locator(".is-best .belief-label")).to_contain_text("<img src=x")
    assert page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("kind", MADE)
def test_what_is_on_the_screen_is_exported(open_records, kind, tmp_path):
    page = open_records(record(MADE[kind]()), fragment="#sight-step=2&sight-share=50")
    files = {}
    for end in ("svg", "png", "html", "json"):
        page.get_by_text("Export", exact=True).click()
        with page.expect_download() as download:
            page.locator(f'[data-kind="{end}"]').click()
        assert download.value.suggested_filename == f"regard-a-model-{kind}.{end}"
        files[end] = tmp_path / f"saved.{end}"
        download.value.save_as(files[end])
    svg = files["svg"].read_text("utf-8")
    assert svg.count("<image") >= 1
    assert 'href="http' not in svg
    with Image.open(io.BytesIO(files["png"].read_bytes())) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 10
    assert AttentionRecord.from_json(files["json"].read_text("utf-8")).sight.kind == kind
    page.goto(files["html"].as_uri())
    expect(page.locator(".sight-place")).to_be_visible()


def test_records_with_and_without_weights_are_shown_in_turn(open_records):
    plain = AttentionRecord.of([[0.2, 0.8]], ["q"], ["a", "b"], title="weights", model="other")
    page = open_records(record(glimpses(6)), plain)
    page.get_by_role("combobox", name="record").select_option(index=1)
    expect(page.locator(".heatmap")).to_be_visible()
    expect(page.locator(".sight-place")).to_be_hidden()
    page.get_by_role("tab", name="Compare").click()
    page.get_by_role("combobox", name="record").first.select_option(index=0)
    expect(said(page)).to_contain_text("Glimpse 6 of 6")


def test_a_record_may_have_both_a_picture_and_weights(open_records):
    plain = AttentionRecord.of([[0.2, 0.8]], ["q"], ["a", "b"])
    both = AttentionRecord(plain.sides, plain.maps, title="both", sight=glimpses(3))
    page = open_records(both)
    expect(page.locator(".sight-place")).to_be_visible()
    choose(page, "attention", "attention")
    expect(page.locator(".heatmap")).to_be_visible()
    expect(page.locator(".sight-place")).to_be_hidden()


def test_a_damaged_picture_is_left_blank(open_records):
    """Its chunks are whole, and no pixels are in them."""
    plain = json.loads(record(glimpses(2)).to_json())
    head, coded = plain["sight"]["image"]["source"].split(",")
    data = base64.b64decode(coded)
    header, end = data[:33], data[-12:]
    chunk = b"IDAT" + b"no pixels"
    spoilt = header + struct.pack(">I", 9) + chunk + struct.pack(">I", zlib.crc32(chunk)) + end
    plain["sight"]["image"]["source"] = f"{head},{base64.b64encode(spoilt).decode()}"
    page = open_records(AttentionRecord.from_dict(plain))
    expect(said(page)).to_contain_text("Glimpse 2 of 2")
