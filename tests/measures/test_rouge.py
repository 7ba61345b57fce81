"""ROUGE: known answers, definitions, and rouge-score as a peer."""

from __future__ import annotations

import random
from functools import cache

import pytest

from regard.data.examples import read_examples
from regard.data.fields import Text
from regard.measures.rouge import Rouge1, Rouge2, RougeL, common_subsequence, rouge_words

MEASURES = (Rouge1, Rouge2, RougeL)
PAIRS = 1_500


def test_known_answers() -> None:
    wanted, answer = "The police killed the gunman.", "police kill the gunman"
    assert Rouge1().compare(wanted, answer)[:2] == (3 / 4, 3 / 5)
    assert Rouge2().compare(wanted, answer)[:2] == (1 / 3, 1 / 4)
    assert RougeL().compare(wanted, answer)[:2] == (3 / 4, 3 / 5)
    assert RougeL().compare(wanted, "the gunman kill police")[:2] == (2 / 4, 2 / 5)
    assert Rouge1().of([wanted, wanted], [wanted, ""]) == 0.5


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("pair", [("", ""), ("a b", ""), ("", "a b"), ("a b", "…"), ("a b", None)])
def test_nothing_in_common(measure: type[Rouge1], pair: tuple[str, str | None]) -> None:
    assert measure().compare(*pair) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_equal_texts_have_everything_in_common(measure: type[Rouge1]) -> None:
    assert measure().compare("a B, b", "A b b!") == (1.0, 1.0, 1.0)
    assert measure("zh").compare("我是学生。", "我是学生") == (1.0, 1.0, 1.0)


def test_a_word_counts_as_often_as_both_have_it() -> None:
    assert Rouge1().compare("the cat", "the the the the")[:2] == (1 / 4, 1 / 2)


def test_words() -> None:
    assert rouge_words("naïve GTK+3_dev's") == ["na", "ve", "gtk", "3", "dev", "s"]
    assert rouge_words("naïve GTK+3_dev's", "fr") == ["naïve", "gtk", "3", "dev", "s"]
    assert rouge_words("GTK是库，v2", "zh") == ["gtk", "是", "库", "v2"]


def test_common_subsequence_is_the_longest() -> None:
    draw = random.Random(1)
    for _ in range(500):
        first, second = (draw.choices("abc", k=draw.randrange(9)) for _ in range(2))
        assert common_subsequence(first, second) == _by_table(first, second)


def _by_table(first: list[str], second: list[str]) -> int:
    row = [0] * (len(second) + 1)
    for one in first:
        above, row = row, [0]
        for j, other in enumerate(second):
            row.append(above[j] + 1 if one == other else max(above[j + 1], row[j]))
    return row[-1]


@cache
def _real_pairs(column: int) -> list[tuple[str, str]]:
    """Sentences of the embedded corpus, each with the next: neighbours have words in common."""
    corpus = read_examples(f"tatoeba-zh-en:train#{column}", [Text("text")], None)
    texts = [example["text"] for example, _ in zip(corpus, range(PAIRS + 1), strict=False)]
    return list(zip(texts[1:], texts, strict=False))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_equals_rouge_score(measure: type[Rouge1], language: str) -> None:
    """rouge-score drops what is not a … z, so Chinese is given to it in the same characters."""
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")

    class Characters:
        def tokenize(self, text: str) -> list[str]:
            return rouge_words(text, language)

    cut = Characters() if language == "zh" else None
    peer, ours = rouge_scorer.RougeScorer([measure.name], tokenizer=cut), measure(language)
    pairs = _real_pairs(0 if language == "zh" else 1)
    assert len(pairs) >= 1_000
    common = 0
    for wanted, answer in pairs:
        theirs = peer.score(wanted, answer)[measure.name]
        assert ours.compare(wanted, answer) == pytest.approx(tuple(theirs), abs=1e-4)
        common += theirs.fmeasure > 0
    assert common > (100 if measure is Rouge2 else 500)
