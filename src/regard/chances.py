"""A probability in a headline, in about four characters, none of which lies."""

from __future__ import annotations

LEAST = 0.005  # what two decimals would make 0.00 of


def chance_text(chance: float) -> str:
    """0.73, and <.01 of what is not 0"""
    return "<.01" if 0 < chance < LEAST else f"{chance:.2f}"


def with_chance(answer: str, chance: float) -> str:
    """library (0.73)"""
    return f"{answer} ({chance_text(chance)})"
