"""Scores, differences and their intervals in words and digits."""

from __future__ import annotations

import math

from regard.measures.measure import Measure
from regard.statistics import Difference
from regard.tasks.evaluation import measure_name
from regard.words import t


def unit(measure: Measure) -> str:
    """What a difference of it is counted in."""
    name = display_name(measure)
    return t("points of {measure}", measure=name) if measure.share else name


def display_name(measure: Measure) -> str:
    return measure_name(measure.name)


def amount(value: float, measure: Measure) -> str:
    """A score or a size, with as many digits as are of use."""
    value = 100 * value if measure.share else value
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    digits = 1 if abs(value) >= 10 else 2
    if 0 < abs(value) < 0.1:
        digits = min(6, 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}".replace("-", "−")


def score(value: float, measure: Measure) -> str:
    """Of a variant: two digits, four where measures are as small as a loss."""
    value = 100 * value if measure.share else value
    return f"{value:.4f}" if measure.error and abs(value) < 10 else f"{value:.2f}"


def signed(value: float, measure: Measure) -> str:
    return ("+" if value > 0 else "") + amount(value, measure)


def interval(difference: Difference, measure: Measure) -> str:
    low, high = difference.interval
    return f"[{signed(low, measure)}, {signed(high, measure)}]"


def ends(bounds: tuple[float, float] | None, measure: Measure) -> str:
    """Of the interval of a score; nothing where there is none."""
    return f"[{score(bounds[0], measure)}, {score(bounds[1], measure)}]" if bounds else ""
