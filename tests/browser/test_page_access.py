"""Themes, motion, narrow screens, what is read aloud, and links that bring the same view back."""

from __future__ import annotations

import re

import numpy as np
import pytest
from made_records import image_record, softmax, translation_record
from reading_pages import (
    ask,
    choose,
    expect,
    links_of,
    number,
    open_panel,
    pick,
    switch,
    words_of,
)

from regard.records.record import AttentionRecord

RECORD = translation_record()
PANELS = ["Step by step", "Beam", "Compare", "Is it an explanation?", "Table"]
SCREENS = [  # how wide, and whether dark
    (400, False),
    (1280, True),
    pytest.param(400, True, marks=pytest.mark.heavy),
    pytest.param(1280, False, marks=pytest.mark.heavy),
]


IS_IN_SIGHT = """(cell) => {
  const box = cell.getBoundingClientRect();
  const there = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return there !== null && cell.closest("[role=grid]").contains(there);
}"""


def ground(page) -> float:
    """How bright the page is: 0 black, 1 white."""
    colour = page.get_by_role("banner").evaluate(
        """(element) => {
          for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (colour !== "rgba(0, 0, 0, 0)") return colour;
          }
          return "rgb(255, 255, 255)";
        }"""
    )
    red, green, blue = (float(part) for part in re.findall(r"[\d.]+", colour)[:3])
    return (red + green + blue) / (3 * 255)


