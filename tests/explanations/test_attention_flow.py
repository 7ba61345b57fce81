"""Attention flow: equal to the smallest cut, and never below a rollout."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
import torch
from torch import Tensor

from regard.explanations.attention_flow import attention_flow
from regard.measures.explanation_measures import rollout


def layers_of(count: int, tokens: int, heads: int = 2) -> list[Tensor]:
    return [torch.randn(heads, tokens, tokens).double().mul(2).softmax(-1) for _ in range(count)]


def smallest_cut(layers: list[Tensor], begin: int, end: int) -> float:
    """By trying every set of nodes that holds the beginning and not the end."""
    count, tokens = len(layers), layers[0].shape[-1]
    pipes = {}
    for above, layer in enumerate(reversed(layers)):
        mixed = (layer.mean(0) + torch.eye(tokens)) / 2
        for a in range(tokens):
            for b in range(tokens):
                pipes[(above, a), (above + 1, b)] = float(mixed[a, b])
    nodes = {node for pipe in pipes for node in pipe}
    source, sink = (0, begin), (count, end)
    others = sorted(nodes - {source, sink})
    sets = chain.from_iterable(combinations(others, size) for size in range(len(others) + 1))
    cuts = ({source, *chosen} for chosen in sets)
    return min(
        sum(width for (a, b), width in pipes.items() if a in cut and b not in cut) for cut in cuts
    )


@pytest.mark.parametrize(("count", "tokens"), [(1, 3), (2, 3), (3, 2), (3, 3), (5, 2)])
def test_the_largest_flow_is_the_smallest_cut(count, tokens):
    layers = layers_of(count, tokens)
    found = attention_flow(layers)
    for i in range(tokens):
        for j in range(tokens):
            assert float(found[i, j]) == pytest.approx(smallest_cut(layers, i, j), abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_a_flow_is_at_least_what_a_rollout_has(count):
    layers = layers_of(count, 9)
    found = attention_flow(layers)
    assert (found >= rollout(layers) - 1e-12).all()
    assert (found <= 1 + 1e-12).all()


def test_layers_that_pass_everything_on_keep_every_position_where_it_is():
    for count in (1, 2, 4):
        torch.testing.assert_close(attention_flow([torch.eye(5)[None]] * count), torch.eye(5))


def test_nothing_flows_back_in_time():
    causal = [layer.tril() / layer.tril().sum(-1, keepdim=True) for layer in layers_of(4, 6)]
    assert float(attention_flow(causal).triu(1).abs().max()) == 0


def test_one_more_layer_in_closed_form_and_compiled_agree():
    """A layer of identity on top of two changes nothing, and takes the other way."""
    layers = layers_of(2, 7)
    torch.testing.assert_close(
        attention_flow([*layers, torch.eye(7).double()[None]]), attention_flow(layers)
    )


def test_no_layer_is_refused():
    with pytest.raises(ValueError, match="at least one layer"):
        attention_flow([])
