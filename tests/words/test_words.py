"""Messages: English as it is written, or what a translation says of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from regard import words
from regard.words import language, t


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What zh.json would say."""
    said: dict[str, object] = {}
    monkeypatch.setenv("REGARD_LANG", "zh_CN.UTF-8")
    monkeypatch.setattr(words, "translations", lambda language: {"zh": said}.get(language, {}))
    return said


def test_english_is_what_is_written() -> None:
    assert t("Heat map") == "Heat map"
    assert t("{n} of {count}", n=2, count="three") == "2 of three"
    assert t("{n} of {count}", n=2) == "2 of {count}"
    assert [t.plural(n, "one token", "{n} tokens") for n in (0, 1, 2)] == [
        "0 tokens",
        "one token",
        "2 tokens",
    ]


def test_a_value_is_not_looked_into() -> None:
    assert t("{a} and {b}", a="{b}", b="{a}") == "{b} and {a}"


def test_a_translation_is_taken_where_there_is_one(chinese: dict[str, object]) -> None:
    chinese |= {"Heat map": "热图", "{n} tokens": "{n} 个词元", "empty": ""}
    assert t("Heat map") == "热图"
    assert t("Export") == "Export"
    assert t("empty") == "empty"
    assert t.plural(1, "one token", "{n} tokens") == "1 个词元"
    chinese["{n} tokens"] = {"one": "一个词元", "other": "{n} 个词元"}
    assert t.plural(1, "one token", "{n} tokens") == "一个词元"
    assert t.plural(5, "one token", "{n} tokens") == "5 个词元"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-CN", "zh"),
        ("zh_CN.UTF-8", "zh"),
        ("EN", "en"),
        ("C", "en"),
        ("C.UTF-8", "en"),
        ("../../secrets", "en"),
        ("english", "en"),
    ],
)
def test_which_language_a_setting_means(
    said: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_LANG", said)
    assert language() == meant


def test_a_language_without_a_file_is_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_LANG", "xx")
    assert words.translations("xx") == {}
    assert t("Heat map") == "Heat map"


def test_english_reads_no_file() -> None:
    program = (
        "import sys, json\nfrom regard.words import t\nread = []\n"
        "sys.addaudithook(lambda event, given: event == 'open' and read.append(str(given[0])))\n"
        "t('Heat map'), t.plural(2, 'one', '{n}')\n"
        "print(json.dumps([name for name in read if name.endswith('.json')]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout) == []
