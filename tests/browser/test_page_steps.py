"""Step by step: scores → region → normalisation → weighted sum of one query, with the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from made_records import translation_record
from reading_pages import ROUNDED, ask, expect, number, open_panel

RECORD = translation_record()
ONE_HEAD = {"layer": 1, "head": 2, "units": "tokens"}


def lines_of(panel) -> dict[str, list[str]]:
    """The heading of each column -> what stands in it, key by key."""
    table = panel.get_by_role("table").first  # another shows queries and keys
    titles = table.locator("thead th").all_inner_texts()
    rows = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]
    return {title: [row[n].strip() for row in rows] for n, title in enumerate(titles)}


def numbers_in(texts: list[str]) -> list[float]:
    return [number(text) for text in texts]


def test_the_numbers_of_a_row_are_those_of_the_record(open_records, keep):
    page = open_records(RECORD, state=ONE_HEAD)
    panel = open_panel(page, "Step by step")
    panel.get_by_role("option", name="stud").click()
    keep(page, "steps-light")
    cross, query = RECORD.map("cross"), 5
    columns = lines_of(panel)
    assert columns["key"] == list(RECORD.sides["source"].tokens)
    scores, weights = cross.scores[1, 2, query], cross.weights[1, 2, query]
    np.testing.assert_allclose(numbers_in(columns["score"]), scores, atol=0.0051)
    np.testing.assert_allclose(numbers_in(columns["weight"]), weights, atol=ROUNDED)
    shares = np.exp(scores - scores.max())
    np.testing.assert_allclose(numbers_in(columns["exp(score − max)"]), shares, atol=ROUNDED)
    np.testing.assert_allclose(shares / shares.sum(), weights, atol=1e-6)
    foot = panel.get_by_role("table").locator("tfoot").inner_text().split()
    assert number(foot[1]) == pytest.approx(shares.sum(), abs=ROUNDED)
    assert number(foot[2]) == 1.0


def test_the_page_recomputes_the_weights_and_finds_what_was_changed(open_records):
    right = open_records(RECORD, state=ONE_HEAD)
    said = open_panel(right, "Step by step").get_by_role("status")
    expect(said).to_contain_text("agrees with the recorded weights to four decimals")
    given = RECORD.to_dict()
    given["maps"][0]["scores"] = given["maps"][1]["scores"]  # of another map
    wrong = open_records(type(RECORD).from_dict(given), state=ONE_HEAD)
    expect(open_panel(wrong, "Step by step").get_by_role("status")).to_contain_text(
        "differ by up to"
    )


def test_the_weighted_sum_is_that_of_the_values(open_records):
    page = open_records(RECORD, state=ONE_HEAD)
    panel = open_panel(page, "Step by step")
    panel.get_by_role("option", name="am").click()
    panel.get_by_text("its 4 numbers").click()
    cross = RECORD.map("cross")
    expected = cross.weights[1, 2, 1] @ cross.values[1, 2]
    shown = panel.get_by_role("table").locator("tfoot details > div > span").all_inner_texts()
    numbers = [text.removeprefix(str(place)) for place, text in enumerate(shown, 1)]
    np.testing.assert_allclose(numbers_in(numbers), expected, atol=ROUNDED)


def test_keys_outside_the_region_are_marked_and_weigh_nothing(open_records, keep):
    page = open_records(RECORD, state={**ONE_HEAD, "map": "decoder"})
    panel = open_panel(page, "Step by step")
    panel.get_by_role("option", name="hap").click()
    columns = lines_of(panel)
    assert columns["in the region"] == ["✓"] * 4 + ["outside"] * 5
    assert numbers_in(columns["weight"])[4:] == [0.0] * 5
    assert numbers_in(columns["exp(score − max)"])[4:] == [0.0] * 5
    keep(page, "steps-outside")
    panel.get_by_role("button", name="Region").click()
    expect(panel.get_by_text("leaves out 5 of 9 keys")).to_be_visible()


def test_steps_are_walked_one_by_one(open_records):
    page = open_records(RECORD, state=ONE_HEAD)
    panel = open_panel(page, "Step by step")
    weight = panel.get_by_role("columnheader", name="weight", exact=True)
    score = panel.get_by_role("columnheader", name="score", exact=True)
    panel.get_by_role("button", name="Scores").click()
    expect(score).to_be_visible()
    expect(weight).to_be_hidden()
    panel.get_by_role("button", name="Normalisation").focus()
    page.keyboard.press("Enter")
    expect(weight).to_be_visible()
    expect(panel.get_by_role("button", name="Normalisation")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_a_mean_of_heads_has_no_steps_and_offers_the_heads(open_records):
    page = open_records(RECORD)
    panel = open_panel(page, "Step by step")
    panel.get_by_role("button", name="decoder 2, head 1").click()
    expect(panel.get_by_role("option", name="stud")).to_be_visible()
    expect(page.get_by_text("decoder 2 · head 1").first).to_be_visible()


def test_a_served_model_shows_its_steps(open_page, server):
    page = open_page(server)
    record = ask(page, "我是一个学生。")
    panel = open_panel(page, "Step by step")
    columns = lines_of(panel)
    cross = record.map("cross")
    np.testing.assert_allclose(numbers_in(columns["score"]), cross.scores[0, 0, 0], atol=0.0051)
    np.testing.assert_allclose(numbers_in(columns["weight"]), cross.weights[0, 0, 0], atol=ROUNDED)
    expect(panel.get_by_role("status")).to_contain_text("agrees with the recorded weights")


def test_what_an_additive_score_adds_up(open_page, server, keep):
    page = open_page(server)
    record = ask(page, "我是一个学生。")
    panel = open_panel(page, "Step by step")
    panel.get_by_role("button", name="Scores").click()
    keep(page, "steps-additive-neurons")
    expect(panel.locator(".neuron-view")).to_contain_text("v ⊙ tanh(q + k)")
    rows = panel.locator(".neuron-view tbody tr").all()
    shown = [number(row.locator("td").last.inner_text()) for row in rows]
    np.testing.assert_allclose(shown, record.map("cross").scores[0, 0, 0], atol=6e-4)
