"""Which sentences are worked on side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

BATCH = 64  # examples that are worked on side by side
FILLS_A_GPU = 512  # which takes as long for a few as for many
EACH = 32 << 20  # bytes of a GPU's memory for one of them
USUAL_LENGTH = 100  # a batch of longer sentences has fewer of them, so that memory stays the same


def usual_batch(device: torch.device) -> int:
    """How many examples are worked on side by side where nobody has said it."""
    if device.type != "cuda":
        return BATCH
    memory = torch.cuda.get_device_properties(device).total_memory
    return max(BATCH, min(FILLS_A_GPU, memory // EACH))


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
