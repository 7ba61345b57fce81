"""Is it an explanation? Numbers of the weights themselves, and measures beside them."""

from __future__ import annotations

import json
import re
from urllib.request import urlopen

import numpy as np
import pytest
from made_records import translation_record
from reading_pages import ROUNDED, ask, choose, expect, number, open_panel, read_cells

from regard.records.record import AttentionRecord

RECORD = translation_record()
WEIGHTS = RECORD.map("cross").weights.mean((0, 1))
TITLE = "Is it an explanation?"


@pytest.fixture
def page(open_records):
    page = open_records(RECORD)
    choose(page, "unit", "tokens")
    return page


def mean_said(card, name: str) -> float:
    term = card.locator("dt", has_text=re.compile(f"^{re.escape(name)}$"))
    return number(term.locator("+ dd").locator("b").first.inner_text())


def test_entropy_width_and_marks_of_each_query(page, keep):
    panel = open_panel(page, TITLE)
    keep(page, "explain-light")
    lines = panel.get_by_role("region", name="How each query reads").locator("tbody tr").all()
    entropy = -(WEIGHTS * np.log(WEIGHTS)).sum(-1)
    for row, line in enumerate(lines):
        name, *numbers = line.locator("th, td").all_inner_texts()
        assert name == RECORD.sides["target"].tokens[row]
        expected = entropy[row], np.exp(entropy[row]), WEIGHTS[row, -1]
        np.testing.assert_allclose([number(x) for x in numbers], expected, atol=0.051)
        assert number(numbers[0]) == pytest.approx(entropy[row], abs=0.0051)
    assert len(lines) == 9


def test_mass_on_each_key(page):
    panel = open_panel(page, TITLE)
    bars = panel.get_by_role("group").filter(has_text="Mass on each key").get_by_role("listitem")
    shown = [number(bar.locator("b").inner_text()) for bar in bars.all()]
    np.testing.assert_allclose(shown, WEIGHTS.sum(0), atol=0.0051)


def test_measures_have_their_matrix_and_their_numbers(page):
    panel = open_panel(page, TITLE)
    gradient, left_out, uniform = RECORD.explanations
    for each, digits in ((gradient, ROUNDED), (left_out, ROUNDED)):
        card = panel.get_by_role("figure").filter(has_text=each.title)
        np.testing.assert_allclose(read_cells(page, card, 2, 9), each.matrix[:2], atol=digits)
        assert mean_said(card, "τ") == pytest.approx(np.nanmean(each.rows["τ"]), abs=0.0051)
        expect(card.get_by_text(each.reading)).to_be_visible()
    card = panel.get_by_role("figure").filter(has_text=uniform.reading)
    assert mean_said(card, "TVD") == pytest.approx(np.mean(uniform.rows["TVD"]), abs=0.0051)


def test_rollout_of_the_encoder_is_the_product_of_its_layers(page, keep):
    choose(page, "attention", "encoder")
    panel = open_panel(page, TITLE)
    card = panel.get_by_role("figure").filter(has_text="attention rollout")
    expected = np.eye(9)
    for layer in RECORD.map("encoder").weights:
        expected = (layer.mean(0) + np.eye(9)) / 2 @ expected
    np.testing.assert_allclose(read_cells(page, card, 3, 9), expected[:3], atol=ROUNDED)
    keep(page, "explain-rollout")


def test_a_file_without_measures_says_that_it_needs_a_model(open_records):
    given = RECORD.to_dict() | {"explanations": []}
    page = open_records(AttentionRecord.from_dict(given))
    panel = open_panel(page, TITLE)
    expect(panel.get_by_role("button", name="Measure")).to_be_disabled()
    expect(panel.get_by_text("Needs a running model: regard look")).to_be_visible()


def test_a_served_model_is_measured_on_request(open_page, server, keep):
    page = open_page(server)
    ask(page, "我是一个学生。")
    panel = open_panel(page, TITLE)
    with page.expect_response("**/attention") as answer:
        panel.get_by_role("button", name="Measure").click()
    record = AttentionRecord.from_dict(answer.value.json())
    names = {each.name for each in record.explanations}
    assert {"gradient", "leave-one-out", "uniform", "adversarial"} <= names
    assert {"norm", "value-zeroing", "contrast", "erasure"} <= names
    for each in record.explanations:
        card = panel.get_by_role("figure").filter(has_text=each.reading)
        expect(card).to_be_visible()
        for name, values in each.rows.items():
            expected = f"{np.nanmean(values):.2f}".replace("-", "−")
            said = re.findall(r"[−\d.]*\d", card.inner_text().replace("-", "−"))
            assert said.count(expected) == 1 or each.matrix is not None, (each.name, name)
            once = card.locator(".explain-numbers b").all_inner_texts()
            assert (expected in once) != (expected in each.reading.replace("-", "−"))
    assert "τ" in dict(record.explanations[0].rows)
    expect(panel.get_by_role("button", name="Measure again")).to_be_enabled()
    keep(page, "explain-served")


def test_what_takes_long_says_how_far_it_is_and_can_be_stopped(open_page, server, keep):
    page = open_page(server)
    ask(page, "我是一个学生，今天下午要去图书馆。")
    panel = open_panel(page, TITLE)
    panel.get_by_role("button", name="Measure").click()
    bar = page.get_by_role("region", name="work in progress")
    expect(bar).to_be_visible(timeout=20_000)
    expect(bar.get_by_text(re.compile(r"\d+ %, about \d+ (s|min|h) left"))).to_be_visible(
        timeout=20_000
    )
    keep(page, "explain-progress")
    bar.get_by_role("button", name="Stop").click()
    expect(bar).to_be_hidden()
    expect(panel.get_by_text("Stopped: this is the answer before.")).to_be_visible()
    expect(panel.get_by_role("button", name="Measure")).to_be_enabled()
    page.wait_for_function(
        """async () => {
          const at = await (await fetch("health")).json();
          return at.load === 0 && at.status === "ok";
        }"""
    )
    with urlopen(f"{server}/progress?ticket=nobody") as answer:
        assert json.load(answer)["state"] == "gone"


def test_why_this_and_not_that(open_page, server, keep):
    page = open_page(server)
    ask(page, "他在这家商店工作，没去图书馆。")
    choose(page, "unit", "tokens")
    panel = open_panel(page, TITLE)
    panel.get_by_label("why not").fill("library")
    with page.expect_response("**/attention") as answer:
        panel.get_by_role("button", name="Ask").click()
    record = AttentionRecord.from_dict(answer.value.json())
    (contrast,) = (each for each in record.explanations if each.name == "contrast")
    assert contrast.title.startswith("Why “")
    assert contrast.title.endswith("and not “library”")
    assert contrast.signed
    expect(panel.get_by_role("figure").filter(has_text=contrast.reading)).to_be_visible()
    assert "foil" in page.url
    keep(page, "explain-why-not")
