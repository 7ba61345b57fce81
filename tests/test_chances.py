"""Probabilities in headlines."""

from __future__ import annotations

import pytest

from regard.chances import chance_text, with_chance


@pytest.mark.parametrize(
    ("chance", "text"),
    [(0.0, "0.00"), (1e-9, "<.01"), (0.0049, "<.01"), (0.005, "0.01"), (0.73, "0.73"), (1, "1.00")],
)
def test_a_chance_that_is_there_is_not_nothing(chance, text):
    assert chance_text(chance) == text
    assert with_chance("cat", chance) == f"cat ({text})"
