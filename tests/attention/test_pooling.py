"""Pooling over valid steps: what padding must not change, and the known answers of the papers."""

from __future__ import annotations

import math

import pytest
import torch

import regard
from regard.pooling import AttentionPooling, Hierarchical, last, max, mean

LENGTHS = torch.tensor([5, 2, 0])


def ragged() -> tuple[torch.Tensor, torch.Tensor]:
    states = torch.randn(3, 5, 4)
    mask = torch.arange(5) < LENGTHS[:, None]
    states[~mask] = torch.nan
    return states, mask


def poolings():
    torch.manual_seed(0)
    return {
        "last": last,
        "mean": mean,
        "max": max,
        "vector": AttentionPooling(4),
        "mlp": AttentionPooling(4, hidden=6),
        "sparse": AttentionPooling(4, hidden=6, normalize="sparsemax"),
    }


@pytest.mark.parametrize("name", poolings())
def test_padding_changes_nothing(name):
    pool = poolings()[name]
    states, mask = ragged()
    states.requires_grad_()
    pooled = pool(states, mask)
    for b, length in enumerate(LENGTHS.tolist()[:2]):
        alone = pool(states[b : b + 1, :length])
        torch.testing.assert_close(pooled.vector[b], alone.vector[0])
        torch.testing.assert_close(pooled.sequence[b, :length], alone.sequence[0])
        torch.testing.assert_close(pooled.weights[b, :length], alone.weights[0])
    assert not pooled.vector[2].any()
    assert not pooled.weights[1, 2:].any()
    torch.testing.assert_close(pooled.sequence.sum(1), pooled.vector)
    pooled.vector.sum().backward()
    assert states.grad.isfinite().all()


def test_known_answers():
    states, mask = ragged()
    assert torch.equal(last(states, mask).vector[:2], torch.stack([states[0, 4], states[1, 1]]))
    torch.testing.assert_close(mean(states, mask).vector[1], states[1, :2].mean(0))
    torch.testing.assert_close(max(states, mask).vector[1], states[1, :2].max(0).values)
    torch.testing.assert_close(last(states[:1]).vector, states[:1, -1])


def test_max_pooling_is_a_hard_attention_for_each_channel():
    states, mask = ragged()
    pooled = max(states, mask)
    for channel in range(4):
        values = states[..., channel : channel + 1]  # the key is the score: a query of 1
        hard = regard.attend(
            torch.ones(3, 1, 1),
            values,
            score="dot",
            normalize="hard",
            mask=mask[:, None],
            weights=True,
        )
        torch.testing.assert_close(pooled.vector[:, channel], hard.context[:, 0, 0])
        torch.testing.assert_close(pooled.weights[..., channel], hard.weights[:, 0])


@pytest.mark.parametrize("name", poolings())
def test_time_first(name):
    states, mask = ragged()
    pool = poolings()[name]
    wanted = pool(states, mask)
    if isinstance(pool, AttentionPooling):
        pool.batch_first = False
        got = pool(states.transpose(0, 1), mask.T)
    else:
        got = pool(states.transpose(0, 1), mask.T, batch_first=False)
    torch.testing.assert_close(got.vector, wanted.vector)
    torch.testing.assert_close(got.sequence, wanted.sequence.transpose(0, 1))
    torch.testing.assert_close(got.weights, wanted.weights.transpose(0, 1))


def test_attention_pooling_equals_its_formulas():
    states, mask = ragged()
    real = states[0]
    vector = AttentionPooling(4)
    alpha = torch.softmax(real @ vector.query[0], 0)
    torch.testing.assert_close(vector(states, mask).weights[0], alpha)
    assert vector.query.abs().max() <= 1 / math.sqrt(4)
    mlp = AttentionPooling(4, hidden=6)
    alpha = torch.softmax(torch.tanh(mlp.hidden(real)) @ mlp.query[0], 0)
    torch.testing.assert_close(mlp(states, mask).vector[0], alpha @ real)


def test_hops_and_their_penalty():
    states, mask = ragged()
    pooled = AttentionPooling(4, hidden=6, hops=3)(states, mask)
    assert pooled.vector.shape == (3, 3, 4)
    assert pooled.weights.shape == (3, 3, 5)
    assert pooled.sequence.shape == (3, 3, 5, 4)
    torch.testing.assert_close(pooled.weights[:2].sum(-1), torch.ones(2, 3))
    penalty = AttentionPooling.penalty
    one_hot = torch.eye(6)[:3]
    assert penalty(one_hot) == 0  # each on a word of its own
    assert penalty(one_hot[:1].expand(3, 6)) == 6  # three on the same word: r (r - 1)
    torch.testing.assert_close(penalty(torch.full((3, 6), 1 / 6)), torch.tensor(2.25))


def test_hierarchical_equals_two_poolings_and_skips_empty_sentences():
    words = torch.randn(2, 3, 4, 5)
    mask = torch.ones(2, 3, 4, dtype=torch.bool)
    mask[0, 1, 2:] = False
    mask[1, 2] = False  # no word in this sentence
    words[~mask] = torch.nan
    pool = Hierarchical(5, hidden=6)
    pooled = pool(words, mask)
    sentences = torch.stack(
        [pool.words(words[1, s : s + 1], mask[1, s : s + 1]).vector[0] for s in range(2)]
    )
    torch.testing.assert_close(pooled.vector[1], pool.sentences(sentences[None]).vector[0])
    assert pooled.weights[1, 2] == 0
    assert pooled.words.weights.shape == (2, 3, 4)
    torch.testing.assert_close(
        pooled.display[0, 0], pooled.weights[0, 0].sqrt() * pooled.words.weights[0, 0]
    )
    pooled.vector.sum().backward()
    assert all(p.grad.isfinite().all() for p in pool.parameters())


def test_hierarchical_encodes_between_the_levels():
    doubled = Hierarchical(
        5, between=lambda s, real: torch.cat([s, s * real[..., None]], -1), sentence_size=10
    )
    assert doubled(torch.randn(2, 3, 4, 5)).vector.shape == (2, 10)


def test_a_context_vector_of_zero_is_the_mean():
    """HN-AVE of Yang et al.: a zero context vector gives plain averages."""
    states, mask = ragged()
    pool = AttentionPooling(4, hidden=6)
    torch.nn.init.zeros_(pool.query)
    torch.testing.assert_close(pool(states, mask).vector, mean(states, mask).vector)


def test_wrong_masks_are_refused():
    with pytest.raises(ValueError, match=r"must be bool \(2, 5\).*given torch.bool \(5, 2\)"):
        mean(torch.randn(2, 5, 4), torch.ones(5, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"states must be \(..., L, 4\), given \(2, 5, 3\)"):
        AttentionPooling(4)(torch.randn(2, 5, 3))


def test_a_mean_over_more_steps_than_float16_can_count():
    pooled = mean(torch.ones(1, 70_000, 2, dtype=torch.float16))
    assert pooled.vector.float().sub(1).abs().max() < 0.2  # 1/70,000 has few digits there
    assert mean(torch.ones(1, 3, 2)).vector.eq(1).all()


def test_every_pooling_of_nothing_is_nothing():
    for pool in (last, mean, max, AttentionPooling(2)):
        assert pool(torch.ones(1, 0, 2)).vector.eq(0).all()
