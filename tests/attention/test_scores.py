"""Scores: what each depends on, and what it does not."""

from __future__ import annotations

import math

import pytest
import torch

import regard
from regard import scores
from regard.attention.scores import SCORES


def weights(score, query, key, **options):
    return regard.attend(query, key, score=score, weights=True, **options).weights


def test_the_concat_weights_do_not_depend_on_the_query():
    """The linear concat: w_q · q is the same for every key, and cancels."""
    key = torch.randn(2, 5, 4)
    score = scores.Concat(6, 4)
    a, b = (weights(score, torch.randn(2, 3, 6), key) for _ in range(2))
    torch.testing.assert_close(a, b)
    assert (a[:, :, 0] - a[:, :, 1]).abs().max() > 1e-3  # though it does depend on the keys
    raw = [weights(score, torch.randn(2, 3, 6), key, normalize="raw") for _ in range(2)]
    assert not torch.allclose(*raw)
    assert "query cancels" in scores.Concat.__doc__.replace("\n    ", " ")


def test_the_location_weights_do_not_depend_on_the_keys():
    """Location attention is not content attention: permuting the keys leaves it alone."""
    query, key = torch.randn(2, 3, 6), torch.randn(2, 5, 4)
    order = torch.randperm(5)
    location = scores.Location(6, 8)
    assert torch.equal(weights(location, query, key), weights(location, query, key[:, order]))
    content = scores.Bilinear(6, 4)
    assert not torch.allclose(weights(content, query, key), weights(content, query, key[:, order]))


def test_location_ignores_what_lies_beyond_its_table():
    query, key = torch.randn(2, 3, 6), torch.randn(2, 5, 4)
    location = scores.Location(6, 3)
    seen = weights(location, query, key)
    assert not seen[..., 3:].any()
    torch.testing.assert_close(seen[..., :3], torch.softmax(query @ location.table.T, -1))
    key[:, 3:] = torch.nan
    assert regard.attend(query, key, score=location).context.isfinite().all()


def test_location_with_a_bias_is_a_linear_layer():
    query, key = torch.randn(2, 3, 6), torch.randn(2, 5, 4)
    layer, location = torch.nn.Linear(6, 8), scores.Location(6, 8, bias=True)
    with torch.no_grad():
        location.table.copy_(layer.weight)
        location.bias.copy_(layer.bias[:, None])
    wanted = layer(query)[..., :5].softmax(-1)
    torch.testing.assert_close(weights(location, query, key), wanted)


def test_additive_from_the_single_matrix_is_the_same_function():
    matrix, vector = torch.randn(7, 6 + 4), torch.randn(7)
    query, key = torch.randn(2, 3, 6), torch.randn(2, 5, 4)
    pairs = torch.cat(
        [query[:, :, None].expand(-1, -1, 5, -1), key[:, None].expand(-1, 3, -1, -1)], dim=-1
    )
    wanted = torch.tanh(pairs @ matrix.T) @ vector
    torch.testing.assert_close(scores.Additive.from_matrix(matrix, vector, 6)(query, key), wanted)
    with pytest.raises(ValueError, match=r"given \(7, 10\), \(3,\) and query_size=6"):
        scores.Additive.from_matrix(matrix, vector[:3], 6)


def test_additive_is_right_at_any_magnitude():
    """tanh by exponentials overflows; the answer must not (|q|, |k| up to 1e4, mixed signs)."""
    score = scores.Additive.from_matrix(
        torch.cat([torch.eye(4)] * 2, 1), torch.tensor([1.0, -2, 3, 4]), 4
    )
    base = torch.tensor([1e4, -1e4, 30.0, -80.0])
    query, key = base + torch.randn(1, 3, 4), -base + torch.randn(1, 5, 4)
    key[0, 0], key[0, 1] = 1e4, -1e4
    wanted = torch.tanh(query.double()[:, :, None] + key.double()[:, None]) @ torch.tensor(
        [1.0, -2, 3, 4], dtype=torch.float64
    )
    torch.testing.assert_close(
        score(query, key).double(), wanted, atol=2e-3, rtol=0
    )  # 1e4 has 1e-3 steps
    gap = [
        g.isfinite().all()
        for g in torch.autograd.grad(score(query, key).sum(), list(score.parameters()))
    ]
    assert all(gap)


def test_the_distance_has_a_gradient_at_distance_zero():
    """sqrt of 0 has an infinite slope; padding columns stand at distance 0."""
    for dtype in (torch.float32, torch.float64):
        query = torch.randn(1, 3, 4, dtype=dtype, requires_grad=True)
        key = query.detach().clone().requires_grad_()
        score = scores.Distance()(query, key)
        torch.testing.assert_close(score.diagonal(dim1=-2, dim2=-1), torch.ones(1, 3, dtype=dtype))
        score.square().sum().backward()
        assert query.grad.isfinite().all()
        assert key.grad.isfinite().all()


def test_a_cosine_without_temperature_cannot_be_sharp():
    key = torch.eye(8)[None] * 5
    n = key.shape[-2]
    bound = math.e**2 / (math.e**2 + n - 1)
    assert weights(scores.Cosine(), key, key).max() < bound
    assert weights(scores.Cosine(0.05), key, key).max() > 0.99
    learned = scores.Cosine(0.5, learned=True)
    learned(key, key).sum().backward()
    assert learned.log_temperature.grad.abs() > 0
    assert not list(scores.Cosine(0.5).parameters())


@pytest.mark.parametrize("name", SCORES)
def test_heads_have_parameters_of_their_own(name):
    from regard.attention.scores import as_score

    text = "location(9)" if name == "location" else name
    many = as_score(text, query_size=4, key_size=4, heads=3)
    query, key = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 6, 4)
    whole = many(query, key)
    assert whole.shape == (2, 3, 5, 6)
    for head in range(3):
        one = as_score(text, query_size=4, key_size=4)
        state = {n: p[head] if p.dim() == 3 else p for n, p in many.state_dict().items()}
        one.load_state_dict(state)
        torch.testing.assert_close(one(query[:, head], key[:, head]), whole[:, head])
