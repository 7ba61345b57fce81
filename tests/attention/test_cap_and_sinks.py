"""A cap bends the scores, a sink takes part of each row; the random attentions have both on every path."""

import math

import pytest
import torch

import regard
from regard.attention.normalizers import Softmax


def draw(*shape):
    return torch.randn(shape, dtype=torch.float64)


def test_a_cap_bounds_what_a_key_can_be_worth_more_than_another():
    q, k = 100 * torch.ones(1, 2), torch.tensor([[1.0, 1.0], [-1.0, -1.0]])
    weights = regard.attend(q, k, cap=1.5, weights=True).weights
    torch.testing.assert_close(weights[0, 0] / weights[0, 1], torch.tensor(3.0).exp())
    assert regard.attend(q, k, weights=True).weights[0].tolist() == [1.0, 0.0]


def test_a_sink_is_a_key_with_value_zero():
    q, k, v, sinks = draw(2, 3, 5, 4), draw(2, 3, 7, 4), draw(2, 3, 7, 6), draw(3)
    context, weights, _ = regard.attend(q, k, v, sinks=sinks, weights=True)
    scores = torch.cat([q @ k.mT / 2, sinks[:, None, None].expand(2, 3, 5, 1)], -1)
    torch.testing.assert_close(weights, scores.softmax(-1)[..., :-1])
    zeros = torch.cat([v, torch.zeros(2, 3, 1, 6, dtype=v.dtype)], -2)
    torch.testing.assert_close(context, scores.softmax(-1) @ zeros)
    torch.testing.assert_close(regard.attend(q, k, v, sinks=sinks).context, context)


def test_no_sink_at_minus_infinity_and_off_by_one_at_zero():
    q, k = draw(2, 5, 4), draw(2, 7, 4)
    none = torch.full((2,), -math.inf, dtype=q.dtype)
    torch.testing.assert_close(regard.attend(q, k, sinks=none).context, regard.attend(q, k).context)
    weights = regard.attend(q, k, sinks=torch.zeros((), dtype=q.dtype), weights=True).weights
    exp = (q @ k.mT / 2).exp()
    torch.testing.assert_close(weights, exp / (1 + exp.sum(-1, keepdim=True)))


def test_an_empty_row_is_zero_and_its_gradients_are_finite():
    q, k, sinks = draw(1, 5, 4).requires_grad_(), draw(1, 5, 4), draw(1).requires_grad_()
    mask = torch.ones(1, 5, 5, dtype=torch.bool)
    mask[0, 2] = False
    k[0, 4] = math.nan
    context = regard.attend(q, k, region="causal", mask=mask, cap=2.0, sinks=sinks).context
    assert context[0, 2].eq(0).all()
    assert context.isnan().any(-1).tolist() == [[False, False, False, False, True]]
    grads = torch.autograd.grad(context[0, :4].sum(), [q, sinks])
    assert all(x.isfinite().all() for x in grads)


def test_gradients_of_all():
    given = [x.requires_grad_() for x in (draw(2, 4, 3), draw(2, 4, 3), draw(2, 4, 2), draw(2))]

    def run(q, k, v, sinks):
        return regard.attend(q, k, v, region="causal", cap=1.2, sinks=sinks).context

    assert torch.autograd.gradcheck(run, given)
    assert torch.autograd.gradgradcheck(run, given)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"cap": 0.0}, "above 0, not 0.0"),
        ({"cap": math.inf}, "above 0, not inf"),
        ({"sinks": torch.zeros(4)}, r"leading axes \(2,\).*given \(4,\)"),
        ({"sinks": torch.zeros(2), "normalize": "sparsemax"}, "has no such sum"),
    ],
)
def test_what_is_refused(choices, said):
    x = torch.randn(2, 5, 4)
    with pytest.raises(ValueError, match=said):
        regard.attend(x, x, **choices)
    with pytest.raises(TypeError, match="one for every head; given"):
        regard.attend(x, x, sinks=[0.0, 0.0])


def test_the_plan_says_why():
    x = torch.randn(2, 5, 4)
    assert regard.explain(x, x, cap=2.0).why == "a cap bends the scores"
    why = regard.explain(x, x, sinks=torch.zeros(2)).why
    assert why == "a sink takes part of every row"
    assert regard.explain(x, x, sinks=torch.zeros(2), normalize=Softmax(0.5)).path == "dense"
