"""Subwords merged into words, raw tokens on request, and every writing system readable."""

from __future__ import annotations

import numpy as np
import pytest
from made_records import scripts_record, translation_record
from reading_pages import (
    ROUNDED,
    choose,
    expect,
    open_panel,
    sentence_of,
    shown_matrix,
    switch,
    word_numbers_of,
    words_of,
)

from regard.records.token_words import merge_words

RECORD = translation_record()
MERGED = "words: sum over keys, mean over queries"


def test_weights_of_words_are_sums_over_keys_and_means_over_queries(open_records, keep):
    page = open_records(RECORD)
    expect(page.get_by_text(MERGED).first).to_be_visible()
    assert words_of(page, "target") == ["I", "am", "a", "happy", "student", ".", "(end)"]
    keep(page, "words-merged")
    target, source = RECORD.sides["target"], RECORD.sides["source"]
    rows = word_numbers_of(words_of(page, "target"), target.tokens)
    assert rows == list(target.words)
    columns = word_numbers_of(words_of(page, "source"), source.tokens)
    expected = merge_words(RECORD.map("cross").weights.mean((0, 1)), rows, columns)
    np.testing.assert_allclose(shown_matrix(page, "target", "source"), expected, atol=ROUNDED)


def test_tokens_are_shown_on_request_and_nothing_is_said_of_merging(open_records):
    page = open_records(RECORD)
    choose(page, "unit", "tokens")
    assert words_of(page, "target") == list(RECORD.sides["target"].tokens)
    assert words_of(page, "source") == list(RECORD.sides["source"].tokens)
    expect(page.get_by_text(MERGED)).to_have_count(0)


def test_chinese_words_are_whole(open_records):
    page = open_records(RECORD)
    assert "学生" in words_of(page, "source")
    assert sentence_of(page, "source").get_attribute("lang") == "zh"


def test_special_tokens_can_be_hidden_and_the_title_says_so(open_records):
    page = open_records(RECORD)
    switch(page, "special tokens")
    expect(page.get_by_text("special tokens hidden, weights as they were").first).to_be_visible()
    assert "(end)" not in words_of(page, "target") + words_of(page, "source")
    rows = word_numbers_of(words_of(page, "target"), RECORD.sides["target"].tokens[:-1])
    columns = word_numbers_of(words_of(page, "source"), RECORD.sides["source"].tokens[:-1])
    weights = RECORD.map("cross").weights.mean((0, 1))[:-1, :-1]
    shown = shown_matrix(page, "target", "source")
    np.testing.assert_allclose(shown, merge_words(weights, rows, columns), atol=ROUNDED)


def test_words_of_many_scripts_are_written_whole(open_records, keep):
    page = open_records(scripts_record())
    assert words_of(page, "Hebrew") == ["שלום", "עולם", "טוב"]
    words = words_of(page, "many scripts")
    assert words[0] == "كتاب"
    assert words[-1] == "🎉"
    assert "".join(words) == "كتاب東京に🎉"
    keep(page, "words-scripts")


def test_bytes_of_one_character_say_which_they_are(open_records, keep):
    page = open_records(scripts_record())
    choose(page, "unit", "tokens")
    assert words_of(page, "many scripts")[-3:] == ["🎉 1/3", "🎉 2/3", "🎉 3/3"]
    keep(page, "words-bytes")
    weights = scripts_record().maps[0].weights[0, 0]
    np.testing.assert_allclose(shown_matrix(page, "many scripts", "Hebrew"), weights, atol=ROUNDED)


def test_hebrew_runs_from_right_to_left(open_records):
    page = open_records(scripts_record())
    boxes = [
        word.bounding_box() for word in sentence_of(page, "Hebrew").get_by_role("button").all()
    ]
    places = [box["x"] for box in boxes]
    assert places == sorted(places, reverse=True)
    cell = page.get_by_role("gridcell")
    cell.focus()
    first = cell.bounding_box()["x"]
    page.keyboard.press("ArrowLeft")
    assert "עולם" in cell.get_attribute("aria-label")
    assert cell.bounding_box()["x"] < first
    switch(page, "right to left")
    page.get_by_role("gridcell").focus()
    page.keyboard.press("Control+Home")
    turned = cell.bounding_box()["x"]
    page.keyboard.press("ArrowRight")
    assert cell.bounding_box()["x"] > turned


@pytest.mark.parametrize("panel", ["Step by step", "Is it an explanation?", "Table"])
def test_panels_write_words_of_many_scripts(open_records, panel):
    page = open_records(scripts_record())
    expect(open_panel(page, panel).get_by_text("كت").first).to_be_visible()
