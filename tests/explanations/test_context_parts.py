"""What each key gives to a context: the definition, part by part, and the sum of the parts."""

from __future__ import annotations

import pytest
import torch

from regard.attention.module import Attention
from regard.attention.multi_head import MultiHead
from regard.attention.recording import recording
from regard.explanations.context_parts import cosine_distance, output_matrix, part_norms, rolled
from regard.measures.explanation_measures import rollout


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64)


@pytest.mark.parametrize("key_heads", [4, 2])
def test_the_parts_of_heads_are_their_definition_and_sum_to_the_context(key_heads):
    attention = MultiHead(12, 10, heads=4, key_heads=key_heads).double().eval()
    query, states = drawn(1, 3, 12), drawn(1, 5, 10)
    with torch.no_grad(), recording(attention, details=True) as recorded:
        context = attention(query, states).context[0]
    weights, values = recorded[0].weights[0], recorded[0].values[0].double()
    output = output_matrix(attention)
    parts = torch.zeros(3, 5, 12, dtype=torch.float64)
    for i in range(3):
        for j in range(5):
            for h in range(4):
                own = output[:, h * 3 : (h + 1) * 3]
                parts[i, j] += weights[h, i, j] * (own @ values[h, j])
    torch.testing.assert_close(
        parts.sum(1) + attention.output.bias.detach(), context, atol=1e-6, rtol=1e-6
    )
    torch.testing.assert_close(part_norms(weights, values, output), parts.norm(dim=-1))


def test_one_head_without_an_output_sums_its_states():
    attention = Attention(6, 4, score="additive").double()
    query, states = drawn(1, 2, 6), drawn(1, 5, 4)
    with torch.no_grad(), recording(attention, details=True) as recorded:
        attention(query, states)
    assert output_matrix(attention) is None
    weights = recorded[0].weights
    found = part_norms(weights, recorded[0].values.double())
    torch.testing.assert_close(found, weights[0] * states[0].norm(dim=-1), atol=1e-6, rtol=1e-6)


def test_a_heavy_weight_on_a_small_value_is_a_small_part():
    weights = torch.tensor([[[0.9, 0.1]]])
    values = torch.tensor([[[0.01, 0.0], [0.0, 3.0]]])
    assert part_norms(weights, values)[0].tolist() == pytest.approx([0.009, 0.3])


def test_heads_that_cancel_each_other_give_nothing():
    values = drawn(1, 4, 3).expand(2, -1, -1)
    output = torch.cat([torch.eye(3), -torch.eye(3)], 1).double()
    weights = drawn(1, 2, 4).softmax(-1).expand(2, -1, -1)
    assert float(part_norms(weights, values, output).max()) < 1e-7


def test_no_keys_and_no_queries_have_no_parts():
    assert part_norms(torch.zeros(2, 0, 4), torch.zeros(2, 4, 3)).shape == (0, 4)
    assert part_norms(torch.zeros(2, 3, 0), torch.zeros(2, 0, 3)).shape == (3, 0)


def test_the_distance_is_one_minus_the_cosine():
    a, b = drawn(7, 5), drawn(7, 5)
    wanted = 1 - torch.cosine_similarity(a, b, dim=-1)
    torch.testing.assert_close(cosine_distance(a, b), wanted)
    assert cosine_distance(a, 3 * a).abs().max() < 1e-15
    torch.testing.assert_close(cosine_distance(a, -a), torch.full((7,), 2.0).double())


def test_a_tiny_turn_is_told_from_none():
    a = torch.tensor([1.0, 0.0])
    turned = torch.tensor([1.0, 1e-5])
    assert float(cosine_distance(a, turned)) == pytest.approx(0.5e-10, rel=1e-3)
    assert float(cosine_distance(a, a)) == 0


def test_a_vector_without_a_direction_has_no_nan():
    zero, one = torch.zeros(3), torch.tensor([0.0, 2.0, 0.0])
    assert float(cosine_distance(zero, zero)) == 0
    assert float(cosine_distance(zero, one)) == 0.5


def test_layers_are_rolled_as_in_a_rollout_without_its_residual():
    layers = [drawn(4, 4).softmax(-1) for _ in range(3)]
    mixed = [(layer + torch.eye(4)) / 2 for layer in layers]
    torch.testing.assert_close(rolled(mixed), rollout([layer[None] for layer in layers]))
