"""What stays in sight where there is little room: weight and value of a step, the labels of a tall map."""

from __future__ import annotations

import numpy as np
import pytest
from made_records import softmax, translation_record
from reading_pages import choose, expect, open_panel

from regard.records.record import AttentionRecord

RECORD = translation_record()
ROWS, KEYS = 60, 8
SEEN = """(label) => {
  const box = label.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  return y > 0 && y < innerHeight && document.elementFromPoint(x, y) === label;
}"""


@pytest.mark.parametrize(
    ("step", "columns"),
    [
        ("Scores", ["key", "score"]),
        ("Region", ["key", "in the region"]),
        ("Normalisation", ["key", "exp(score − max)", "weight"]),
        ("Weighted sum", ["key", "weight", "value", "weight × value"]),
    ],
)
def test_a_step_fits_a_telephone(open_records, step, columns):
    page = open_records(RECORD, state={"layer": 1, "head": 2}, width=390, height=800)
    panel = open_panel(page, "Step by step")
    panel.get_by_role("button", name=step).click()
    table = panel.get_by_role("table")
    expect(table.get_by_role("columnheader", name=columns[-1], exact=True)).to_be_visible()
    assert [head.inner_text() for head in table.get_by_role("columnheader").all()] == columns
    fits = "(table) => table.scrollWidth <= table.closest('.panel-scroll').clientWidth"
    assert table.evaluate(fits)


def test_wide_screens_keep_all_columns(open_records):
    page = open_records(RECORD, state={"layer": 1, "head": 2})
    table = open_panel(page, "Step by step").get_by_role("table")
    assert table.get_by_role("columnheader").count() == 7


@pytest.mark.parametrize("inside", [False, True], ids=["page", "map"])
def test_the_labels_of_the_columns_stay_over_a_tall_map(open_records, inside):
    weights = softmax(np.random.default_rng(0).normal(size=(ROWS, KEYS)))
    names = [f"q{n}" for n in range(ROWS)], [f"k{n}" for n in range(KEYS)]
    page = open_records(AttentionRecord.of(weights, *names), height=700)
    label = page.locator(".col-labels .label", has_text="k3")
    place = page.locator(".heatmap-place")
    place.scroll_into_view_if_needed()
    if inside:
        place.evaluate("(element) => element.scrollTo(0, 900)")
    else:
        top = place.evaluate("(element) => element.getBoundingClientRect().top + scrollY")
        page.evaluate(f"scrollTo(0, {top + 150})")
    page.wait_for_timeout(100)
    assert label.evaluate(SEEN)


def test_colours_from_0_to_1_are_those_of_the_numbers(open_records):
    """Two maps with other maxima have the same colours for the same weights then."""
    page = open_records(RECORD, state={"units": "tokens"})
    choose(page, "colour scale", "0 to 1")
    ramp = page.get_by_role("img", name="colours from 0 to 1")
    expect(ramp).to_be_visible()
    choose(page, "attention", "encoder")
    expect(page.get_by_role("img", name="colours from 0 to 1")).to_be_visible()
