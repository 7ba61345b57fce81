"""Words of a script without spaces are joined and split by hand, and the record keeps it."""

from __future__ import annotations

import json

import numpy as np
from made_records import translation_record
from reading_pages import ROUNDED, ask, choose, expect, sentence_of, shown_matrix, words_of

import regard
from regard.records.token_words import merge_words

RECORD = translation_record()
SOURCE = RECORD.sides["source"]


def pin(page, word):
    sentence_of(page, "source").get_by_role("button", name=word, exact=True).click()


def downloaded(page, tmp_path, kind):
    page.locator("summary.tool").click()
    with page.expect_download() as waiting:
        page.locator(f"[data-kind={kind}]").click()
    file = tmp_path / f"exported.{kind}"
    waiting.value.save_as(file)
    return file


def test_words_are_split_and_joined_and_their_weights_follow(open_records, keep):
    page = open_records(RECORD)
    found = words_of(page, "source")
    assert "学生" in found
    pin(page, "学生")
    page.get_by_role("button", name="Split into tokens").click()
    split = words_of(page, "source")
    assert "学生" not in split
    assert split[split.index("学") + 1] == "生"
    pin(page, "学")
    pin(page, split[split.index("学") - 1])
    page.get_by_role("button", name="Join with the next").click()
    joined = split[split.index("学") - 1] + "学"
    now = words_of(page, "source")
    assert joined in now
    keep(page, "words-corrected")
    tokens = list(SOURCE.tokens)
    numbers, at = [], 0
    for number, word in enumerate(now):
        length = 0
        while at < len(tokens) and length < len(word):
            numbers.append(number)
            length += len(tokens[at])
            at += 1
    rows = RECORD.sides["target"].words
    expected = merge_words(RECORD.map("cross").weights.mean((0, 1)), rows, numbers)
    np.testing.assert_allclose(shown_matrix(page, "target", "source"), expected, atol=ROUNDED)
    page.get_by_role("button", name="Words as they were found").click()
    assert words_of(page, "source") == found
    assert "words=" not in page.url


def test_the_record_the_address_and_the_exported_page_keep_it(open_records, open_page, tmp_path):
    page = open_records(RECORD)
    pin(page, "学生")
    page.get_by_role("button", name="Split into tokens").click()
    split = words_of(page, "source")
    assert "words=" in page.url
    page.reload()
    expect(page.get_by_role("button", name="学", exact=True)).to_be_visible()
    assert words_of(page, "source") == split
    saved = regard.AttentionRecord.from_dict(
        json.loads(downloaded(page, tmp_path, "json").read_text(encoding="utf-8"))
    )
    side = saved.sides["source"]
    assert side.corrected
    assert len(set(side.words)) == len(split)
    assert RECORD.sides["target"] == saved.sides["target"]
    again = open_page(downloaded(page, tmp_path, "html").as_uri())
    assert words_of(again, "source") == split
    page.go_back()
    expect(page.get_by_role("button", name="学生", exact=True)).to_be_visible()


def test_by_keyboard(open_records):
    page = open_records(RECORD)
    pin(page, "学生")
    split = page.get_by_role("button", name="Split into tokens")
    split.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Join with the next")).to_be_focused()
    page.keyboard.press("Enter")
    assert "学生" in words_of(page, "source")


def test_tokens_have_no_such_tools(open_records):
    page = open_records(RECORD)
    choose(page, "unit", "tokens")
    pin(page, "学")
    expect(page.locator(".word-tool:visible")).to_have_count(0)


def test_a_link_to_a_server_has_the_corrected_words_too(open_page, server):
    page = open_page(server)
    ask(page, "我喜欢苹果。")
    before = words_of(page, "source")
    pin(page, before[0])
    page.get_by_role("button", name="Join with the next").click()
    after = words_of(page, "source")
    assert len(after) == len(before) - 1
    other = open_page(page.url)
    expect(
        sentence_of(other, "source").get_by_role("button", name=after[0], exact=True)
    ).to_be_visible()
    assert words_of(other, "source") == after
    ask(other, "你好。")
    assert "words=" not in other.url
