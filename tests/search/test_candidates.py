"""The best continuations, exactly, in a fixed order."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.search import Search
from regard.search.candidates import best, draw, largest


@given(st.data())
def test_largest_is_a_stable_sort(data):
    values = st.sampled_from([0.0, -0.0, -1e-45, -0.5, -1.0, -1.0000001, -3e38, -torch.inf])
    rows = data.draw(st.lists(st.lists(values, min_size=7, max_size=7), min_size=1, max_size=3))
    count = data.draw(st.integers(1, 9))
    wanted = torch.tensor(rows).sort(dim=1, descending=True, stable=True).indices[:, :count]
    assert torch.equal(largest(torch.tensor(rows), count), wanted)


@pytest.mark.parametrize("levels", [2, 1000], ids=["ties", ""])
@pytest.mark.parametrize("size", [5, 64, 130, 1000])
@pytest.mark.parametrize("width", [1, 3])
def test_best_equals_a_stable_sort_of_all(width, size, levels):
    logits = torch.randint(levels, (4 * width, size)).float() / levels
    log_probs = logits.log_softmax(-1)
    totals = -torch.randint(levels, (4, width)).float() / levels
    totals[0, -1] = -torch.inf if width > 1 else -1.0
    found = best(log_probs, totals, 10)
    sums = (log_probs.view(4, width, size) + totals[..., None]).flatten(1)
    order = sums.sort(dim=1, descending=True, stable=True).indices[:, :10]
    for row in range(4):
        real = sums[row, order[row]] > -torch.inf  # the others are no candidates
        wanted = order[row, real]
        count = len(wanted)
        assert torch.equal(found.parents[row, :count], wanted // size)
        assert torch.equal(found.tokens[row, :count], wanted % size)
        assert torch.equal(found.totals[row, :count], sums[row, wanted])
        assert (found.totals[row, count:] == -torch.inf).all()
        assert torch.equal(found.log_probs[row, :count], log_probs.view(4, -1)[row, wanted])


@pytest.mark.parametrize("levels", [2, 1000], ids=["ties", ""])
@pytest.mark.parametrize("size", [5, 64, 130, 1000])
@pytest.mark.parametrize("width", [1, 3])
def test_the_kernel_finds_the_best_straight_from_the_logits(width, size, levels):
    """…the first of equal ones too; log-probabilities are the same to rounding."""
    quick = pytest.importorskip("regard.search.candidates_cpu")
    logits = 8 * torch.randint(levels, (4 * width, size)).float() / levels
    logits[-1, 1:3] = -torch.inf
    totals = -torch.randint(levels, (4, width)).float() / levels
    totals[0, -1] = -torch.inf if width > 1 else -1.0
    found = quick.best_of_logits(logits, totals, [0, 2], 10)
    log_probs = logits.double().log_softmax(-1)
    log_probs[:, [0, 2]] = -torch.inf
    sums = (log_probs.view(4, width, size) + totals[..., None]).flatten(1).float()
    for row in range(4):
        order = sums[row].sort(descending=True, stable=True).indices[:10]
        wanted = order[sums[row, order] > -torch.inf]
        count = len(wanted)
        torch.testing.assert_close(found.totals[row, :count], sums[row, wanted])
        assert (found.totals[row, count:] == -torch.inf).all()
        places = found.parents[row, :count] * size + found.tokens[row, :count]
        torch.testing.assert_close(sums[row, places], found.totals[row, :count])
        assert len(set(places.tolist())) == count
        equal = found.totals[row, 1:count] == found.totals[row, : count - 1]
        assert (places[1:] > places[:-1])[equal].all()
        values = log_probs.view(4, -1)[row, places].float()
        torch.testing.assert_close(found.log_probs[row, :count], values)


def test_the_kernel_takes_nothing_of_a_row_with_nan():
    quick = pytest.importorskip("regard.search.candidates_cpu")
    logits = torch.randn(2, 200)
    logits[0, 70] = torch.nan
    found = quick.best_of_logits(logits, torch.zeros(1, 2), [], 5)
    assert (found.parents == 1).all()
    none = quick.best_of_logits(logits[:1], torch.zeros(1, 1), [], 5)
    assert (none.totals == -torch.inf).all()


def test_masked_tokens_are_taken_last():
    log_probs = torch.full((1, 100), -torch.inf)
    log_probs[0, 99] = -2.0
    found = best(log_probs, torch.zeros(1, 1), 4)
    assert found.tokens[0, 0] == 99
    assert found.totals[0].tolist() == [-2.0, *[-torch.inf] * 3]


@pytest.mark.parametrize("filters", [{}, {"top_k": 6}, {"top_p": 0.999}])
def test_the_ends_of_the_unit_interval_draw_allowed_tokens(filters):
    log_probs = torch.tensor([[0.0, 1.0, 1.0, 2.0, 0.0, 0.0]]).log()
    uniform = torch.tensor([[0.0, 1 - 2**-24]])
    found = draw(log_probs, torch.zeros(1, 1), uniform, Search(method="sample", **filters))
    assert {*found.tokens[0].tolist()} <= {1, 2, 3}
    assert found.totals.isfinite().all()
