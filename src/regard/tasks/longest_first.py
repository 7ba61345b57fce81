"""Which sentences are worked on side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

USUAL_LENGTH = 100  # a batch of longer sentences has fewer of them, so that memory stays the same


def batches_by_length(
    lengths: Sequence[int], size: int, tokens: int | None = None
) -> Iterator[list[int]]:
    """The numbers of the sentences in batches, longest first: the largest batch fails first if any.

    tokens: of a batch at most, padding included, but never less than one sentence.
    """
    tokens = size * USUAL_LENGTH if tokens is None else tokens
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    while order:
        longest = max(lengths[order[0]], 1)
        count = max(1, min(size, tokens // longest))
        yield order[:count]
        order = order[count:]
