"""A server of two models: choose one, look into a Transformer, compare them, force one head."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reading_pages import QUESTION, ROUNDED, choose, expect, links_of, open_panel, pick

from regard.records.record import AttentionRecord

SENTENCE = "aa bb cc dd"


@pytest.fixture
def page(open_page, server_of_two):
    return open_page(server_of_two)


def heads_of(page):
    return page.get_by_role("group", name="layers and heads").get_by_role("button")


def ask_the_toy(page) -> AttentionRecord:
    page.get_by_role("combobox", name=re.compile("^model")).select_option(label="toy")
    with page.expect_response("**/attention") as answer:
        page.get_by_label(QUESTION).fill(SENTENCE)
        page.get_by_label(QUESTION).press("Enter")
    expect(heads_of(page).first).to_be_visible()
    return AttentionRecord.from_dict(answer.value.json())


def test_the_heads_of_a_served_transformer(page, keep):
    record = ask_the_toy(page)
    choose(page, "unit", "tokens")
    assert heads_of(page).count() == 4
    choose(page, "attention", "encoder")
    pick(page, "layer", "mean of all")
    pick(page, "head", "head 2")
    encoder = record.map("encoder").weights[:, 1].mean(0)
    tokens = record.sides["source"].tokens
    for query, key, weight in links_of(page):
        assert weight == pytest.approx(encoder[tokens.index(query), tokens.index(key)], abs=ROUNDED)
    choose(page, "attention", "decoder")
    expect(page.get_by_text("not allowed")).to_be_visible()
    keep(page, "two-models-transformer")


def test_one_head_of_one_step_is_forced(page):
    before = ask_the_toy(page)
    panel = open_panel(page, "Beam")
    panel.get_by_role("combobox", name=re.compile("^Layer")).select_option(index=2)
    panel.get_by_role("combobox", name=re.compile("^Head")).select_option(index=1)
    keys = panel.get_by_role("group", name="Source tokens to attend to").get_by_role("button")
    keys.nth(0).click()
    keys.nth(2).click()
    with page.expect_response("**/attention") as answer:
        panel.get_by_role("button", name="Force and translate again").click()
    forced = AttentionRecord.from_dict(answer.value.json()).map("cross").weights
    np.testing.assert_allclose(forced[1, 0, 0], [0.5, 0, 0.5, 0, 0], atol=1e-6)
    untouched = before.map("cross").weights[0, :, 0]
    np.testing.assert_allclose(forced[0, :, 0], untouched, atol=1e-5)


def test_two_models_are_compared_on_one_sentence(page, keep):
    ask_the_toy(page)
    panel = open_panel(page, "Compare")
    panel.get_by_role("combobox", name=re.compile("^by")).select_option(index=0)
    with page.expect_response("**/attention") as answer:
        panel.get_by_role("button", name="Compare").click()
    assert answer.value.json()["sides"]["source"]["text"] == SENTENCE
    assert answer.value.json()["model"] != "toy"
    expect(panel.get_by_role("figure").nth(1)).to_be_visible()
    keep(page, "two-models-compared")


def test_another_model_is_asked_the_same_sentence(page):
    ask_the_toy(page)
    with page.expect_response("**/attention") as answer:
        page.get_by_role("combobox", name=re.compile("^model")).select_option(index=0)
    assert answer.value.json()["sides"]["source"]["text"] == SENTENCE
    expect(page.locator(".output")).to_have_text(answer.value.json()["output"])
    page.go_back()
    expect(page.get_by_role("combobox", name=re.compile("^model"))).to_have_value("toy")


def test_a_link_holds_the_model(page, open_page):
    record = ask_the_toy(page)
    choose(page, "unit", "tokens")
    again = open_page(page.url)
    expect(heads_of(again).first).to_be_visible()
    expect(again.get_by_role("combobox", name=re.compile("^model"))).to_have_value("toy")
    assert links_of(again) == links_of(page)
    assert record.model == "toy"
