"""How far numbers are from those that were wanted."""

from __future__ import annotations

from typing import ClassVar

from regard.measures.measure import Mean


class MeanAbsoluteError(Mean):
    """mean |y - ŷ|

    >>> MeanAbsoluteError().of([1.0, 2.0], [1.5, 4.0])
    1.25
    """

    name: ClassVar = "mean_absolute_error"
    error: ClassVar = True

    def score(self, wanted: float, answer: float) -> float:
        return abs(answer - wanted)


class MeanSquaredError(Mean):
    """mean (y - ŷ)²

    >>> MeanSquaredError().of([1.0, 2.0], [1.5, 4.0])
    2.125
    """

    name: ClassVar = "mean_squared_error"
    error: ClassVar = True

    def score(self, wanted: float, answer: float) -> float:
        return (answer - wanted) ** 2
