"""Mean and deviation of columns of numbers, learnt in one pass, and numbers scaled by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.words import t

SMALLEST, LARGEST = 1e-37, 3e38  # that 32 bits hold, with room for what is computed of them
MOST = float(np.finfo(np.float32).max)
FARTHEST = 1e15  # deviations from the mean: the squares of sums of such numbers are still finite


@dataclass(frozen=True)
class Standardisation:
    """(x - mean) / deviation, by column; a column that never changes has deviation 1."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @classmethod
    def none(cls, size: int) -> Standardisation:
        """Numbers stay as they are."""
        return cls(np.zeros(size), np.ones(size))

    @property
    def changes_nothing(self) -> bool:
        return not self.mean.any() and bool((self.deviation == 1).all())

    def applied(self, numbers: NDArray[Any]) -> NDArray[np.float32]:
        """Numbers (..., D), in their own precision until they are scaled."""
        mean, deviation = (x.astype(numbers.dtype) for x in (self.mean, self.deviation))
        scaled: NDArray[np.float32] = ((numbers - mean) / deviation).astype(np.float32, copy=False)
        return scaled

    def undone(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Numbers (..., D) as they were."""
        plain: NDArray[np.float64] = numbers.astype(np.float64) * self.deviation + self.mean
        return plain

    def is_beyond(self, numbers: NDArray[Any]) -> bool:
        """Whether some are too far from the mean for a network to work with."""
        apart = np.abs(numbers.astype(np.float64) - self.mean)
        return bool((apart > FARTHEST * self.deviation).any())

    def to_json(self) -> dict[str, list[float]]:
        return {"mean": self.mean.tolist(), "deviation": self.deviation.tolist()}

    @classmethod
    def from_json(cls, found: Mapping[Any, Any], size: int) -> Standardisation:
        match found:
            case {"mean": list(mean), "deviation": list(deviation)} if (
                len(mean) == len(deviation) == size
                and all(type(x) in (int, float) and abs(x) <= MOST for x in mean)
                and all(type(x) in (int, float) and SMALLEST < x <= MOST for x in deviation)
            ):
                return cls(np.array(mean, np.float64), np.array(deviation, np.float64))
        raise ValueError(t("it holds no mean and deviation of {size} columns", size=size))


class Moments:
    """Count, mean and squared distances from it of what was added, by the rule of Chan et al. 1979.

    They are those of x - x₁, x₁ being the first that was added: of numbers that are large and near one
    another no digit is lost, and a column that never changes has distances of exactly 0.
    """

    def __init__(self, size: int) -> None:
        self.count = 0
        self.first = np.zeros(size)
        self._mean, self._squares = np.zeros(size), np.zeros(size)
        self.rounding = float(np.finfo(np.float64).eps)  # of the coarsest numbers that were added

    def add(self, numbers: NDArray[Any]) -> None:
        """Numbers (N, D)."""
        if not len(numbers):
            return
        if not self.count:
            self.first = np.array(numbers[0], np.float64)
        if numbers.dtype.kind == "f":
            self.rounding = max(self.rounding, float(np.finfo(numbers.dtype).eps))
        more, count = numbers.astype(np.float64) - self.first, self.count + len(numbers)
        mean = more.mean(0)
        apart = mean - self._mean
        self._squares += ((more - mean) ** 2).sum(0) + apart**2 * (self.count * len(more) / count)
        self._mean += apart * (len(more) / count)
        self.count = count

    @property
    def mean(self) -> NDArray[np.float64]:
        return self.first + self._mean

    @property
    def deviation(self) -> NDArray[np.float64]:
        return np.sqrt(self._squares / max(self.count, 1))

    def scale(self) -> Standardisation:
        if not self.count:
            raise ValueError(t("there are no numbers to learn a mean from"))
        mean, deviation = self.mean, self.deviation
        still = deviation <= np.maximum(8 * self.rounding * np.abs(mean), SMALLEST)
        return Standardisation(mean, np.where(still, 1.0, deviation))
