"""Accuracy and F1 from counts."""

from __future__ import annotations

import pytest

from regard.measures import Confusion


def test_known_answers():
    found = Confusion.of(list("aaabbc"), list("aabbbb"))
    assert found.labels == ["a", "b", "c"]
    assert (found.total, found.correct) == (6, 4)
    assert found.count("a", "b") == 1
    assert found.f1("a") == pytest.approx(2 * 2 / (3 + 2))
    assert found.f1("b") == pytest.approx(2 * 2 / (2 + 4))
    assert found.f1("c") == 0
    assert found.macro_f1 == pytest.approx((0.8 + 2 / 3 + 0) / 3)
    assert found.accuracy == pytest.approx(4 / 6)


def test_always_the_frequent_label_is_accurate_but_not_in_macro_f1():
    found = Confusion.of(["often"] * 9 + ["rare"], ["often"] * 10)
    assert found.accuracy == 0.9
    assert found.macro_f1 < 0.5


def test_mistakes():
    with pytest.raises(ValueError, match="no labels"):
        Confusion.of([], [])
    with pytest.raises(ValueError, match="zip"):
        Confusion.of(["a"], ["a", "b"])
