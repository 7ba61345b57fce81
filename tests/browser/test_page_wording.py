"""What the page calls things, a scale that does not change, labels that stay, spaces that are no words."""

from __future__ import annotations

import re

from made_records import square_record, translation_record
from reading_pages import ask, choose, expect, open_panel, sentence_of, words_of

RECORD = translation_record()


def test_a_fixed_scale_goes_from_0_to_1(open_records):
    page = open_records(RECORD)
    legend = page.locator(".legend-place")
    assert not re.search(r"(^|\s)1($|\s)", legend.inner_text())
    choose(page, "colour scale", "0 to 1")
    expect(legend).to_have_text(re.compile(r"^01"))
    assert "scale=one" in page.url
    choose(page, "colour scale", "each row")
    expect(legend).to_contain_text("row’s most")
    choose(page, "colour scale", "whole map")
    assert "scale=" not in page.url


def test_labels_of_the_columns_stay_over_a_tall_map(open_records, keep):
    page = open_records(square_record(90), width=900, height=600)
    place = page.locator(".heatmap-place")
    label = page.locator(".col-labels .label").first
    place.scroll_into_view_if_needed()
    place.evaluate("(element) => (element.scrollTop = element.scrollHeight)")
    assert place.evaluate("(element) => element.scrollTop") > 200
    top, bottom = place.bounding_box()["y"], place.bounding_box()["y"] + 200
    assert top - 1 <= label.bounding_box()["y"] <= bottom
    keep(page, "tall-map")


def test_sides_say_what_is_done_with_them(open_records):
    page = open_records(RECORD)
    captions = page.locator(".sentence-caption").all_inner_texts()
    assert [" ".join(each.split()) for each in captions] == [
        "source keys · read from",
        "target queries · written",
    ]


def test_numbers_are_told_in_words_that_can_be_read(open_records):
    page = open_records(RECORD)
    sentence_of(page, "target").get_by_role("button").first.hover()
    expect(page.locator(".map-place .readout")).to_contain_text(
        re.compile(r"entropy [\d.]+ nats, about [\d.]+ words’ worth")
    )
    panel = open_panel(page, "Is it an explanation?")
    expect(panel.get_by_role("columnheader", name="on (start), (end)")).to_be_visible()


def test_spaces_are_no_words(open_page, server):
    page = open_page(server)
    ask(page, "Hello, how are you?")
    words = words_of(page, "source")
    assert words == ["Hello", ",", "how", "are", "you", "?", "(end)"]
    choose(page, "unit", "tokens")
    assert "␣" in words_of(page, "source")


def test_a_text_longer_than_all_that_was_learnt_is_told(open_page, server):
    page = open_page(server)
    ask(page, "我喜欢" * 100)
    expect(page.locator(".notes")).to_contain_text(
        "the text has 300 tokens, and the model was trained on texts of up to 100"
    )
