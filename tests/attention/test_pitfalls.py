"""Bugs seen in widely copied attention code, each with the test that would have caught it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import regard
from regard.pooling import AttentionPooling, last, mean


def test_negative_scores_keep_their_differences_and_their_gradient():
    """A ReLU before the softmax makes scores (-1, -5) equal, with no gradient."""
    pool = AttentionPooling(1)
    nn.init.ones_(pool.query)
    states = torch.tensor([[[-1.0], [-5.0]]], requires_grad=True)
    weights = pool(states).weights
    assert weights[0, 0] > 0.9
    (weights * torch.tensor([1.0, 2.0])).sum().backward()
    assert pool.query.grad.abs().sum() > 0
    assert states.grad.abs().sum() > 0


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    "score", [regard.scores.Dot(), regard.scores.Additive(1, 1)], ids=["dot", "additive"]
)
def test_huge_logits_on_padding_change_nothing(score, weights):
    """Masking after the softmax lets a padding logit of 200 take all the mass: 0 / 0."""
    for parameter in score.parameters():
        nn.init.constant_(parameter, 20.0)
    query, key, value = (
        torch.full((1, 1, 1), 200.0),
        torch.tensor([[[0.1], [0.2], [1e4]]]),
        torch.randn(1, 3, 2),
    )
    mask = torch.tensor([[[True, True, False]]])
    padded = regard.attend(query, key, value, score=score, mask=mask, weights=weights).context
    alone = regard.attend(query, key[:, :2], value[:, :2], score=score, weights=weights).context
    torch.testing.assert_close(padded, alone)


def test_a_ragged_batch_trains_on_cpu():
    """A mask with requires_grad, written in place, raises as soon as one row is shorter."""
    attention = regard.Attention(4, 4, score="additive")
    states = torch.randn(3, 5, 4, requires_grad=True)
    mask = torch.arange(5) < torch.tensor([5, 3, 1])[:, None]
    before = mask.clone()
    attention(torch.randn(3, 2, 4), states, mask=mask).context.sum().backward()
    assert torch.equal(mask, before)
    assert not states.grad[1, 3:].any()


@pytest.mark.parametrize(("batch", "length"), [(1, 4), (4, 1), (1, 1)])
def test_no_axis_is_squeezed_away(batch, length):
    """squeeze() without a dimension loses the batch of 1, and normalises over the batch at length 1."""
    pool, states = AttentionPooling(3, hidden=2), torch.randn(batch, length, 3)
    pooled = pool(states)
    assert pooled.vector.shape == (batch, 3)
    assert pooled.weights.shape == (batch, length)
    torch.testing.assert_close(pooled.weights.sum(-1), torch.ones(batch))
    attention = regard.MultiHead(4, heads=2)
    assert attention(torch.randn(batch, length, 4)).context.shape == (batch, length, 4)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("score", ["scaled-dot", "additive", "cosine", "distance"])
def test_an_empty_row_gives_zero_and_finite_gradients(score, weights):
    """softmax over nothing is NaN, and poisons every shared parameter on the way back."""
    attention = regard.MultiHead(4, heads=2, score=score)
    x = torch.randn(2, 3, 4, requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    attended = attention(x, mask=mask, weights=weights)
    torch.testing.assert_close(
        attended.context[1], attention.output.bias.expand(3, 4)
    )  # head output 0
    attended.context.square().sum().backward()
    assert x.grad.isfinite().all()
    assert all(p.grad.isfinite().all() for p in attention.parameters() if p.grad is not None)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_no_mask_and_a_mask_of_ones_agree(dtype):
    """1e10 subtracted everywhere makes float32 scores vanish; 1e18 overflows a half."""
    query, key = torch.randn(2, 3, 4, dtype=dtype), torch.randn(2, 5, 4, dtype=dtype)
    ones = torch.ones(2, 3, 5, dtype=torch.bool)
    for weights in (False, True):
        free = regard.attend(query, key, weights=weights)
        masked = regard.attend(query, key, mask=ones, weights=weights)
        torch.testing.assert_close(free.context, masked.context)
    assert (free.weights - 1 / 5).abs().max() > 0.05


def test_a_mask_never_widens_the_result():
    """Scores (B, T) with a mask (B, 1, T) silently become (B, B, T)."""
    query, key = torch.randn(4, 3, 2), torch.randn(4, 5, 2)
    mask = torch.rand(4, 1, 5) < 0.7
    attended = regard.attend(query, key, mask=mask, weights=True)
    assert attended.context.shape == (4, 3, 2)
    assert attended.weights.shape == (4, 3, 5)
    with pytest.raises(ValueError, match="must broadcast to"):
        regard.attend(query, key, mask=mask[:, None])
    order = torch.randperm(4)
    shuffled = regard.attend(query[order], key[order], mask=mask[order], weights=True)
    torch.testing.assert_close(shuffled.weights, attended.weights[order])


def test_weights_sum_over_keys_and_inputs_are_not_written_to():
    query, key = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    mask = torch.rand(2, 3, 5) < 0.8
    copies = [x.clone() for x in (query, key, mask)]
    weights = regard.attend(query, key, mask=mask, weights=True).weights
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).float())
    assert all(torch.equal(a, b) for a, b in zip((query, key, mask), copies, strict=True))


def test_extra_padding_changes_no_pooling_and_no_attention():
    states = torch.randn(2, 4, 3)
    mask = torch.arange(4) < torch.tensor([4, 2])[:, None]
    longer = nn.functional.pad(states, (0, 0, 0, 3), value=7.0)
    longer_mask = nn.functional.pad(mask, (0, 3))
    for pool in (last, mean, AttentionPooling(3)):
        torch.testing.assert_close(pool(longer, longer_mask).vector, pool(states, mask).vector)
    attention = regard.Attention(3, region="predicted-window(2)", score="additive")
    short = attention(states, mask=mask).context
    torch.testing.assert_close(attention(longer, mask=longer_mask).context[:, :4], short)


def test_distance_zero_has_a_finite_gradient_through_attend():
    x = torch.zeros(2, 3, 4, requires_grad=True)
    regard.attend(x, x, score="distance", weights=True).context.sum().backward()
    assert x.grad.isfinite().all()


def test_the_reported_weights_are_those_before_dropout():
    attention = regard.MultiHead(8, heads=2, dropout=0.5)
    weights = attention(torch.randn(2, 5, 8), weights=True).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 5))


def test_the_near_branch_of_sparse_is_near_and_the_diagonal_counts_once():
    x, value = torch.zeros(1, 12, 4), torch.eye(12)[None]
    weights = regard.attend(x, x, value, region="sparse(4)", weights=True).weights[0]
    row = [abs(5 - j) <= 4 or (5 - j) % 4 == 0 for j in range(12)]
    torch.testing.assert_close(weights[5], torch.tensor(row).float() / sum(row))
    fast = regard.attention.paths.sparse
    long, values = torch.zeros(1, 1, 256, 4), torch.eye(256)[None, None]
    assert regard.explain(long, long, values, region="sparse(16)").path == fast.__name__
    context = regard.attend(long, long, values, region="sparse(16)").context[0, 0]
    row = torch.tensor([abs(100 - j) <= 16 or (100 - j) % 16 == 0 for j in range(256)])
    torch.testing.assert_close(context[100], row.float() / row.sum())