def has_sideways_scroll(page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")


@pytest.mark.parametrize("dark", [False, True])
def test_the_theme_is_that_of_the_system_until_it_is_chosen(open_records, dark):
    page = open_records(RECORD, dark=dark)
    assert (ground(page) < 0.3) is dark
    page.emulate_media(color_scheme="light" if dark else "dark")
    page.locator(f"[data-theme={'light' if dark else 'dark'}]").wait_for()  # it is told in a moment
    assert (ground(page) < 0.3) is not dark
    button = page.get_by_role("button", name="theme: auto")
    button.click()
    page.get_by_role("button", name="theme: light").click()
    page.get_by_role("button", name="theme: dark").wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(100)  # time to follow it, which it must not
        assert ground(page) < 0.3


@pytest.mark.parametrize(("width", "dark"), SCREENS)
def test_every_panel_fits_the_screen_in_both_themes(open_records, keep, dark, width):
    page = open_records(RECORD, state={"layer": 1, "head": 2}, dark=dark, width=width)
    theme = "dark" if dark else "light"
    for title in PANELS:
        panel = open_panel(page, title)
        expect(panel).to_be_visible()
        assert not has_sideways_scroll(page), title
        keep(page, f"panel-{title.split()[-1].strip('?').lower()}-{theme}-{width}")
    page = open_records(image_record(), dark=dark, width=width)
    open_panel(page, "Picture")
    assert not has_sideways_scroll(page)
    keep(page, f"panel-picture-{theme}-{width}")


@pytest.mark.parametrize(("width", "dark"), SCREENS)
def test_the_served_page_fits_the_screen(open_page, server, keep, dark, width):
    page = open_page(server, dark=dark, width=width)
    keep(page, f"served-empty-{'dark' if dark else 'light'}-{width}")
    ask(page, "我今天下午要去图书馆看书。")
    assert not has_sideways_scroll(page)
    keep(page, f"served-{'dark' if dark else 'light'}-{width}")


def test_who_wants_no_motion_gets_none(open_records):
    still = open_records(RECORD, state={"layer": 1, "head": 2}, reduced_motion="reduce")
    panel = open_panel(still, "Step by step")
    panel.get_by_role("button", name="Scores").click()
    expect(panel.get_by_role("button", name="Play the steps")).to_have_count(0)
    moving = (
        "document.getAnimations().filter((a) => a.effect.getComputedTiming().duration > 50).length"
    )
    assert still.evaluate(moving) == 0
    lively = open_records(RECORD, state={"layer": 1, "head": 2})
    expect(
        open_panel(lively, "Step by step").get_by_role("button", name="Play the steps")
    ).to_be_visible()


def test_the_strongest_links_are_a_table_with_headings(open_records):
    page = open_records(RECORD)
    choose(page, "unit", "tokens")
    links = links_of(page, count=2)
    weights = RECORD.map("cross").weights.mean((0, 1))
    expected = [
        (query, RECORD.sides["source"].tokens[key])
        for query, row in zip(RECORD.sides["target"].tokens, weights, strict=True)
        for key in (-row).argsort()[:2]
    ]
    assert [(query, key) for query, key, _ in links] == expected
    table = page.get_by_role("tabpanel", name="Table").get_by_role("table")
    expect(table).to_have_accessible_name(re.compile("2 strongest keys of each query"))
    assert table.get_by_role("rowheader").count() == len(links)
    table.get_by_role("button", name="weight").click()
    sorted_weights = [weight for *_, weight in links_of(page, count=2)]
    assert sorted_weights == sorted(sorted_weights, reverse=True)
    expect(table.get_by_role("columnheader", name="weight")).to_have_attribute(
        "aria-sort", "descending"
    )


def test_everything_that_can_be_used_has_a_name(open_records):
    page = open_records(RECORD, state={"layer": 1, "head": 2})
    for title in PANELS:
        open_panel(page, title)
        for role in (
            "button",
            "combobox",
            "radio",
            "switch",
            "textbox",
            "spinbutton",
            "tab",
            "grid",
        ):
            for each in page.get_by_role(role).all():
                expect(each).to_have_accessible_name(re.compile(r"\S"))


@pytest.mark.parametrize("width", [400, 1280])
def test_the_cell_that_the_keyboard_walks_to_stays_in_sight(open_records, width):
    weights = softmax(np.random.default_rng(0).normal(size=(60, 8)))
    tall = AttentionRecord.of(weights, [f"q{n}" for n in range(60)], [f"k{n}" for n in range(8)])
    page = open_records(tall, width=width, height=700)
    cell = page.get_by_role("gridcell")
    cell.focus()
    for key in ("Control+End", "ArrowUp", "PageUp", "PageUp", "PageUp", "Control+Home"):
        page.keyboard.press(key)
        assert cell.evaluate(IS_IN_SIGHT), key


def test_a_link_brings_the_same_view_back(open_records, open_page):
    page = open_records(RECORD)
    choose(page, "attention", "decoder")
    pick(page, "layer", "layer 2")
    pick(page, "head", "head 3")
    choose(page, "unit", "tokens")
    choose(page, "colour scale", "each row")
    switch(page, "special tokens")
    page.get_by_role("button", name="theme: auto").click()
    open_panel(page, "Step by step")
    page.get_by_role("gridcell").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    pinned = page.get_by_role("button", pressed=True).all_inner_texts()
    again = open_page(page.url, dark=True)
    expect(again.get_by_role("tab", selected=True)).to_have_text("Step by step")
    expect(again.get_by_role("button", name="theme: light")).to_be_visible()
    assert again.get_by_role("button", pressed=True).all_inner_texts() == pinned
    assert len(pinned) >= 2
    captions = [
        each.get_by_text("self-attention of the decoder").first.inner_text()
        for each in (page, again)
    ]
    assert captions[0] == captions[1]
    assert "layer 2 · head 3" in captions[0]
    assert "hidden" in captions[0]
    for name in ("tokens", "each row"):
        expect(again.get_by_role("radio", name=name, exact=True)).to_be_checked()
    assert links_of(again) == links_of(page)


def test_a_link_holds_what_is_open_in_a_panel(open_records, open_page):
    page = open_records(RECORD, translation_record(1, "another"), state={"layer": 1, "head": 2})
    panel = open_panel(page, "Beam")
    panel.get_by_role("treeitem").nth(3).locator("text").first.click()
    again = open_page(page.url)
    chosen = again.get_by_role("treeitem", selected=True)
    expect(chosen).to_have_attribute("aria-label", re.compile("^hap, "))
    panel = open_panel(page, "Step by step")
    panel.get_by_role("button", name="Scores").click()
    again = open_page(page.url)
    expect(again.get_by_role("button", name="Scores")).to_have_attribute("aria-pressed", "true")


def test_a_link_asks_the_same_sentence_of_the_served_model(open_page, server):
    page = open_page(server)
    record = ask(page, "我是一个学生。")
    choose(page, "unit", "tokens")
    again = open_page(page.url)
    expect(again.get_by_text(record.output, exact=True).first).to_be_visible()
    assert words_of(again, "source") == list(record.sides["source"].tokens)
    assert links_of(again) == links_of(page)


def test_a_broken_link_still_opens(open_records):
    page = open_records(
        RECORD, fragment="#layer=99&head=-3&map=nothing&units=%FF&query=1e9&record=7"
    )
    cell = page.get_by_role("gridcell").get_attribute("aria-label")
    assert 0 <= number(cell.split("attends ")[1]) <= 1


def test_a_page_of_its_own_has_its_landmarks(open_records):
    page = open_records(RECORD)
    assert page.get_by_role("banner").count() == 1
    assert page.get_by_role("main").get_by_role("grid").count() >= 1
