"""The empty page: who can be asked, what it reads and writes, examples, and a walk through a what-if."""

from __future__ import annotations

import re

import pytest
from reading_pages import QUESTION, ask, expect

from regard.looking.run_description import STORY
from regard.records.record import AttentionRecord


@pytest.fixture
def page(open_page, server):
    return open_page(server)


def first(page):
    return page.get_by_role("region", name="what can be asked")


def test_the_empty_page_names_the_model_and_what_it_reads_and_writes(page, keep):
    expect(first(page).get_by_role("heading")).to_have_text("zh-en")
    expect(first(page)).to_contain_text("reads 中文, writes English")
    expect(page.get_by_label(QUESTION)).to_be_focused()
    keep(page, "first-light")
    ask(page, "你好。")
    expect(first(page)).to_be_hidden()


def test_it_fits_a_phone_and_the_dark(open_page, server, keep):
    page = open_page(server, dark=True, width=390)
    expect(first(page).get_by_role("heading")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    keep(page, "first-phone")


def test_an_example_is_asked_by_a_click(page):
    example = first(page).get_by_role("listitem").get_by_role("button").first
    text = example.inner_text()
    with page.expect_response("**/attention") as answer:
        example.click()
    record = AttentionRecord.from_dict(answer.value.json())
    assert record.sides["source"].text == text
    expect(page.locator(".output")).to_have_text(record.output)
    expect(page.get_by_label(QUESTION)).to_have_value(text)


def test_the_walk_leads_through_a_what_if_and_each_step_is_a_link(page, open_page, keep):
    first(page).get_by_role("button", name=re.compile("A walk")).click()
    walk = page.get_by_role("region", name="a guided walk")
    expect(walk).to_contain_text("He is working in this store.")
    expect(walk).to_contain_text("1 of 3")
    expect(page.locator(".output")).to_have_text("He is working in this store.")
    expect(page.locator(".map-place .readout")).to_contain_text("‘store’ attends")
    keep(page, "walk-1")
    walk.get_by_role("button", name="Next").click()
    expect(page.locator(".output")).to_have_text("He is working in this library.")
    expect(page.locator(".changes")).to_contain_text(f"forced: library → {STORY['instead']}")
    expect(walk).to_contain_text("He is working in this library.")
    keep(page, "walk-2")
    again = open_page(page.url)
    expect(again.locator(".output")).to_have_text("He is working in this library.")
    expect(again.get_by_role("region", name="a guided walk")).to_contain_text("2 of 3")
    walk.get_by_role("button", name="Next").click()
    panel = page.get_by_role("tabpanel", name="Compare")
    expect(
        panel.get_by_text("He is working in this library.").filter(visible=True).first
    ).to_be_visible()
    expect(walk.get_by_role("button", name="Next")).to_be_disabled()
    keep(page, "walk-3")
    walk.get_by_role("button", name="Back").click()
    expect(page.locator(".output")).to_have_text("He is working in this library.")
    page.go_back()
    page.go_back()
    page.go_back()
    expect(page.locator(".output")).to_have_text("He is working in this store.")
    walk.get_by_role("button", name="Close").click()
    expect(walk).to_be_hidden()
    ask(page, "你好。")
    assert "walk" not in page.url


def test_a_link_that_cannot_be_answered_leaves_the_empty_page_and_says_why(open_page, server):
    page = open_page(f'{server}/#text=x&force={{"step":0,"keys":[99]}}', refused=True)
    expect(page.get_by_role("alert")).to_contain_text("force.keys has 99")
    expect(first(page).get_by_role("heading")).to_be_visible()
    page.get_by_label(QUESTION).fill("")
    ask(page, "你好。")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_other_models_are_named_as_they_are_chosen(open_page, server_of_two):
    page = open_page(server_of_two)
    expect(first(page).get_by_role("button", name=re.compile("A walk"))).to_be_visible()
    page.get_by_role("combobox", name=re.compile("^model")).select_option(label="toy")
    expect(first(page).get_by_role("heading")).to_have_text("toy")
    expect(first(page).get_by_role("button", name=re.compile("A walk"))).to_have_count(0)


def test_a_text_that_the_model_hardly_knows_is_told(page, keep):
    ask(page, "Hello, how are you?")
    notes = page.locator(".notes")
    expect(notes).to_contain_text("100 % of the letters are Latin: the model reads Chinese, and")
    keep(page, "first-foreign")


PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgAB"
    "SK+kcQAAAABJRU5ErkJggg=="
)
OTHERS = {  # what a server says of models of other tasks, as tests/serve/test_model_description.py has it
    "classify": (
        {"verb": "classify", "source": "en", "reads": "a text", "writes": "a label (bad, good)"},
        "trained to classify · reads a text (English) · writes a label (bad, good)",
        "Type a text above",
    ),
    "match": (
        {
            "verb": "match",
            "source": "en",
            "reads": "a text (first) and a text (second)",
            "writes": "a label (no, yes)",
            "hint": '{"first": "…", "second": "…"}',
            "examples": ['{"first": "a", "second": "b"}'],
        },
        "trained to match · reads a text (first) and a text (second) · writes a label (no, yes)",
        'Type its inputs above as {"first": "…", "second": "…"}',
    ),
    "language": (
        {"verb": "continue texts", "source": "und", "reads": "a text", "writes": ""},
        "trained to continue texts · reads a text",
        "Type a text above",
    ),
    "see": (
        {
            "verb": "name pictures",
            "source": "und",
            "reads": "a picture",
            "writes": "a label (0, 1, 2, 3, …)",
            "pictures": True,
            "examples": [PIXEL],
        },
        "trained to name pictures · reads a picture · writes a label (0, 1, 2, 3, …)",
        "Choose a picture above",
    ),
}


