"""The kernels of a step give softmax(q Kᵀ · scale) V, whatever the order of the beam."""

from __future__ import annotations

import pytest
import torch

step_cpu = pytest.importorskip("regard.attention.kernels.step_cpu")


def heads_of(x, heads):
    """(..., L, H · D) -> (..., H, L, D)"""
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


def by_definition(query, keys, values, heads, scale, allowed=None):
    """(..., Q, W), (..., K, W), (..., K, W) -> (..., Q, W), in float64"""
    q, k, v = (heads_of(x.double(), heads) for x in (query, keys, values))
    scores = q @ k.mT * scale
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    return (scores.softmax(-1) @ v).transpose(-2, -3).flatten(-2).float()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("count", "length", "heads", "size"),
    [(1, 0, 1, 1), (5, 3, 2, 7), (70, 11, 4, 16), (33, 40, 1, 64)],
)
def test_a_hypothesis_attends_to_what_its_ancestors_wrote(count, length, heads, size, threads):
    torch.manual_seed(count)
    width = heads * size
    new, room = torch.randn(count, 3 * width), torch.randn(length + 2, count + 3, 2 * width)
    ancestors = torch.randint(0, count + 3, (count, length), dtype=torch.int32)
    before, already = room.clone(), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = step_cpu.attend_past(new, room, ancestors, heads, 0.3)
    finally:
        torch.set_num_threads(already)
    places = torch.arange(length)
    pairs = torch.cat([before[places, ancestors.long()], new[:, None, width:]], 1)  # (N, T + 1, 2W)
    keys, values = pairs[..., :width], pairs[..., width:]
    wanted = by_definition(new[:, None, :width], keys, values, heads, 0.3).squeeze(1)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=2e-6)
    before[length, :count] = new[:, width:]
    assert torch.equal(room, before)  # nothing else is written


@pytest.mark.parametrize(("each", "heads", "size"), [(1, 1, 1), (5, 4, 16), (3, 2, 33)])
def test_hypotheses_attend_to_the_real_positions_of_their_sentence(each, heads, size):
    torch.manual_seed(each)
    width, sentences = heads * size, torch.tensor([4, 0, 2])
    keys, values = torch.randn(2, 5, 9, width)
    real = torch.rand(5, 9) < 0.6
    real[:, 3] = True
    keys[~real] = values[~real] = torch.nan  # never read
    query = torch.randn(3 * each, width)
    found = step_cpu.attend_source(query, keys, values, real, sentences, heads, 0.3)
    for place, b in enumerate(sentences):
        rows, there = slice(place * each, (place + 1) * each), real[b]
        wanted = by_definition(query[rows], keys[b, there], values[b, there], heads, 0.3)
        torch.testing.assert_close(found[rows], wanted, rtol=1e-5, atol=2e-6)


def test_scores_far_apart_neither_overflow_nor_vanish():
    new = torch.tensor([[100.0, 100.0, 5.0]])  # query, key, value
    room = torch.tensor([[[-100.0, 7.0]], [[0.0, 0.0]]])
    first = torch.zeros(1, 1, dtype=torch.int32)
    assert step_cpu.attend_past(new, room, first, 1, 1.0).item() == pytest.approx(5.0)
