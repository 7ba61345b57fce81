"""Two maps side by side on one colour scale, and their difference."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_records import translation_record
from reading_pages import ROUNDED, ask, choose, expect, number, open_panel, read_cells

from regard.records.record import AttentionRecord

ONE, OTHER = translation_record(0, "first model"), translation_record(1, "second model")
LEFT, RIGHT = (record.map("cross").weights.mean((0, 1)) for record in (ONE, OTHER))


@pytest.fixture
def page(open_records):
    page = open_records(ONE, OTHER)
    choose(page, "unit", "tokens")
    return page


def test_two_models_stand_side_by_side_on_one_scale(page, keep):
    panel = open_panel(page, "Compare")
    keep(page, "compare-light")
    figures = panel.get_by_role("figure")
    assert figures.count() == 3
    left, right = figures.nth(0), figures.nth(1)
    expect(left).to_contain_text("first model")
    expect(right).to_contain_text("second model")
    most = max(LEFT.max(), RIGHT.max())
    ends = [re.findall(r"[\d.]+", figure.inner_text())[-1] for figure in (left, right)]
    assert ends[0] == ends[1]
    assert float(ends[0]) == pytest.approx(most, abs=0.0051)
    np.testing.assert_allclose(read_cells(page, left, 3, 9), LEFT[:3], atol=ROUNDED)
    np.testing.assert_allclose(read_cells(page, right, 3, 9), RIGHT[:3], atol=ROUNDED)


def test_the_difference_is_right_less_left(page):
    panel = open_panel(page, "Compare")
    difference = panel.get_by_role("figure").filter(has_text="difference: right − left")
    shown = read_cells(page, difference, 4, 9)
    np.testing.assert_allclose(shown, (RIGHT - LEFT)[:4], atol=ROUNDED)
    said = panel.get_by_role("status").filter(has_text="Mean total variation").inner_text()
    rows = np.abs(RIGHT - LEFT).sum(-1) / 2
    mean, worst = re.findall(r"(?:row: |”: )([\d.]+)", said)
    assert float(mean) == pytest.approx(rows.mean(), abs=ROUNDED)
    assert float(worst.rstrip(".")) == pytest.approx(rows.max(), abs=ROUNDED)
    assert f"“{ONE.sides['target'].tokens[rows.argmax()]}”" in said


def test_one_head_is_compared_with_another(open_records):
    page = open_records(ONE, state={"layer": 0, "head": 0, "units": "tokens"})
    panel = open_panel(page, "Compare")
    panel.get_by_role("combobox", name=re.compile("^Layer")).select_option(label="decoder 2")
    panel.get_by_role("combobox", name=re.compile("^Head")).select_option(label="head 3")
    weights = ONE.map("cross").weights
    difference = panel.get_by_role("figure").filter(has_text="difference: right − left")
    shown = read_cells(page, difference, 2, 9)
    np.testing.assert_allclose(shown, (weights[1, 2] - weights[0, 0])[:2], atol=ROUNDED)


def test_other_sentences_are_shown_without_a_difference(open_records, keep):
    other = AttentionRecord.of(
        [[0.25, 0.75]], ["short"], ["two", "keys"], title="another", name="cross"
    )
    page = open_records(ONE, other)
    panel = open_panel(page, "Compare")
    assert panel.get_by_role("figure").count() == 2
    expect(
        panel.get_by_text("No difference map: the queries are 7 on the left and 1")
    ).to_be_visible()
    second = read_cells(page, panel.get_by_role("figure").nth(1), 1, 2)
    np.testing.assert_allclose(second, [[0.25, 0.75]], atol=ROUNDED)
    keep(page, "compare-sentences")


def test_another_sentence_is_asked_and_compared(open_page, server, keep):
    page = open_page(server)
    first = ask(page, "我是一个学生。")
    panel = open_panel(page, "Compare")
    panel.get_by_label("Another sentence").fill("他是一个学生。")
    with page.expect_response("**/attention") as answer:
        panel.get_by_role("button", name="Compare").click()
    second = AttentionRecord.from_dict(answer.value.json())
    for record in (first, second):
        expect(panel.get_by_role("paragraph").filter(has_text=record.output).first).to_be_visible()
    keep(page, "compare-served")
    again = open_page(page.url)  # the link brings both sides back
    expect(again.get_by_role("paragraph").filter(has_text=second.output).first).to_be_visible()


def test_records_are_chosen_by_name(page):
    page.get_by_role("combobox", name=re.compile("^record")).select_option(label="2 · second model")
    expect(page.get_by_text("second model · cross-attention")).to_be_visible()
    cell = page.get_by_role("gridcell").get_attribute("aria-label")
    assert number(cell.split("attends ")[1]) == pytest.approx(RIGHT[0, 0], abs=0.0051)
