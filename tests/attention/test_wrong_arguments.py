"""What cannot be computed is refused in words: what was seen, and what would do."""

import math

import numpy as np
import pytest
import torch

import regard
from regard import Weights

Q, K = torch.randn(2, 3, 8), torch.randn(2, 5, 8)


@pytest.mark.parametrize("cap", [1e39, 1e-46, 10**400])
def test_a_cap_that_float32_does_not_have(cap):
    with pytest.raises(ValueError, match="cap is a number that float32 has"):
        regard.attend(Q, K, cap=cap)


@pytest.mark.parametrize("cap", ["5", True])
def test_a_cap_that_is_no_number(cap):
    with pytest.raises(TypeError, match="a number, not"):
        regard.attend(Q, K, cap=cap)


def test_a_cap_at_the_ends_of_float32_is_finite():
    for cap in (1e38, 1.2e-38, np.float32(5)):
        assert regard.attend(Q, K, cap=cap).context.isfinite().all()


@pytest.mark.parametrize(
    ("score", "said"),
    [
        ("cosine(1e-300)", "float32 has"),
        ("cosine(nan)", "float32 has, not nan"),
        ("location(-1)", "1 or more, not -1"),
        ("additive(-5)", "1 or more, not -5"),
        ("additive(0)", "1 or more, not 0"),
    ],
)
def test_numbers_of_a_score(score, said):
    with pytest.raises(ValueError, match=said):
        regard.Attention(8, score=score)


def test_numbers_of_a_region_and_of_a_normaliser():
    for width in ("1e300", "nan", "-1"):
        with pytest.raises(ValueError, match="above 0, and at most 1e\\+15"):
            regard.attend(Q, K, region=f"predicted-window({width})")
    with pytest.raises(ValueError, match="above 0, not nan"):
        regard.attend(Q, K, normalize="softmax(nan)")
    with pytest.raises(ValueError, match="dropout"):
        regard.attend(Q, K, dropout="a")


def test_what_is_no_tensor():
    with pytest.raises(TypeError, match=r"query ndarray.*torch\.as_tensor"):
        regard.attend(Q.numpy(), K)
    with pytest.raises(TypeError, match="key list"):
        regard.attend(Q, [1.0])
    with pytest.raises(TypeError, match=r"the mask is a bool tensor.*list"):
        regard.attend(Q, K, mask=[True] * 5)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (Q.to("meta"), "meta"),
        (Q.to_sparse(), "sparse"),
        (Q.to(torch.float8_e4m3fn), "16 bits or more"),
        (Q.to(torch.complex64), "floating-point"),
    ],
    ids=["meta", "sparse", "float8", "complex"],
)
def test_tensors_without_numbers_to_compute_with(query, said):
    with pytest.raises(TypeError, match=said):
        regard.attend(query, query)


def test_the_largest_weights_of_a_row_that_is_nan_are_nan():
    key, bias = torch.full((1, 2), math.nan), torch.full((1, 1), -math.inf)
    asked = Weights(rows=[0], largest=1, entropy=True, sums=True)
    found = regard.attend(torch.zeros(1, 2), key, torch.ones(1, 1), bias=bias, weights=asked)
    assert found.context.isnan().all()
    assert found.weights.rows.isnan().all()
    assert found.weights.largest.weights.isnan().all()
    assert found.weights.largest.keys.tolist() == [[-1]]


def test_a_mask_of_sequences_or_of_heads_is_refused_where_there_are_as_many():
    x, mask = torch.randn(3, 3, 5, 8), torch.rand(3, 1, 5) > 0.3
    with pytest.raises(ValueError, match=r"two ways.*mask\[:, None\] for sequences"):
        regard.attend(x, x, mask=mask)
    for meant in (mask[:, None], mask[None]):
        regard.attend(x, x, mask=meant)
    regard.attend(x[:2], x[:2], mask=mask)  # of heads
    regard.attend(x[0], x[0], mask=mask)
    regard.attend(x, x, mask=mask[:1])


def test_heads_that_share_keys_are_told_how():
    q, k = torch.randn(2, 8, 5, 16), torch.randn(2, 2, 5, 16)
    with pytest.raises(ValueError, match=r"query.unflatten\(-3, \(2, 4\)\)") as told:
        regard.attend(q, k)
    assert "context.flatten(-4, -3)" in str(told.value)
    shared = regard.attend(q.unflatten(-3, (2, 4)), k.unsqueeze(-3)).context.flatten(-4, -3)
    torch.testing.assert_close(shared, regard.attend(q, k.repeat_interleave(4, 1)).context)
