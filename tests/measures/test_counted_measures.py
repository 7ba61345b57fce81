"""Measures of a corpus from what is counted of its items: the same numbers, of any choice of items."""

from __future__ import annotations

import numpy as np
import pytest

from regard.measures import Confusion, Likelihood, bleu, chrf
from regard.measures.likelihood_measures import (
    BitsPerCharacter,
    Perplexity,
    TokenAccuracy,
    TokenLoss,
)
from regard.measures.macro_f1 import MacroF1
from regard.measures.translation_measures import CorpusBleu, CorpusChrf

WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "under", "an", "old", "tree", ".", ","]


def sentences(seed: int, count: int, shortest: int = 0) -> list[str]:
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(WORDS, draw.integers(shortest, 12))) for _ in range(count)]


def near(texts: list[str], seed: int) -> list[str]:
    """The texts with some words left out."""
    draw = np.random.default_rng(seed)
    return [" ".join(w for w in text.split() if draw.random() > 0.2) for text in texts]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("measure", "wanted"),
    [(CorpusBleu(), bleu), (CorpusChrf(), chrf)],
    ids=["bleu", "chrf"],
)
def test_bleu_and_chrf_of_counts_are_sacrebleus(measure, wanted, seed):
    references = sentences(seed, 1 + seed * 2)
    for answers in (near(references, seed), references, sentences(seed + 100, len(references))):
        counts = measure.counts(references, answers)
        assert float(measure.value(counts.sum(0))) == pytest.approx(
            wanted(answers, references).value, rel=1e-12, abs=1e-12
        )
        chosen = np.random.default_rng(seed).integers(0, len(answers), len(answers))
        again = wanted([answers[i] for i in chosen], [references[i] for i in chosen])
        assert float(measure.value(counts[chosen].sum(0))) == pytest.approx(again.value, rel=1e-12)


@pytest.mark.parametrize("measure", [CorpusBleu(), CorpusChrf()], ids=["bleu", "chrf"])
def test_many_sums_are_measured_at_once(measure):
    references = sentences(3, 10, shortest=4)
    counts = measure.counts(references, near(references, 5))
    many = np.stack([counts[:5].sum(0), counts[5:].sum(0), np.zeros(counts.shape[1])])
    assert measure.value(many).tolist() == [float(measure.value(one)) for one in many]
    assert measure.value(many)[2] == 0.0


def test_another_tokenizer_is_another_bleu():
    references, answers = ["我是一个学生。", "他 去"], ["我是学生。", "他去"]
    for tokenize in ("zh", "char", "13a"):
        found = CorpusBleu(tokenize).of(references, answers)
        assert found == pytest.approx(bleu(answers, references, tokenize=tokenize).value)


def test_macro_f1_is_that_of_the_confusion():
    draw = np.random.default_rng(0)
    labels = ["a", "b", "c", "never"]
    for _ in range(20):
        wanted, answers = (draw.choice(labels[:3], 9).tolist() for _ in range(2))
        found = MacroF1(labels).of(wanted, answers)
        assert found == pytest.approx(Confusion.of(wanted, answers).macro_f1)


def test_likelihoods_add_up_to_loss_perplexity_accuracy_and_bits():
    each = [Likelihood(2.5, 3, 1), Likelihood(0.5, 2, 2), Likelihood(4.0, 4, 0)]
    characters, total = [7, 3, 11], sum(each, Likelihood())
    for measure, value in (
        (TokenLoss(), total.loss),
        (Perplexity(), total.perplexity),
        (TokenAccuracy(), total.accuracy),
        (BitsPerCharacter(), total.bits(21)),
    ):
        assert measure.of(characters, each) == pytest.approx(value)