BERT = {
    "reads": "a text",
    "hint": '{"first": "…", "second": "…"}',
    "examples": ["a b", '{"first": "a"}'],
}
WHISPER = {"reads": "a sound", "hint": 'regard.look(model, processor, "said.wav")', "examples": []}


def told_of(browser, server: str, **said):
    """A page whose server says this of its model."""
    page = browser.new_context().new_page()

    def answer(route):
        told = route.fetch().json()["models"][0]
        route.fulfill(json={"models": [{**told, "task": "look", "story": None, **said}]})

    page.route("**/models", answer)
    page.goto(server)
    return page


def test_who_reads_a_sound_is_not_asked_for_a_text(browser, server, keep):
    page = told_of(browser, server, **WHISPER)
    expect(page.locator(".unasked")).to_have_text(
        "This model reads a sound, which this page cannot take. In Python: "
        'regard.look(model, processor, "said.wav")'
    )
    expect(page.get_by_label(QUESTION)).to_be_hidden()
    expect(first(page).locator(".first-hint")).to_have_count(0)
    keep(page, "first-sound")
    page.context.close()


def test_who_reads_one_text_or_two_is_asked_for_a_text_first(browser, server):
    page = told_of(browser, server, **BERT)
    expect(first(page).locator(".first-hint")).to_contain_text(
        'Type a text above, or two as {"first": "…", "second": "…"}'
    )
    page.context.close()


@pytest.mark.parametrize("task", OTHERS)
def test_models_of_every_task_are_told_in_words_that_make_sense(browser, server, task, keep):
    said, about, hint = OTHERS[task]
    context = browser.new_context()
    page = context.new_page()

    def answer(route):
        told = route.fetch().json()["models"][0]
        other = {**told, "name": task, "task": task, "examples": ["a b"], "story": None, **said}
        route.fulfill(json={"models": [other]})

    page.route("**/models", answer)
    page.goto(server)
    expect(first(page).get_by_role("heading")).to_have_text(task)
    expect(first(page).locator(".first-about")).to_have_text(about)
    expect(first(page).locator(".first-hint")).to_contain_text(hint)
    expect(first(page).get_by_role("listitem")).to_have_count(1)
    assert first(page).get_by_role("img").count() == (task == "see")
    keep(page, f"first-{task}")
    context.close()
