"""Messages: English as it is written, or what a translation says of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regard import words
from regard.words import language, say_kept, t


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What zh.json would say."""
    said: dict[str, object] = {}
    monkeypatch.setenv("REGARD_LANGUAGE", "zh_CN.UTF-8")
    monkeypatch.setattr(words, "translations", lambda language: {"zh": said}.get(language, {}))
    return said


def test_what_is_kept_has_its_values_in_the_order_of_the_translation(
    chinese: dict[str, object],
) -> None:
    words._patterns.cache_clear()
    chinese["{}lines over {1} of {2}"] = "{2} 中超过 {1} 的 {}行"
    assert say_kept("text lines over 5 of 7") == "7 中超过 5 的 text 行"
    words._patterns.cache_clear()


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
        ("Chinese", "zh"),
        ("简体中文", "zh"),
    ],
)
def test_which_language_a_setting_means(
    said: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGARD_LANGUAGE", said)
    assert language() == meant


def test_a_language_without_a_file_is_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_LANGUAGE", "xx")
    assert words.translations("xx") == {}
    assert t("Heat map") == "Heat map"


def test_who_says_the_language_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """speaking(), then REGARD_LANGUAGE, then what the command found in the locale, then English."""
    monkeypatch.setattr(words, "_of_the_process", "")
    assert language() == "en"
    words.speak("zh_CN.UTF-8")
    assert language() == "zh"
    assert words.language_asked_for() == ""
    monkeypatch.setenv("REGARD_LANGUAGE", "en")
    assert language() == "en"
    with words.speaking("zh"):
        assert language() == "zh"
        with words.speaking(""):
            assert language() == "zh"
    assert language() == "en"


@pytest.mark.parametrize(
    ("accepted", "meant"),
    [
        ("", ""),
        ("*", ""),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("fr, en;q=0.5, zh;q=0.7", "zh"),
        ("zh;q=0, en;q=0.1", "en"),
        ("de;q=x, " * 50, ""),
        ("en;q=nan,zh;q=1e9", "en"),
    ],
)
def test_which_language_a_browser_accepts(accepted: str, meant: str) -> None:
    assert words.preferred(accepted) == meant


@pytest.mark.parametrize(
    "broken", [None, 3, ["热图"], {}, {"one": "一"}, {"other": 3}, {"other": None, "one": []}]
)
def test_a_broken_translation_is_none(broken: object, chinese: dict[str, object]) -> None:
    chinese |= {"{n} maps": broken}
    assert t("{n} maps", n=2) == "2 maps"
    assert t.plural(2, "one map", "{n} maps") == "2 maps"


def test_a_translation_with_other_braces_says_them(chinese: dict[str, object]) -> None:
    chinese["{n} maps"] = "{} {0.__class__} {n!r} {n:x} {m} {n"
    assert t("{n} maps", n=2) == "{} {0.__class__} {n!r} {n:x} {m} {n"


def test_a_catalogue_that_cannot_be_read_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "__file__", str(tmp_path / "__init__.py"))
    for number, text in enumerate(["", "{", "[]", '"zh"', "\ud800"]):
        code = f"q{'abcdef'[number]}"
        (tmp_path / f"{code}.json").write_bytes(text.encode("utf-8", "surrogatepass"))
        assert words.translations(code) == {}


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
