"""The page in another language: one made of English in brackets, so that what was forgotten shows."""

from __future__ import annotations

import json
import re

import pytest
from made_records import document_record, image_record, translation_record
from reading_pages import expect

from regard import words
from regard.words.collect import LISTED

# Names and formulas, which are the same in every language
SAME = {"regard", "SVG", "PNG", "HTML", "JSON", "log", "nats", "TVD", "JSD"}
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
    monkeypatch.setenv("REGARD_LANG", "qps")
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
        page.get_by_role("button", name="decoder 2, ⟦head 3⟧").or_(
            page.get_by_role("button", name=re.compile("decoder 2, head 3"))
        ).first.click()
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


def test_english_pages_carry_no_translations(open_records):
    page = open_records(translation_record())
    assert "words" not in json.loads(page.locator("#regard-data").text_content())
    assert page.locator("html").get_attribute("lang") == "en"
