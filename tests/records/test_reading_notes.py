"""Inputs that a model was not made for are told, and others are not."""

from __future__ import annotations

from collections import Counter

import pytest

from regard.data.tokenizer import Tokenizer
from regard.records.reading_notes import (
    SCRIPTS,
    length_doubt,
    reading_notes,
    script_doubt,
    vocabulary_scripts,
)
from regard.words import speaking

CHARACTERS = Tokenizer.train(["我是一个学生。", "你好吗？", "abc"], kind="character")
ENGLISH = [
    "the students looked at the books in the library",
    "a teacher was looking at the student and at the book",
    "the library has many books and students",
] * 20
PIECES = Tokenizer.train(ENGLISH, kind="bpe", size=200)


def notes(text: str, **known) -> tuple[str, ...]:
    return reading_notes(text, CHARACTERS.encode(text), CHARACTERS, **known)


def doubted(text: str, language: str) -> str:
    """By a model that has learnt this language."""
    learnt = {script: 100 for script, those in SCRIPTS.items() if language in those.split()}
    return script_doubt(text, language, Counter(learnt))


def test_what_is_as_it_was_learnt_is_not_told():
    assert notes("我是学生。", language="zh", longest=5) == ()
    assert notes("", language="zh") == ()
    assert notes("12, 34!", language="zh") != ()  # digits were never seen, but are no letters
    assert doubted("12, 34!", "zh") == ""
    assert doubted("我喜欢 Python 和这本书。", "zh") == ""  # a word of another script is usual


def test_what_has_no_token_is_told_with_its_share():
    assert notes("我是谁？") == ("the model has no token for 谁: 25 % of this text",)
    (said,) = notes("甲乙丙丁戊己庚辛壬癸")
    assert (
        said == "the model has no token for 甲, 乙, 丙, 丁, 戊, 己, 庚, 辛, …: 100 % of this text"
    )


@pytest.mark.parametrize(
    ("text", "language", "found", "expected"),
    [
        ("Hello, how are you?", "zh", "Latin", "Chinese"),
        ("Привет, как дела?", "en", "Cyrillic", "English (Latin letters)"),
        ("我是学生", "de", "Chinese", "German (Latin letters)"),
        ("학생입니다", "ja", "Korean", "Japanese"),
        ("ﾊﾟｲｿﾝ を", "ko", "Japanese", "Korean"),
    ],
)
def test_another_script_is_told_by_its_name(text, language, found, expected):
    said = doubted(text, language)
    assert said.startswith("100 % of the letters are " + found)
    assert f"the model reads {expected}, and" in said


def test_scripts_and_languages_are_named_in_the_language_of_the_reader():
    with speaking("zh"):
        assert doubted("Привет, как дела?", "zh").startswith(
            "100 % 的字母是西里尔字母：模型读的是中文，"
        )
        assert "模型读的是英文（拉丁字母）" in doubted("我是学生", "en")


def test_of_a_language_that_nobody_named_no_script_is_expected():
    assert doubted("Hello", "") == doubted("Hello", "und") == ""


def test_a_language_that_the_vocabulary_is_not_of_is_not_expected():
    assert vocabulary_scripts(CHARACTERS) == {"CJK": 9, "LATIN": 3}
    assert notes("abc", language="zh") != ()
    tokens = PIECES.encode("the library")
    assert reading_notes("the library", tokens, PIECES, language="zh") == ()


def test_words_that_fall_into_small_pieces_are_told_of_a_tokenizer_of_subwords_alone():
    known, other = "the student looked at the library", "xylophon qwertz vjkfmp zzyxw"
    for text, doubted in ((known, False), (other, True)):
        tokens = PIECES.encode(text)
        said = reading_notes(text, tokens, PIECES, language="en")
        assert any("words fall into pieces" in note for note in said) == doubted
        cut = CHARACTERS.encode(text)
        plain = reading_notes(text, cut, CHARACTERS, language="en")
        assert not any("pieces of" in note for note in plain)


def test_a_text_that_is_longer_than_all_that_was_learnt_is_told():
    assert length_doubt(100, 100) == length_doubt(10**6, None) == ""
    said = "the text has 1,001 tokens, and the model was trained on texts of up to 100"
    assert length_doubt(1001, 100) == said
    assert notes("我" * 7, longest=6)[-1].endswith(
        "7 tokens, and the model was trained on texts of up to 6"
    )
