"""How much one server takes at a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What goes beyond is refused, with an answer that names the limit."""

    body: int = 1 << 20  # bytes of a request
    texts: int = 256  # of a request
    characters: int = 2_000  # of one text
    total: int = 50_000  # characters of all texts of a request
    batch: int = 64  # sentences that are worked on in one call
    padded: int = 16_384  # … and their number times the characters of the longest: memory
    waiting: int = 1_024  # sentences in the queue of a model
    seconds: float = 30.0  # from the arrival of a request to its answer

    def fit(self, count: int, longest: int) -> bool:
        """Whether so many sentences go into one call."""
        return count <= self.batch and count * longest <= self.padded

    def side_by_side(self, longest: int) -> int:
        """How many sentences are padded to one length, where the longest has so many characters."""
        return max(1, min(self.batch, self.padded // max(longest, 1)))
