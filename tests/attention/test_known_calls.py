"""A call like an earlier one is computed alike; whatever decides how it is computed makes it another."""

from dataclasses import dataclass

import pytest
import torch

import regard
from regard.attention.attend import prepare
from regard.attention.plans import known_calls
from regard.attention.region import Pattern
from regard.attention.regions import Relative


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch):
    monkeypatch.setattr(known_calls, "_KNOWN", {})


def known():
    return len(known_calls._KNOWN)


def test_it_gives_the_same_with_other_numbers():
    mask, bias = torch.rand(2, 1, 1, 7) > 0.3, torch.randn(5, 7)
    calls = [{}, {"mask": mask}, {"mask": mask[0, 0, 0]}, {"bias": bias}, {"region": "window(2)"}]
    calls += [{"score": "cosine(0.1)"}, {"normalize": "softmax(0.5)"}]
    for count, choices in enumerate(calls, 1):
        for _ in range(3):
            q, k, v = torch.randn(2, 3, 5, 8), torch.randn(2, 1, 7, 8), torch.randn(2, 3, 7, 4)
            k[:, :, 2] = torch.nan
            exact = prepare(q, k, v, **choices).run(by_definition=True).context
            got = regard.attend(q, k, v, **choices).context
            torch.testing.assert_close(got, exact, equal_nan=True)
        assert known() == count


def test_what_makes_it_another():
    x, bias = torch.randn(2, 5, 8), torch.randn(5, 5)
    regard.attend(x, x, bias=bias)
    others = [
        ((x[:, :4], x), {"bias": bias[:4]}),
        ((x.bfloat16(), x.bfloat16()), {"bias": bias.bfloat16()}),
        ((x, x, x[..., :3]), {"bias": bias}),
        ((x, x), {"bias": bias, "region": "causal"}),
        ((x, x), {"bias": bias, "score": regard.scores.Dot()}),
        ((x, x), {"bias": bias, "dropout": 0.5}),
        ((x, x), {"bias": bias, "dropout": 0.5, "training": True}),
    ]
    for count, (given, choices) in enumerate(others, 2):
        regard.attend(*given, **choices)
        assert known() == count
    with torch.autocast("cpu", dtype=torch.bfloat16):
        regard.attend(x, x, bias=bias)
    assert known() == len(others) + 2


def test_a_bias_that_learns_takes_its_own_path():
    x, bias = torch.randn(2, 5, 8), torch.randn(5, 5)
    regard.attend(x, x, bias=bias)
    assert known() == 1
    learnt = bias.clone().requires_grad_()
    regard.attend(x, x, bias=learnt).context.sum().backward()
    assert learnt.grad is not None
    with torch.no_grad():
        regard.attend(x, x, bias=learnt)
    assert known() == 1  # the one that learns was not kept


def test_mistakes_are_told_every_time():
    x = torch.randn(2, 5, 8)
    regard.attend(x, x)
    for _ in range(2):
        with pytest.raises(ValueError, match="dropout must be"):
            regard.attend(x, x, dropout=1.0)
        with pytest.raises(TypeError, match="one floating-point dtype"):
            regard.attend(x, x.double())


@dataclass
class Growing(Relative):
    """A region that can be changed."""

    size: int
    align: None = None

    __hash__ = object.__hash__

    def patterns(self, queries, keys):
        return [Pattern(self.size, self.size)]


def test_what_can_change_or_holds_tensors_is_not_kept():
    x, region = torch.randn(1, 5, 8), Growing(1)
    near = regard.attend(x, x, region=region).context
    region.size = 4
    assert not torch.equal(regard.attend(x, x, region=region).context, near)
    regard.attend(x, x, region=regard.regions.Documents(torch.tensor([[0, 0, 1, 1, 1]])))
    regard.attend(x, x, score=regard.scores.Bilinear(8, 8))
    regard.attend(x, x, weights=True)
    regard.attend(x, x, lengths=[3])
    regard.attend(x, x, dropout=0.5, training=True, generator=torch.Generator())
    torch.func.grad(lambda x: regard.attend(x, x).context.sum())(x)
    assert known() == 0


def test_few_are_kept(monkeypatch):
    monkeypatch.setattr(known_calls, "MOST_KNOWN", 3)
    for length in range(2, 10):
        x = torch.randn(1, length, 8)
        regard.attend(x, x)
        assert 1 <= known() <= 3
