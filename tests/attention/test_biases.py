"""Biases of keys alone are those of the pairs, in causal attention."""

import pytest
import torch

import regard
from regard.biases import alibi, forgetting, slopes


def draw(*shape):
    return torch.randn(shape, dtype=torch.float64)


def attended(bias, q, k, v, region="causal"):
    return regard.attend(q, k, v, region=region, bias=bias, weights=True)


@pytest.mark.parametrize("heads", [1, 2, 6, 8])
def test_alibi_is_its_definition(heads):
    q, k, v = (draw(2, heads, 9, 4) for _ in range(3))
    place = torch.arange(9)
    pairs = -torch.tensor(slopes(heads)).double()[:, None, None] * (place[:, None] - place)
    ours, wanted = attended(alibi(heads, 9).double(), q, k, v), attended(pairs, q, k, v)
    torch.testing.assert_close(ours.weights, wanted.weights, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(ours.context, wanted.context, rtol=1e-12, atol=1e-12)


def test_it_holds_for_the_last_queries_too():
    q, k, v = draw(2, 4, 3, 4), draw(2, 4, 9, 4), draw(2, 4, 9, 4)
    place = torch.arange(9)
    pairs = -torch.tensor(slopes(4)).double()[:, None, None] * (place[6:, None] - place)
    ours = attended(alibi(4, 9).double(), q, k, v, "causal(end)").context
    wanted = attended(pairs, q, k, v, "causal(end)").context
    torch.testing.assert_close(ours, wanted, rtol=1e-12, atol=1e-12)


def test_the_slopes_are_those_of_the_paper():
    assert slopes(8) == [2.0**-h for h in range(1, 9)]
    assert slopes(6) == [0.25, 0.0625, 2.0**-6, 2.0**-8, 0.5, 0.125]
    with pytest.raises(ValueError, match="at least 1, not 0"):
        alibi(0, 4)


def test_forgetting_is_its_definition_and_learns():
    q, k, v = (draw(2, 3, 7, 4) for _ in range(3))
    gates = torch.nn.functional.logsigmoid(draw(2, 3, 7)).requires_grad_()
    pairs = torch.stack(
        [torch.stack([gates[..., j + 1 : i + 1].sum(-1) for j in range(7)], -1) for i in range(7)],
        -2,
    )
    ours, wanted = attended(forgetting(gates), q, k, v), attended(pairs, q, k, v)
    torch.testing.assert_close(ours.weights, wanted.weights, rtol=1e-12, atol=1e-12)
    of_ours, of_wanted = (
        torch.autograd.grad((x.context * v).sum(), gates)[0] for x in (ours, wanted)
    )
    torch.testing.assert_close(of_ours, of_wanted, rtol=1e-10, atol=1e-12)
    with pytest.raises(TypeError, match="logarithms of gates"):
        forgetting(torch.ones(2, 3, dtype=torch.long))


def test_in_half_precision_the_biases_are_not_rounded():
    keys = torch.randn(1, 2, 300, 8, dtype=torch.bfloat16)
    ours = regard.attend(keys, keys, region="causal", bias=alibi(2, 300), weights=True).weights
    exact = keys.double()
    wanted = attended(alibi(2, 300).double(), exact, exact, exact).weights
    assert (ours.double() - wanted).abs().max() < 0.01
    assert forgetting(torch.zeros(2, 4, dtype=torch.bfloat16)).dtype == torch.float32
