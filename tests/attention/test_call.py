"""The one call object: what it holds, and what mechanisms of others may leave unsaid."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import torch
from torch import Tensor

import regard
from regard.attention.attend import prepare
from regard.attention.plans.layout import Layout
from regard.normalizers import Softmax
from regard.regions import Region
from regard.scores import Additive, Dot, DotLike, Score


def test_attend_and_the_modules_build_the_same_call():
    x, bias = torch.randn(2, 5, 8), torch.randn(5, 5)
    attention = regard.Attention(8, region="causal")
    ours, theirs = prepare(x, x, region="causal", bias=bias), attention.prepare(x, bias=bias)
    assert ours.layout() == theirs.layout()
    assert ours.plan() == theirs.plan() == regard.explain(x, x, region="causal", bias=bias)
    torch.testing.assert_close(ours.run().context, theirs.run().context)


def test_a_plan_keeps_no_tensor():
    x = torch.randn(1, 200, 8)
    plan = regard.explain(x, x, region="window(4)", bias=torch.randn(200, 200))
    while plan is not None:
        assert isinstance(plan.layout, Layout)
        assert not any(isinstance(part, Tensor) for part in plan.layout)
        plan = plan.inner


def test_there_are_slots_for_a_gate_and_a_state():
    x, gate = torch.randn(2, 5, 8), torch.rand(2, 5, 8)
    call = prepare(x, x)
    assert {"bias", "gate", "state"} <= {field.name for field in fields(call)}
    torch.testing.assert_close(replace(call, gate=gate).run().context, call.run().context * gate)


class Best(Region):
    """The two keys nearest to the query: a region by what is there, with no weight of its own."""

    predicts = True

    def place(self, query: Tensor, keys: int, lengths: Tensor | None) -> tuple[Tensor, None]:
        wanted = query[..., :1].abs().argsort(-2).expand(*query.shape[:-1], 2)
        return torch.zeros(*query.shape[:-1], keys, dtype=torch.bool).scatter(
            -1, wanted, True
        ), None


def test_a_region_may_depend_on_the_query_and_weigh_nothing():
    x = torch.randn(2, 2, 5, 8)
    assert regard.explain(x, x, region=Best()).path == "sdpa"
    attended = regard.attend(x, x, region=Best(), weights=True)
    torch.testing.assert_close(regard.attend(x, x, region=Best()).context, attended.context)
    allowed = Best().place(x, 5, None)[0]
    assert (attended.weights[~allowed] == 0).all()
    with pytest.raises(TypeError, match="Best is not a mask"):
        _ = Best() & regard.regions.Causal()
    assert regard.Attention(8, 8, score="concat", region=Best()).kind == "general"


class Doubled(Dot):
    def pair(self, query: Tensor, key: Tensor) -> Tensor:
        return 2 * super().pair(query, key)


class Scaled(DotLike):
    def scale(self, size: int) -> float:
        return 2.0


class Squashed(Additive):
    def pair(self, query: Tensor, key: Tensor) -> Tensor:
        return super().pair(query, key).tanh()


class Kept(Softmax):
    def __call__(self, scores: Tensor, allowed: Tensor | None = None, **how):
        return super().__call__(scores.clamp(max=1.0), allowed, **how)


def test_another_pair_or_call_is_not_what_the_kernel_of_its_parent_computes():
    assert (Dot.kernel, Scaled.kernel, Doubled.kernel, Squashed.kernel) == (
        "dot",
        "dot",
        None,
        None,
    )
    assert (Score.pairwise, Scaled.pairwise, Doubled.pairwise) == (False, True, False)
    assert Softmax(0.5).softmax_temperature == 0.5
    assert Kept(0.5).softmax_temperature is None
    x = torch.randn(2, 40, 8)
    for how in ({"score": Doubled()}, {"score": Squashed(8, 8)}, {"normalize": Kept()}):
        got, wanted = (regard.attend(x, x, **how, weights=w).context for w in (False, True))
        torch.testing.assert_close(got, wanted)
        assert regard.explain(x, x, **how).path == "dense"
