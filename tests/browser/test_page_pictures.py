"""Pictures: what each word looked at, and the path of the glimpses."""

from __future__ import annotations

import numpy as np
import pytest
from made_records import image_record, translation_record
from reading_pages import expect, open_panel

from regard.view.stills.picture_overlay import overlay

RECORD = image_record()
WEIGHTS = RECORD.maps[0].weights[0, 0]
COLOURS = """(canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return Array.from({ length: canvas.width * canvas.height }, (_, n) => [...pixels.slice(4 * n, 4 * n + 4)]);
}"""


@pytest.fixture
def page(open_records):
    return open_records(RECORD)


def over_cells(panel) -> np.ndarray:
    """Red, green, blue and opacity over each cell, as the canvas over the large picture has them."""
    return np.array(panel.get_by_role("figure").locator("canvas").evaluate(COLOURS))


@pytest.mark.parametrize("word", range(3))
def test_each_word_has_its_overlay(page, word, keep):
    panel = open_panel(page, "Picture")
    panel.get_by_role("option", name=RECORD.sides["words"].tokens[word], exact=True).click()
    best = int(WEIGHTS[word].argmax())
    row, column = divmod(best, 6)
    said = panel.get_by_role("status")
    expect(said).to_contain_text(f"row {row + 1}, column {column + 1}: {WEIGHTS[word, best]:.2f}")
    keep(page, f"picture-{word}")
    panel.get_by_role("radio", name="cells").check()
    found = over_cells(panel)
    assert found.shape == (24, 4)
    expected = [overlay(float(weight)) for weight in WEIGHTS[word] / WEIGHTS[word].max()]
    # a canvas keeps colours multiplied by their opacity
    np.testing.assert_allclose(found, [(0, 0, 0, 255 * opacity) for opacity in expected], atol=3)
    assert expected[best] == 0
    line = panel.get_by_role("figure").locator(".picture-outline path")
    assert line.count() == 2
    assert line.last.get_attribute("stroke") == "#ffffff"


def test_small_pictures_choose_a_word_and_the_arrow_keys_too(page):
    panel = open_panel(page, "Picture")
    small = panel.get_by_role("button", name="disc")
    small.click()
    expect(small).to_have_attribute("aria-pressed", "true")
    chosen = panel.get_by_role("option", name="disc")
    expect(chosen).to_have_attribute("aria-selected", "true")
    chosen.focus()
    page.keyboard.press("ArrowLeft")
    expect(panel.get_by_role("option", name="blue")).to_be_focused()
    expect(panel.get_by_role("status")).to_contain_text("blue")


def test_glimpses_are_joined_in_their_order_and_can_be_hidden(page, keep):
    panel = open_panel(page, "Picture")
    path = panel.get_by_role("img", name="Path of 3 glimpses")
    expect(path).to_be_visible()
    frame = panel.get_by_role("figure").get_by_role("img", name="a disc").bounding_box()
    for place, ((left, top, width, height),) in enumerate(RECORD.glimpses, 1):
        group = path.locator("g").filter(has_text=str(place))
        box = group.locator("rect").bounding_box()
        expected = [
            frame["x"] + left * frame["width"],
            frame["y"] + top * frame["height"],
            width * frame["width"],
            height * frame["height"],
        ]
        seen = [box[name] for name in ("x", "y", "width", "height")]
        np.testing.assert_allclose(seen, expected, atol=3)
    assert path.locator("line").count() == 2
    panel.locator("label").filter(
        has=page.get_by_role("switch", name="Path of the glimpses")
    ).click()
    expect(path).to_have_count(0)


def test_the_picture_is_drawn_and_comes_from_the_record(page):
    panel = open_panel(page, "Picture")
    picture = panel.get_by_role("figure").get_by_role("img", name="a disc")
    assert picture.get_attribute("src") == RECORD.sides["image"].picture.source
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 120


def test_words_alone_have_no_tab_of_pictures(open_records):
    page = open_records(translation_record())
    expect(page.get_by_role("tab", name="Table")).to_be_visible()
    expect(page.get_by_role("tab", name="Picture")).to_have_count(0)
