"""Recall at k and MAP as means over users, however many visits each has."""

from __future__ import annotations

import math

import numpy as np
import pytest

from regard.measures.ranks.user_ranks import RecallAt1, RecallAt5, RecallAt10, UserMap

WANTED = [("ann", "x"), ("bob", "x"), ("ann", "y"), ("ann", "z"), ("bob", "w")]
RANKS = [1, 10, 6, math.inf, 2]


def test_every_user_counts_the_same():
    assert RecallAt1().of(WANTED, RANKS) == pytest.approx((1 / 3 + 0 / 2) / 2)
    assert RecallAt5().of(WANTED, RANKS) == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert RecallAt10().of(WANTED, RANKS) == pytest.approx((2 / 3 + 2 / 2) / 2)
    assert UserMap().of(WANTED, RANKS) == pytest.approx(((1 + 1 / 6) / 3 + (0.1 + 0.5) / 2) / 2)


def test_counts_add_up_to_the_measure():
    counts = RecallAt10().counts(WANTED, RANKS)
    assert counts.shape == (5, 2)
    assert counts[:, 1].sum() == pytest.approx(2)  # users
    assert RecallAt10().value(counts.sum(0)) == RecallAt10().of(WANTED, RANKS)
    assert RecallAt10().value(np.stack([counts.sum(0)] * 3)).shape == (3,)


@pytest.mark.parametrize("rank", [0, math.nan, -1])
def test_what_is_no_rank_is_refused(rank):
    with pytest.raises(ValueError, match="no rank"):
        UserMap().of([("ann", "x")], [rank])
