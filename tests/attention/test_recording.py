"""Recording the weights of attentions inside a model: what is kept, and that nothing is left behind."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import regard
from regard.attention.recording import recording


class TwoAttentions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = regard.MultiHead(8, heads=2, region="causal")
        self.second = regard.Attention(8, score="additive", dropout=0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x).context
        return self.second(self.second(x).context).context


def test_the_weights_of_every_call_are_kept_in_order():
    model, x = TwoAttentions().eval(), torch.randn(3, 5, 8)
    with recording(model) as recorded:
        output = model(x)
    assert [each.name for each in recorded] == ["first", "second", "second"]
    middle = model.first(x, weights=True)
    torch.testing.assert_close(recorded[0].weights, middle.weights)
    assert recorded[0].weights.shape == (3, 2, 5, 5)
    later = model.second(middle.context, weights=True)
    torch.testing.assert_close(recorded[1].weights, later.weights)
    last = model.second(later.context, weights=True)
    torch.testing.assert_close(recorded[2].weights, last.weights)
    torch.testing.assert_close(output, last.context)


def test_the_model_is_as_before_also_after_an_error():
    model, x = TwoAttentions().eval(), torch.randn(3, 5, 8)
    with pytest.raises(ValueError, match="query must be"), recording(model) as recorded:
        model(torch.randn(3, 5, 7))
    model(x)
    assert recorded == []
    assert model.second(x).weights is None


def test_a_bare_attention_is_a_model_too_and_gradients_reach_the_weights():
    attention, x = regard.Attention(8, score="bilinear"), torch.randn(1, 4, 8)
    with recording(attention) as recorded:
        attention(x)
    assert recorded[0].name == ""
    recorded[0].weights[..., 0].sum().backward()
    assert attention.score.weight.grad.abs().sum() > 0


def test_recordings_nest():
    model, x = TwoAttentions().eval(), torch.randn(1, 4, 8)
    with recording(model) as outer, recording(model.first) as inner:
        model(x)
    assert len(outer) == 3
    assert torch.equal(inner[0].weights, outer[0].weights)


def test_of_the_weights_only_what_is_asked_for_is_kept():
    model, x = TwoAttentions().eval(), torch.randn(3, 5, 8)
    with recording(model) as whole:
        model(x)
    with recording(model, weights=regard.Weights(sums=True, largest=2)) as recorded:
        model(x)
    assert [each.name for each in recorded] == ["first", "second", "second"]
    assert recorded[1].mechanism.startswith("score: additive")
    for kept, all_of_it in zip(recorded, whole, strict=True):
        torch.testing.assert_close(kept.weights.sums, all_of_it.weights.sum(-2))
        torch.testing.assert_close(
            kept.weights.largest.weights, all_of_it.weights.topk(2).values, rtol=1e-4, atol=1e-5
        )
        assert kept.weights.rows is None
    assert model.second(x).weights is None


def test_details_are_of_all_weights():
    with (
        pytest.raises(ValueError, match="details are of all weights"),
        recording(TwoAttentions(), details=True, weights=regard.Weights(sums=True)),
    ):
        pass


def test_a_call_without_a_source_attends_to_itself():
    attention, x, y = regard.Attention(4), torch.randn(1, 3, 4), torch.randn(1, 3, 4)
    with recording(attention) as recorded:
        attention(x)
        attention(x, x)
        attention(query=x, source=y)
        attention(x, attention.remember(x))  # which may be of anything
    assert [each.itself for each in recorded] == [True, True, False, False]
