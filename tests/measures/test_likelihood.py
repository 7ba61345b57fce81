"""Perplexity and accuracy come from sums: the batches do not matter."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.layers.special_tokens import UNK
from regard.measures import Likelihood


def corpus(sentences: int = 12, length: int = 7, vocabulary: int = 5):
    draw = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(sentences, length, vocabulary, generator=draw)
    outputs = torch.randint(vocabulary, (sentences, length), generator=draw)
    lengths = torch.randint(0, length + 1, (sentences, 1), generator=draw)
    return logits, outputs, torch.arange(length) < lengths


def test_by_hand():
    probabilities = torch.tensor([[[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.9, 0.05, 0.05]]])
    outputs = torch.tensor([[0, 2, 1]])
    mask = torch.tensor([[True, True, False]])
    found = Likelihood.of(probabilities.log(), outputs, mask)
    assert (found.tokens, found.correct, found.accuracy) == (2, 1, 0.5)
    assert found.nll == pytest.approx(-math.log(0.5 * 0.1), rel=1e-6)
    assert found.perplexity == pytest.approx((0.5 * 0.1) ** -0.5, rel=1e-6)


@given(st.lists(st.integers(1, 11), max_size=5))
def test_the_batches_do_not_matter(cuts):
    logits, outputs, mask = corpus()
    whole = Likelihood.of(logits, outputs, mask)
    edges = [0, *sorted(set(cuts)), len(logits)]
    total = Likelihood()
    for start, end in pairwise(edges):
        total += Likelihood.of(logits[start:end], outputs[start:end], mask[start:end])
    assert (total.tokens, total.correct) == (whole.tokens, whole.correct)
    assert total.nll == pytest.approx(whole.nll, rel=1e-12)


def test_uniform_perplexity_is_the_size_of_the_vocabulary():
    _, outputs, mask = corpus()
    assert Likelihood.of(torch.zeros(12, 7, 5), outputs, mask).perplexity == pytest.approx(5)


def test_nothing_under_the_mask_is_read():
    logits, outputs, mask = corpus()
    spoilt = logits.masked_fill(~mask[..., None], math.nan)
    padded = outputs.masked_fill(~mask, -100)
    assert Likelihood.of(spoilt, padded, mask) == Likelihood.of(logits, outputs, mask)


def test_an_empty_batch_adds_nothing_but_has_no_perplexity():
    logits, outputs, mask = corpus()
    nothing = Likelihood.of(logits, outputs, torch.zeros_like(mask))
    some = Likelihood.of(logits, outputs, mask)
    assert some + nothing == some
    with pytest.raises(ValueError, match="no tokens were counted"):
        _ = nothing.perplexity


def test_hopeless_is_infinite_not_an_error():
    assert Likelihood(nll=1e6, tokens=1).perplexity == math.inf


def test_an_unknown_token_is_never_right_and_costs_as_any_other():
    wanted = torch.tensor([4, UNK, UNK, 5])
    logits = 9.0 * torch.nn.functional.one_hot(wanted, 7).float()
    whole, (one, other) = (
        Likelihood.of(logits, wanted, torch.ones(4, dtype=torch.bool)),
        Likelihood.of_each(logits, wanted, [1, 3]),
    )
    assert (whole.correct, whole.tokens) == (2, 4)
    assert (one.correct, other.correct) == (1, 1)
    assert whole.nll == pytest.approx((one + other).nll)
    assert whole.perplexity == pytest.approx(1 + 6 * math.exp(-9), rel=1e-4)
