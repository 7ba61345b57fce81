"""Sums of two t against tables, against draws, and as the t that they become at their ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from regard.statistics.normal import both_tails
from regard.statistics.student_sum import StudentSum

TABLE = {  # of the t distribution, two-sided: degrees of freedom, then 20, 5, 1 and 0.1 per cent
    1: (3.078, 12.706, 63.657, 636.62),
    2: (1.886, 4.303, 9.925, 31.599),
    4: (1.533, 2.776, 4.604, 8.610),
    9: (1.383, 2.262, 3.250, 4.781),
    30: (1.310, 2.042, 2.750, 3.646),
    120: (1.289, 1.980, 2.617, 3.373),
}


@pytest.mark.parametrize("df", TABLE)
def test_one_part_alone_is_a_t(df):
    for law in (StudentSum(2.0, df, 0.0, 7), StudentSum(0.0, 7, 2.0, df)):
        for outside, wanted in zip((0.2, 0.05, 0.01, 0.001), TABLE[df], strict=True):
            assert float(law.quantile(outside)) / 2 == pytest.approx(wanted, rel=4e-4)


def test_many_degrees_are_a_normal():
    law = StudentSum(3.0, 10**6, 4.0, 10**6)
    assert float(law.quantile(0.05)) == pytest.approx(5 * 1.959964, rel=1e-5)


@pytest.mark.parametrize("first", [0.1, 1.0, 10.0])
def test_both_parts_are_as_drawn(first):
    rng = np.random.default_rng(0)
    drawn = first * rng.standard_t(2, size=400_000) + rng.standard_t(9, size=400_000)
    law = StudentSum(first, 2, 1.0, 9)
    for outside in (0.4, 0.05, 0.01):
        assert np.mean(np.abs(drawn) > law.quantile(outside)) == pytest.approx(outside, rel=0.05)


@pytest.mark.parametrize("outside", [0.5, 0.05, 1e-3, 1e-6])
def test_a_quantile_has_that_much_beyond_it(outside):
    first, second = np.meshgrid([0.0, 1e-5, 0.03, 1.0, 100.0], [1e-3, 1.0])
    law = StudentSum(first, 2, second, 200)
    np.testing.assert_allclose(law.beyond(law.quantile(outside)), outside, rtol=1e-7)


def test_nothing_that_varies_is_never_off():
    law = StudentSum(0.0, 2, 0.0, 5)
    assert law.quantile(0.05) == 0
    assert law.beyond(0.1) == 0


def test_the_normal_is_that_of_the_standard_library():
    z = np.random.default_rng(0).uniform(-5, 37, size=5000)
    wanted = [math.erfc(one / 2**0.5) for one in z]
    np.testing.assert_allclose(both_tails(z), wanted, rtol=1e-7)
    assert both_tails(np.array([0, np.inf])).tolist() == [1, 0]
