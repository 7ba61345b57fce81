"""The exported page: everything in it, nothing outside, and no record can become markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from regard.records.record import AttentionRecord
from regard.records.side import Side
from regard.view.html import page_html

HOSTILE = "</script><script>alert(1)</script><!--"


class Page(HTMLParser):
    """The elements of a page, and what stands in its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self.open = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open = dict(attributes).get("type") or tag

    def handle_data(self, data):
        self.inside[self.open] = self.inside.get(self.open, "") + data

    def handle_endtag(self, tag):
        self.open = ""

    @property
    def policy(self) -> str:
        return next(a["content"] for t, a in self.elements if a.get("http-equiv"))


def record(*labels: str, title: str = "") -> AttentionRecord:
    return AttentionRecord.of(np.full((len(labels), 2), 0.5), labels, ["x", "y"], title=title)


def test_the_records_are_in_it_as_they_are():
    first, second = record("a", "我", HOSTILE, "\u2028\ud800"), record("b")
    page = Page(page_html([first, second], state={"layer": 1}))
    given = json.loads(page.inside["application/json"])
    assert given["state"] == {"layer": 1}
    assert next(AttentionRecord.from_dict(each) for each in given["records"]).sides == first.sides
    assert given["records"][1] == second.to_dict()


def test_nothing_in_a_record_becomes_markup():
    page = Page(page_html([record(HOSTILE, title=HOSTILE)]))
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert "alert(1)" not in page.inside["module"]
    assert page.inside["title"] == HOSTILE


def test_the_policy_allows_its_own_script_and_style_and_nothing_else():
    page = Page(page_html([record("a")]))
    for kind, element in (("script-src", "module"), ("style-src", "style")):
        digest = hashlib.sha256(page.inside[element].encode()).digest()
        assert f"{kind} 'sha256-{base64.b64encode(digest).decode()}'" in unescape(page.policy)
    assert page.policy.startswith("default-src 'none'")
    assert "unsafe" not in page.policy


def test_nothing_is_fetched():
    page = Page(page_html([record("a")]))
    for _, attributes in page.elements:
        for name in ("src", "href"):
            assert (attributes.get(name) or "data:").startswith("data:")
    assert not re.search(r"^\s*import\b", page.inside["module"], re.MULTILINE)


def test_many_heads_fit_into_four_megabytes():
    powers = np.exp(np.random.default_rng(0).normal(size=(12, 12, 128, 128)) * 3)
    side = Side.of_labels([f"token{n}" for n in range(128)])
    large = AttentionRecord.of(powers / powers.sum(-1, keepdims=True), side)
    assert len(page_html([large]).encode()) < 4_000_000


def test_a_page_without_a_title_still_has_one():
    assert Page(page_html([record("a")])).inside["title"] == "attention"
    assert (
        Page(page_html([record("a", title="one"), record("b", title="two")])).inside["title"]
        == "one · two"
    )


@pytest.mark.parametrize("text", ["a < b & c", "\x00", "‮txt"])
def test_titles_are_escaped(text):
    page = Page(page_html([record("a", title=text)]))
    assert "\x00" not in page.inside["title"]
    assert "‮" not in page.inside["title"]
