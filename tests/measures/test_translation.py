"""BLEU and chrF are those of the corpus, and say how they were computed."""

import math

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from regard.measures import bleu, chrf

HYPOTHESES = ["the cat sat on the mat .", "a dog barks", "it rains in the old town today"]
REFERENCES = ["the cat sat on a mat .", "the dog barks loudly", "it rains in the old town today"]
OTHERS = ["a cat sat on the mat .", "a dog barks", "today it rains in the old town"]


def test_bleu_by_hand():
    # 5/7 unigrams, 3/6, 2/5 and 1/4 n-grams of the seven words; as long as its reference
    score = bleu(["a b c d x y e"], ["a b c d z z e"], tokenize="none")
    assert score.precisions == pytest.approx((500 / 7, 50, 40, 25))
    assert score.brevity == 1
    assert score.value == pytest.approx(100 * (5 / 7 * 3 / 6 * 2 / 5 * 1 / 4) ** 0.25)


def test_short_output_pays_the_brevity_penalty():
    score = bleu(["a b c d"], ["a b c d e f"], tokenize="none")
    assert (score.hypothesis_length, score.reference_length) == (4, 6)
    assert score.length_ratio == pytest.approx(4 / 6)
    assert score.value == pytest.approx(100 * math.exp(1 - 6 / 4))


def test_the_numbers_are_those_of_sacrebleu():
    assert bleu(HYPOTHESES, REFERENCES).value == BLEU().corpus_score(HYPOTHESES, [REFERENCES]).score
    assert chrf(HYPOTHESES, REFERENCES).value == CHRF().corpus_score(HYPOTHESES, [REFERENCES]).score


def test_a_corpus_is_not_an_average_of_its_sentences():
    sentences = [bleu([h], [r]).value for h, r in zip(HYPOTHESES, REFERENCES, strict=True)]
    assert abs(bleu(HYPOTHESES, REFERENCES).value - sum(sentences) / len(sentences)) > 1


@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char", "none"])
def test_the_signature_names_the_tokenizer_and_stands_in_the_text(tokenize):
    score = bleu(HYPOTHESES, REFERENCES, tokenize=tokenize)
    assert f"|tok:{tokenize}|" in score.signature
    assert score.text == f"BLEU {score.value:.2f}  {score.signature}"


def test_case_is_part_of_the_signature():
    upper = [line.upper() for line in HYPOTHESES]
    assert bleu(upper, REFERENCES, lowercase=True).value == bleu(HYPOTHESES, REFERENCES).value
    assert "case:lc" in bleu(upper, REFERENCES, lowercase=True).signature
    assert "case:mixed" in bleu(upper, REFERENCES).signature


def test_chinese_needs_a_tokenizer_that_cuts_it():
    hypothesis, reference = ["我是一个好学生。"], ["我是一个学生。"]
    assert bleu(hypothesis, reference, tokenize="13a").value == 0
    assert bleu(hypothesis, reference, tokenize="zh").value > 40


def test_more_references_are_more_arguments():
    both = bleu(HYPOTHESES, REFERENCES, OTHERS)
    assert both.signature.startswith("nrefs:2|")
    assert both.value > max(bleu(HYPOTHESES, refs).value for refs in (REFERENCES, OTHERS))
    assert chrf(HYPOTHESES, REFERENCES, OTHERS).signature.startswith("nrefs:2|")


def test_chrf_with_words_is_another_measure():
    assert chrf(HYPOTHESES, REFERENCES).name == "chrF2"
    plus = chrf(HYPOTHESES, REFERENCES, words=2)
    assert plus.name == "chrF2++"
    assert "nw:2" in plus.signature


def test_an_empty_hypothesis_scores_nothing_and_breaks_nothing():
    assert bleu([""], ["a b c"]).value == 0
    assert bleu(["", "a b c d"], ["x", "a b c d"]).value > 0


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        ([], [[]], "no hypotheses"),
        (["a"], [], "no references"),
        (["a", "b"], [["a"]], "2 hypotheses but 1 references"),
        (["a"], [["a"], []], "1 hypotheses but 0 references"),
        ("a", [["a"]], "hypotheses are one string"),
        (["a"], ["a"], "references are one string"),
        (["a"], [[["a", "b"]]], r"bleu\(hypotheses, first, second\)"),
    ],
)
def test_mistakes_are_explained(hypotheses, references, message):
    for measure in (bleu, chrf):
        with pytest.raises(ValueError, match=message):
            measure(hypotheses, *references)


def test_a_wrong_tokenizer_is_answered_with_the_right_one():
    with pytest.raises(ValueError, match="Did you mean '13a'"):
        bleu(["a"], ["a"], tokenize="v13a")
    with pytest.raises(ValueError, match="There are 13a, intl, zh, char, none"):
        bleu(["a"], ["a"], tokenize="spm")
