"""Typing a sentence: its translation, and partners that light up by mouse and by keyboard."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_records import HOSTILE
from reading_pages import (
    QUESTION,
    ROUNDED,
    ask,
    choose,
    darkness,
    expect,
    number,
    sentence_of,
    shown_matrix,
    word_numbers_of,
    words_of,
)

from regard.records.token_words import merge_words

STUDENT = "我是一个学生。"


@pytest.fixture
def page(open_page, server):
    return open_page(server)


def readout(page) -> str:
    return page.get_by_text("attends").or_(page.get_by_text(" gets ")).first.inner_text()


def weights_said(sentence: str) -> dict[str, float]:
    """‘am’ attends 0.42 to ‘我’, 0.3 to ‘是’ -> {我: 0.42, 是: 0.3}"""
    found = re.findall(r"([\d.]+) (?:to|from) ‘([^’]*)’", sentence)
    return {word: float(weight) for weight, word in found}


def shown_weights(page, record) -> np.ndarray:
    """The record's weights between the words that the page shows."""
    cross = record.map("cross")
    rows = word_numbers_of(words_of(page, "target"), record.sides["target"].tokens)
    columns = word_numbers_of(words_of(page, "source"), record.sides["source"].tokens)
    return merge_words(cross.weights[0, 0], rows, columns)


def test_a_typed_sentence_is_translated_and_its_weights_are_those_of_the_model(page, keep):
    record = ask(page, STUDENT)
    assert record.sides["source"].text == STUDENT
    expect(page.get_by_text(record.output, exact=True).first).to_be_visible()
    expected = shown_weights(page, record)
    np.testing.assert_allclose(shown_matrix(page, "target", "source"), expected, atol=ROUNDED)
    keep(page, "served-light")


def test_a_pause_in_typing_is_enough(page):
    with page.expect_response("**/attention") as answer:
        page.get_by_label(QUESTION).press_sequentially("你好。", delay=20)
    expect(page.get_by_text(answer.value.json()["output"], exact=True).first).to_be_visible()


def test_pointing_at_a_target_word_lights_up_the_source_words_that_it_reads(page, keep):
    record = ask(page, STUDENT)
    weights = shown_weights(page, record)
    sources = sentence_of(page, "source").get_by_role("button")
    row = words_of(page, "target").index("student")
    resting = [darkness(sources.nth(n)) for n in range(weights.shape[1])]
    sentence_of(page, "target").get_by_role("button", name="student").hover()
    strongest = sources.nth(int(weights[row].argmax()))
    expect(strongest).to_have_attribute("style", re.compile("background-color: rgb"))
    lit = [darkness(sources.nth(n)) for n in range(weights.shape[1])]
    assert np.argmax(lit) == weights[row].argmax()
    assert max(lit) > max(resting) + 0.2
    said = weights_said(readout(page))
    assert len(said) == 3
    for word, weight in said.items():
        assert weight == pytest.approx(
            weights[row, words_of(page, "source").index(word)], abs=0.006
        )
    keep(page, "served-hover")


def test_pointing_at_a_source_word_lights_up_the_target_words_that_read_it(page):
    record = ask(page, STUDENT)
    weights = shown_weights(page, record)
    targets = sentence_of(page, "target").get_by_role("button")
    column = words_of(page, "source").index("学生")
    sentence_of(page, "source").get_by_role("button", name="学生").hover()
    strongest = targets.nth(int(weights[:, column].argmax()))
    expect(strongest).to_have_attribute("style", re.compile("background-color: rgb"))
    lit = [darkness(targets.nth(n)) for n in range(weights.shape[0])]
    assert np.argmax(lit) == weights[:, column].argmax()
    said = weights_said(readout(page))
    for word, weight in said.items():
        assert weight == pytest.approx(
            weights[words_of(page, "target").index(word), column], abs=0.006
        )
    page.mouse.move(5, 5)
    expect(page.get_by_text("Point at a word")).to_be_visible()


def test_the_keyboard_does_the_same(page):
    record = ask(page, STUDENT)
    weights = shown_weights(page, record)
    words = sentence_of(page, "target").get_by_role("button")
    words.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(words.nth(2)).to_be_focused()
    best = sentence_of(page, "source").get_by_role("button").nth(int(weights[2].argmax()))
    expect(best).to_have_attribute("style", re.compile("background-color: rgb"))
    page.keyboard.press("Enter")
    expect(words.nth(2)).to_have_attribute("aria-pressed", "true")
    page.mouse.move(5, 5)
    page.get_by_label(QUESTION).focus()
    expect(best).to_have_attribute("style", re.compile("background-color: rgb"))  # pinned: it stays
    words.nth(2).focus()
    page.keyboard.press("Escape")
    expect(words.nth(2)).to_have_attribute("aria-pressed", "false")


def test_arrows_walk_over_the_heat_map_and_say_each_number(page):
    record = ask(page, STUDENT)
    choose(page, "unit", "tokens")
    weights = record.map("cross").weights[0, 0]
    cell = page.get_by_role("gridcell")
    cell.focus()
    for row, column, keys in ((0, 0, ""), (0, 1, "Right"), (1, 1, "Down"), (1, 0, "Left")):
        if keys:
            page.keyboard.press(f"Arrow{keys}")
        target, source = record.sides["target"].tokens[row], record.sides["source"].tokens[column]
        said = cell.get_attribute("aria-label")
        assert said.startswith(f"‘{target}’ attends ")
        assert said.endswith(f"to ‘{source}’")
        shown = number(said.split("attends ")[1])
        assert shown == pytest.approx(weights[row, column], abs=0.0051)
    page.keyboard.press("Control+End")
    assert cell.get_attribute("aria-label").endswith("to ‘(end)’")


def test_markup_that_is_typed_is_text(page, keep):
    record = ask(page, HOSTILE)
    assert record.sides["source"].text == HOSTILE
    choose(page, "unit", "tokens")
    shown = "".join(words_of(page, "source"))
    assert "<" in shown
    assert page.locator("img[src=x]").count() == 0
    page.wait_for_timeout(100)  # time for a script that would run to say so
    keep(page, "served-hostile")


def test_what_the_server_refuses_is_said_in_words(open_page, server):
    page = open_page(server, refused=True)
    line = page.get_by_label(QUESTION)
    line.fill("长" * 6000)
    line.press("Enter")
    said = page.get_by_role("alert")
    expect(said).to_be_visible()
    expect(said).not_to_be_empty()
    line.fill("你好。")
    line.press("Enter")
    expect(said).to_be_hidden()


def test_the_page_allows_its_own_script_alone(page, server):
    headers = page.request.get(server).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
