"""Exact match and F1 of answers in words: as SQuAD has them, and by characters in Chinese."""

from __future__ import annotations

import pytest

from regard.measures.answer_words import answer_words
from regard.measures.exact_match import ExactMatch
from regard.measures.span_f1 import SpanF1


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("The Eiffel Tower, 1889.", "en", ["eiffel", "tower", "1889"]),
        ("a $5 bill — an 'old' one", "en-GB", ["5", "bill", "old", "one"]),
        ("the", "en", []),
        ("der Turm", "de", ["der", "turm"]),
        ("a", "vi", ["a"]),
        ("《战国无双3》是由光荣", "zh", ["战", "国", "无", "双", "3", "是", "由", "光", "荣"]),
        ("2004年的GPS", "zh", ["2004", "年", "的", "gps"]),
        ("東京タワー", "ja", ["東", "京", "タ", "ワ", "ー"]),
        ("", "en", []),
    ],
)
def test_words_of_an_answer(text, language, words):
    assert answer_words(text, language) == words


@pytest.mark.parametrize(
    ("wanted", "answer", "language", "exact", "f1"),
    [
        (["Rome"], "Rome.", "en", 1, 1),
        (["the city of Rome"], "Rome city", "en", 0, 0.8),  # 2 · 2 / (3 + 2)
        (["Paris", "in Rome"], "rome", "en", 0, 2 / 3),
        (["Paris", "rome"], "Rome", "en", 1, 1),
        (["a a b"], "a b b", "de", 0, 2 / 3),  # as often as in both
        (["光荣和ω-force"], "光荣", "zh", 0, 2 * 2 / (4 + 2)),
        (["中国"], "国中", "zh", 0, 1),  # the order of characters is not seen
        (["Rome"], "", "en", 0, 0),
        (["…"], "—", "en", 1, 1),
    ],
)
def test_known_answers(wanted, answer, language, exact, f1):
    assert ExactMatch(language).score(wanted, answer) == exact
    assert SpanF1(language).score(wanted, answer) == pytest.approx(f1)


def test_they_are_means_over_questions():
    wanted = [["Rome"], ["in Rome"]]
    assert ExactMatch().of(wanted, ["Rome", "Rome"]) == 0.5
    assert SpanF1().of(wanted, ["Rome", "Rome"]) == pytest.approx((1 + 2 / 3) / 2)
    assert ExactMatch.share
    assert SpanF1.share


@pytest.mark.parametrize("measure", [ExactMatch(), SpanF1()])
def test_a_text_is_one_answer_and_no_list_of_letters(measure):
    assert measure.of(["park"], ["park"]) == 1.0
    assert measure.of(["park"], ["p"]) == 0.0
    assert measure.of(["the park"], ["park"]) == measure.of([["the park"]], ["park"])
