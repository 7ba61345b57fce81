"""Mean and deviation of columns of numbers, learnt in one pass, and numbers scaled by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLEST, LARGEST = 1e-37, 3e38  # that 32 bits hold
FARTHEST = 1e15  # deviations from the mean: the squares of sums of such numbers are still finite


@dataclass(frozen=True)
class Standardisation:
    """(x - mean) / deviation, by column; a column that never changes has deviation 1."""

    mean: NDArray[np.float32]
    deviation: NDArray[np.float32]

    @classmethod
    def none(cls, size: int) -> Standardisation:
        """Numbers stay as they are."""
        return cls(np.zeros(size, np.float32), np.ones(size, np.float32))

    @property
    def changes_nothing(self) -> bool:
        return not self.mean.any() and bool((self.deviation == 1).all())

    def applied(self, numbers: NDArray[Any]) -> NDArray[np.float32]:
        """Numbers (..., D)."""
        scaled: NDArray[np.float32] = (numbers - self.mean) / self.deviation
        return scaled

    def is_beyond(self, numbers: NDArray[Any]) -> bool:
        """Whether some are too far from the mean for a network to work with."""
        apart = np.abs(numbers.astype(np.float64) - self.mean)
        return bool((apart > FARTHEST * self.deviation.astype(np.float64)).any())

    def to_json(self) -> dict[str, list[float]]:
        return {"mean": self.mean.tolist(), "deviation": self.deviation.tolist()}

    @classmethod
    def from_json(cls, found: Mapping[Any, Any], size: int) -> Standardisation:
        match found:
            case {"mean": list(mean), "deviation": list(deviation)} if (
                len(mean) == len(deviation) == size
                and all(type(x) in (int, float) and abs(x) < LARGEST for x in mean)
                and all(type(x) in (int, float) and SMALLEST < x < LARGEST for x in deviation)
            ):
                return cls(np.array(mean, np.float32), np.array(deviation, np.float32))
        raise ValueError(f"it holds no mean and deviation of {size} columns")


class Moments:
    """Count, mean and squared distances from it of what was added, by the rule of Chan et al. 1979."""

    def __init__(self, size: int) -> None:
        self.count = 0
        self.mean, self.squares = np.zeros(size), np.zeros(size)

    def add(self, numbers: NDArray[Any]) -> None:
        """Numbers (N, D)."""
        more, count = np.asarray(numbers, np.float64), self.count + len(numbers)
        if not len(more):
            return
        mean = more.mean(0)
        apart = mean - self.mean
        self.squares += ((more - mean) ** 2).sum(0) + apart**2 * (self.count * len(more) / count)
        self.mean += apart * (len(more) / count)
        self.count = count

    def scale(self) -> Standardisation:
        if not self.count:
            raise ValueError("there are no numbers to learn a mean from")
        deviation = np.sqrt(self.squares / self.count)
        still = deviation <= 1e-6 * np.maximum(np.abs(self.mean), 1e-6)
        return Standardisation(
            self.mean.astype(np.float32), np.where(still, 1, deviation).astype(np.float32)
        )
