"""The page in another language: one made of English in brackets, so that what was forgotten shows."""

from __future__ import annotations

import json
import re

import pytest
from made_records import document_record, image_record, translation_record
from reading_pages import ask, expect, open_panel

from regard import words
from regard.view.html import page_html
from regard.words.collect import LISTED

# Names and formulas, which are the same in every language
SAME = {
    "regard",
    "English",
    "CSV",
    "NPZ",
    "PDF",
    "SVG",
    "PNG",
    "HTML",
    "JSON",
    "log",
    "nats",
    "TVD",
    "JSD",
}
READ = """() => {
  const said = [], texts = [];
  const walk = document.createTreeWalker(document.querySelector("#regard"), NodeFilter.SHOW_ALL);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) texts.push(node.textContent);
    else if (node.nodeType === Node.ELEMENT_NODE) {
      const names = ["aria-label", "title", "placeholder", "alt"];
      said.push(...names.map((name) => node.getAttribute(name) ?? ""));
    }
  }
  return [texts.join(" | "), ...said]; // a message with elements in it is several texts
}"""


@pytest.fixture
def bracketed(monkeypatch):
    """Messages of the language qps: ⟦Export⟧."""
    listed = json.loads(LISTED.read_text(encoding="utf-8"))
    said = {message: f"⟦{message}⟧" for message in listed}
    monkeypatch.setenv("REGARD_LANGUAGE", "qps")
    monkeypatch.setattr(words, "translations", lambda language: said if language == "qps" else {})


def left_in_english(page, records) -> set[str]:
    """Words outside brackets that are of no record."""
    known = json.dumps([record.to_dict() for record in records], ensure_ascii=False)
    left = set()
    for said in page.evaluate(READ):
        while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", " ", said)) != said:
            said = shorter
        left |= {
            word
            for word in re.findall(r"[A-Za-z]{3,}", said)
            if word not in known and word not in SAME
        }
    return left


@pytest.mark.parametrize("made", ["translation", "image", "document"])
def test_nothing_but_names_stays_english(made, bracketed, open_records, keep):
    pairs = {
        "translation": (translation_record(), translation_record(1, "another")),
        "image": (image_record(),),
        "document": (document_record(),),
    }
    page = open_records(*pairs[made])
    expect(page.get_by_text("⟦Export⟧")).to_be_visible()
    assert left_in_english(page, pairs[made]) == set()
    for tab in page.get_by_role("tab").all():
        tab.click()
        assert left_in_english(page, pairs[made]) == set(), tab.text_content()
    if made == "document":
        page.get_by_role("button", name="⟦Open all⟧").click()
        page.locator(".level-word").first.hover()
        expect(page.locator(".levels-readout")).to_contain_text("⟦")
        assert left_in_english(page, pairs[made]) == set()
    if made == "translation":
        page.get_by_role("button", name=re.compile(r"decoder 2\W+head 3")).first.click()
        page.get_by_role("tab").first.click()
        assert left_in_english(page, pairs[made]) == set()
    keep(page, f"language-{made}")


def test_the_exported_file_speaks_the_same_language(bracketed, open_records, open_page, tmp_path):
    page = open_records(translation_record())
    assert page.locator("html").get_attribute("lang") == "qps"
    page.get_by_text("⟦Export⟧").click()
    with page.expect_download() as waiting:
        page.get_by_text("⟦this page, for any browser, offline⟧").click()
    file = tmp_path / "exported.html"
    waiting.value.save_as(file)
    again = open_page(file.as_uri())
    expect(again.get_by_text("⟦Export⟧")).to_be_visible()
    assert again.locator("html").get_attribute("lang") == "qps"


def test_a_switch_changes_the_language_and_the_address_keeps_it(open_records, open_page, keep):
    page = open_records(translation_record())
    assert page.locator("html").get_attribute("lang") == "en"
    page.get_by_role("tab", name="Table").click()
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_text("导出")).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "zh"
    assert "language=zh" in page.url
    assert "panel=table" in page.url
    expect(page.get_by_role("tab", selected=True)).to_have_text("表格")
    expect(page.get_by_role("button", name="English")).to_be_focused()
    keep(page, "language-switched")
    page.reload()
    expect(page.get_by_text("导出")).to_be_visible()
    page.get_by_role("button", name="English").click()
    expect(page.get_by_text("Export", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_text("Export", exact=True)).to_be_visible()


def test_the_choice_is_kept_for_the_next_page(open_records):
    page = open_records(translation_record())
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_text("导出")).to_be_visible()
    page.goto(page.url.partition("#")[0])
    expect(page.get_by_text("导出")).to_be_visible()


@pytest.mark.parametrize(
    ("locale", "asked", "said"),
    [
        ("zh-CN", "", "导出"),
        ("zh-TW", "", "导出"),
        ("fr-FR", "", "Export"),
        ("zh-CN", "en", "Export"),
        ("en-GB", "zh", "导出"),
    ],
)
def test_the_browser_says_the_language_unless_the_page_was_made_in_one(
    locale, asked, said, browser, tmp_path, monkeypatch
):
    monkeypatch.setenv("REGARD_LANGUAGE", asked)
    file = tmp_path / "page.html"
    file.write_text(page_html([translation_record()]), encoding="utf-8")
    context = browser.new_context(locale=locale)
    try:
        page = context.new_page()
        page.goto(file.as_uri())
        expect(page.locator("summary.tool")).to_have_text(said)
    finally:
        context.close()


def test_a_served_page_is_switched_with_all_that_the_server_says(open_page, server, keep):
    page = open_page(server)
    page.get_by_role("button", name="中文").click()
    expect(page.locator(".first-about")).to_contain_text("读")
    page.locator("input.question").fill("我喜欢" * 100)
    page.keyboard.press("Enter")
    expect(page.locator(".notes")).to_contain_text("词元")
    keep(page, "language-served")
    page.get_by_role("button", name="English").click()
    expect(page.locator(".notes")).to_contain_text("the text has 300 tokens")


@pytest.mark.parametrize("measured", [True, False], ids=["after", "while"])
def test_measures_speak_the_language_that_is_switched_to(open_page, server, measured):
    page = open_page(server)
    ask(page, "我是一个学生。")
    panel = open_panel(page, "Is it an explanation?")
    panel.get_by_role("button", name="Measure").click()
    if measured:
        expect(panel.get_by_text("Leave one out").first).to_be_visible()
    page.get_by_role("button", name="中文").click()
    cards = page.locator(".explain-cards")
    expect(cards).to_contain_text("逐一去掉")
    expect(cards).not_to_contain_text("Leave one out")
    expect(page.locator(".notes")).not_to_contain_text(re.compile(r"[a-z]{3,} [a-z]{3,}"))
