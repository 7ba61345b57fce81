"""The language of a command: --language anywhere, then REGARD_LANGUAGE, then the terminal's, then English."""

from __future__ import annotations

import os

import pytest

from regard import words
from regard.cli import main


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """What a command prints; given: variables of its environment."""
    monkeypatch.setattr(words, "_of_the_process", "")
    monkeypatch.setenv("REGARD_LANGUAGE", "")  # so that what a command sets is undone

    def run(*arguments: str, **given: str) -> str:
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit):
            main(list(arguments))
        printed = capsys.readouterr()
        return printed.out + printed.err

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        ("--language", "zh", "recipes", "--help"),
        ("recipes", "--language=zh-CN", "--help"),
        ("recipes", "--help", "--language", "中文"),
    ],
)
def test_the_option_may_stand_anywhere(said, arguments) -> None:
    assert "列出 regard 和其他软件包的配方" in said(*arguments, REGARD_LANGUAGE="en")
    assert os.environ["REGARD_LANGUAGE"] == "zh"  # for processes that it starts


def test_the_variable_comes_before_the_terminal(said) -> None:
    assert "配方" in said("recipes", "--help", LANG="zh_CN.UTF-8")
    assert "List the recipes" in said("recipes", "--help", REGARD_LANGUAGE="en")
    assert "配方" in said("recipes", "--help", REGARD_LANGUAGE="zh", LANG="de_DE.UTF-8")
    assert "List the recipes" in said("recipes", "--help", REGARD_LANGUAGE="", LANG="de_DE.UTF-8")


def test_errors_and_their_hints_are_translated_to_the_end(said) -> None:
    printed = said("train", "zn-en", REGARD_LANGUAGE="zh")
    assert "错误：没有配方 'zn-en'。您是想写 'zh-en' 吗？" in printed
    assert "提示：regard recipes 列出全部" in printed
    printed = said("train", "zh-en", "model.hiden=3")
    assert "错误：未知的键 'model.hiden'。您是想写 'model.hidden' 吗？" in printed
    assert "提示：regard schema 打印配方的所有键" in printed
    printed = said("train", "zh-en", "model.hidden=x")
    assert "model.hidden 为 'x'：应为整数" in printed


def test_a_language_that_there_is_not_is_told(said) -> None:
    assert "there are en (English), zh (中文)" in said("--language", "klingon", "recipes")
    assert "there are en (English), zh (中文)" in said("recipes", "--language")


def test_what_stands_behind_two_dashes_is_a_text(said) -> None:
    printed = said("classify", "-m", "nowhere", "--", "--language", "zh")
    assert "no folder nowhere" in printed


def test_problems_of_data_are_said_in_chinese_and_kept_in_english(said, tmp_path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("a\tb\nc\n\t\nd\te\n", encoding="utf-8")
    assert "1 个空的行（3）" in said("data", "check", str(file), REGARD_LANGUAGE="zh")
    assert "1 empty line (3)" in said("data", "check", str(file), REGARD_LANGUAGE="en")


@pytest.mark.parametrize(
    ("arguments", "english", "chinese"),
    [
        (["trian"], "no such command 'trian'. Did you mean 'train'?", "没有命令 'trian'。您是想写"),
        (["train"], "missing argument 'RECIPE'.", "缺少参数 'RECIPE'。"),
        (["recipes", "--colour"], "no such option: --colour", "没有选项 --colour"),
        (["recipes", "one", "two"], "unexpected extra argument", "多余的参数"),
        (["translate", "--beam", "x"], "should be a valid integer", "值无效：应为整数"),
        (["translate", "--beam", "0"], "greater than or equal to 1", "值无效：应不小于 1"),
        (["translate", "--beam"], "requires an argument", "需要一个值"),
    ],
)
def test_mistakes_in_a_command_line_are_told_too(said, arguments, english, chinese) -> None:
    assert english in said(*arguments, REGARD_LANGUAGE="en")
    assert chinese in said(*arguments, REGARD_LANGUAGE="zh")
