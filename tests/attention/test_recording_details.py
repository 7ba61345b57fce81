"""What led to the weights: normalize(scores where allowed), times the factor, is what was used."""

from __future__ import annotations

import definition
import pytest
import torch
from torch import Tensor

import regard
from regard.attention.mechanism_text import (
    mechanism,
    written_normalizer,
    written_region,
    written_score,
)
from regard.attention.normalizers import as_normalizer
from regard.attention.recording import Recorded, recording
from regard.attention.regions import as_region
from regard.attention.scores import as_score

WINDOWS = ["predicted-window(2)", "predicted-window(width=2, renormalize=true)"]
NORMALIZERS = [*definition.NORMALIZERS, "gumbel", "gumbel(0.5, straight_through=true)"]
SCORES = [*definition.all_scores()]


def again(each: Recorded, normalize: str) -> Tensor:
    """The weights from what was kept of them."""
    weights, _ = as_normalizer(normalize)(each.scores, each.allowed)
    return weights if each.factor is None else weights * each.factor


def recorded_of(attention: regard.Attention, *args, **kwargs) -> Recorded:
    with recording(attention, details=True) as recorded:
        attention.eval()(*args, **kwargs)
    return recorded[0]


@pytest.mark.parametrize("normalize", NORMALIZERS)
@pytest.mark.parametrize("region", [*definition.REGIONS, *WINDOWS])
@pytest.mark.parametrize("score", SCORES)
def test_the_weights_follow_from_what_was_kept(score, region, normalize):
    made = definition.all_scores(torch.float32)[score]
    attention = regard.Attention(4, 4, score=made, region=region, normalize=normalize)
    query, states = torch.randn(2, 5, 4), torch.randn(2, 7, 4)
    mask = torch.arange(7) < torch.tensor([[7], [4]])
    each = recorded_of(attention, query, states, mask=mask)
    torch.testing.assert_close(again(each, normalize), each.weights, atol=1e-6, rtol=1e-6)
    context = attention(query, states, mask=mask).context
    torch.testing.assert_close(each.weights @ each.values, context, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("region", ["everywhere", "window(1) & causal", "predicted-window(2)"])
@pytest.mark.parametrize("score", ["scaled-dot", "additive(3)", "bilinear", "location(4)"])
def test_each_head_has_scores_and_values_of_its_own(score, region):
    attention = regard.MultiHead(8, heads=4, key_heads=2, score=score, region=region)
    each = recorded_of(attention, torch.randn(3, 6, 8))
    assert each.scores.shape == each.weights.shape == (3, 4, 6, 6)
    assert each.values.shape == (3, 4, 6, 2)
    torch.testing.assert_close(again(each, "softmax"), each.weights, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("score", SCORES)
def test_scores_are_the_sum_of_what_was_kept(score, several):
    if several:
        named = {"location": "location(7)"}.get(score, score)
        attention = regard.MultiHead(8, 4, heads=4, key_heads=2, score=named)
    else:
        attention = regard.Attention(4, 4, score=definition.all_scores(torch.float32)[score])
    each = recorded_of(attention, torch.randn(2, 5, 8 if several else 4), torch.randn(2, 7, 4))
    if score == "distance":  # a root of a sum
        assert each.summands is None
        return
    query, key, vector = each.summands
    if vector is None:
        sums = query @ key.mT
    else:
        added = query[..., :, None, :] + key[..., None, :, :]
        sums = added.tanh() @ (vector[:, None, :, None] if several else vector[0, :, None])
        sums = sums.squeeze(-1)
    torch.testing.assert_close(sums, each.scores, atol=1e-5, rtol=1e-5)


def test_a_score_of_somebody_else_is_no_such_sum():
    class Halved(regard.scores.Dot):
        def pair(self, query, key):
            return super().pair(query, key) / 2

    assert recorded_of(regard.Attention(4, score=Halved()), torch.randn(1, 3, 4)).summands is None


def test_a_step_over_a_memory_is_kept_as_the_whole_is():
    attention = regard.Attention(8, region="window(1) & causal").eval()
    x = torch.randn(2, 4, 8)
    whole = recorded_of(attention, x)
    with recording(attention, details=True) as steps:
        for place in range(4):
            memory = attention.remember(x[:, : place + 1])
            attention(x[:, place : place + 1], memory, offset=place)
    for place, step in enumerate(steps):
        row = whole.scores[:, place : place + 1, : place + 1]
        torch.testing.assert_close(step.scores, row, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(again(step, "softmax"), step.weights, atol=1e-6, rtol=1e-6)


def test_a_whole_row_may_have_nothing_to_attend_to():
    attention = regard.Attention(4, region="~window(9)")
    each = recorded_of(attention, torch.randn(1, 3, 4))
    assert not each.allowed.any()
    assert not again(each, "softmax").any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64], ids=str)
def test_details_are_single_precision_whatever_the_model_is(dtype):
    attention = regard.Attention(4, score="additive").to(dtype)
    each = recorded_of(attention, torch.randn(1, 3, 4, dtype=dtype))
    assert each.scores.dtype == each.values.dtype == torch.float32
    close = {"atol": 1e-2, "rtol": 1e-2} if dtype == torch.bfloat16 else {"atol": 1e-6, "rtol": 0}
    torch.testing.assert_close(again(each, "softmax"), each.weights.float(), **close)


def test_details_carry_no_gradient_and_the_weights_still_do():
    attention, x = regard.Attention(4, score="bilinear"), torch.randn(1, 3, 4, requires_grad=True)
    with recording(attention, details=True) as recorded:
        attention(x)
    assert recorded[0].weights.requires_grad
    assert not any(part.requires_grad for part in (recorded[0].scores, recorded[0].values))


def test_without_details_nothing_is_asked_twice(monkeypatch):
    attention, asked = regard.Attention(4, score="additive"), []
    prepare = attention.prepare
    monkeypatch.setattr(
        attention, "prepare", lambda *args, **how: asked.append(args) or prepare(*args, **how)
    )
    with recording(attention) as recorded:
        attention(torch.randn(1, 3, 4))
    assert len(asked) == 1
    assert recorded[0][2:] == (None, None, None, None, None, "", "", True)


@pytest.mark.parametrize(
    ("attention", "words"),
    [
        ({}, "score: scaled-dot · region: everywhere · normalize: softmax"),
        (
            {"score": "additive", "region": "window(2, 0) & causal", "normalize": "softmax(2)"},
            "score: additive · region: window(before=2, after=0) & causal"
            " · normalize: softmax(temperature=2)",
        ),
        (
            {"score": "cosine(0.1)", "region": "predicted-window(10)", "normalize": "hard"},
            "score: cosine(temperature=0.1) · region: predicted-window(width=10) · normalize: hard",
        ),
        (
            {"score": "location(5)", "region": "~sparse(3)", "normalize": "sparsemax"},
            "score: location(max_length=5) · region: ~sparse(rate=3) · normalize: sparsemax",
        ),
    ],
)
def test_a_mechanism_is_named_as_one_writes_it(attention, words):
    made = regard.Attention(8, **attention)
    assert mechanism(made) == words
    recorded = recorded_of(made, torch.randn(1, 3, 8))
    assert (recorded.mechanism, recorded.normalizer) == (words, words.split(": ")[-1])


@pytest.mark.parametrize(
    "text", [*SCORES[:-2], "additive(5, bias=true)", "location(5)", "location(5, bias=true)"]
)
def test_a_score_can_be_made_again_from_its_words(text):
    made = as_score(text, query_size=4, key_size=6 if "additive" in text else 4)
    words = written_score(made)
    other = as_score(words, query_size=made.query_size or 4, key_size=made.key_size or 4)
    assert (type(other), written_score(other)) == (type(made), words)
    assert [p.shape for p in other.parameters()] == [p.shape for p in made.parameters()]


@pytest.mark.parametrize("text", [*definition.REGIONS, "window(3, clamp=true)"])
def test_a_region_can_be_made_again_from_its_words(text):
    assert as_region(written_region(as_region(text))) == as_region(text)


@pytest.mark.parametrize("text", NORMALIZERS)
def test_a_normalizer_can_be_made_again_from_its_words(text):
    assert as_normalizer(written_normalizer(as_normalizer(text))) == as_normalizer(text)
