"""Holm's correction against answers by hand, and the error of a family."""

from __future__ import annotations

import numpy as np
import pytest
from simulated_scores import mean as mean_of
from simulated_scores import normal, of_differences, p_values, parts

from regard.statistics import holm


def test_by_hand():
    # sorted 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1, and never below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []
    assert holm([0.02, 0.02]) == [0.04, 0.04]


@pytest.mark.parametrize("wrong", [[0.1, float("nan")], [1.1], [-0.1], [[0.1]]])
def test_what_is_no_p_value_is_told(wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(wrong)


@pytest.mark.parametrize("ratio", [0.3, 3])
def test_several_variants_against_one_err_together_as_one(ratio):
    """All four are as good as the baseline that they share: any that is told apart is an error."""
    rng = np.random.default_rng(3)
    scores = [normal(rng, 1000, 3, 40, ratio) for _ in range(5)]
    baseline = scores[0]
    p = np.stack(
        [p_values(*parts(*of_differences(one - baseline), mean_of)) for one in scores[1:]], -1
    )
    assert np.mean([min(holm(family)) < 0.05 for family in p]) <= 0.06
    assert np.mean((p < 0.05).any(-1)) > 0.06  # without it
