"""Which examples go together in a batch, and in which order the batches come.

Examples of like lengths share a batch, so little is padding. The cut into batches depends on the
lengths alone; which of the examples of a length fall into which batch, and the order of the batches,
are drawn anew each epoch from (seed, epoch). So every epoch has the same number of batches of the
same sizes, and every process can tell its share by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.words import t

Array = NDArray[np.int64]
ROWS = 32  # up to so many examples, the number of a batch is rounded as lengths are


class LengthBatches:
    """Rows of a corpus in batches, for process `rank` of `world`.

    lengths: the positions that each field with a length takes, EOS included, for every example.
    tokens: at most so many positions in a padded batch, B · (S + T). sentences: at most so many examples.
    An example longer than `tokens` is a batch of its own: none is left out. Where the batches cannot
    be dealt out evenly, the largest are cut in two (or, if all hold one example, some joined).
    """

    def __init__(
        self,
        lengths: Sequence[NDArray[Any]],
        *,
        tokens: int | None = None,
        sentences: int | None = None,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        shuffle: bool = True,
    ) -> None:
        if tokens is None and sentences is None:
            raise ValueError(t("the size of a batch is missing: give tokens, sentences or both"))
        if any(limit is not None and limit < 1 for limit in (tokens, sentences)):
            raise ValueError(
                t(
                    "a batch of {tokens} tokens, {sentences} sentences holds nothing",
                    tokens=tokens,
                    sentences=sentences,
                )
            )
        if not 0 <= rank < world:
            raise ValueError(
                t(
                    "rank {rank} is not one of {world} processes (0 to {value})",
                    rank=rank,
                    world=world,
                    value=world - 1,
                )
            )
        self.seed, self.rank, self.world, self.shuffle = seed, rank, world, shuffle
        if not lengths:
            raise ValueError(t("there is no field to count by: give one length for every example"))
        rounded = [_rounded(np.asarray(x)) for x in lengths]
        self._order, self._classes = _by_length(rounded)
        sizes = _cut([x[self._order] for x in rounded], tokens, sentences)
        self._starts = np.concatenate([[0], np.cumsum(_dealt_evenly(sizes, world))])

    def __len__(self) -> int:
        """Batches of this process in an epoch."""
        return (len(self._starts) - 1) // self.world

    @cached_property
    def fingerprint(self) -> str:
        """The same for all processes, and for the same epochs."""
        whole = hashlib.blake2b(digest_size=16)
        for part in (self._order, self._classes, self._starts):
            whole.update(part.tobytes())
        whole.update(repr((self.seed, self.world, self.shuffle)).encode())
        return whole.hexdigest()

    def epoch(self, number: int) -> list[Array]:
        """The batches of this process in that epoch, each an array of rows."""
        order, rounds = self._order, np.arange(len(self))
        if self.shuffle:
            draw = np.random.default_rng([self.seed, number])
            mixed = draw.permutation(len(order))
            # a stable sort by class leaves examples of one class in their new, mixed order
            order = order[mixed[np.argsort(self._classes[mixed], kind="stable")]]
            draw.shuffle(rounds)
        # the processes get neighbours, batches of like lengths, so none waits for the others
        numbers = rounds * self.world + self.rank
        return [order[self._starts[n] : self._starts[n + 1]] for n in numbers]


def _rounded(lengths: NDArray[Any]) -> Array:
    """Up to three significant bits: 1 … 8, 10, 12, 14, 16, 20, … Examples of a class can be exchanged."""
    step = 2 ** np.maximum(np.floor(np.log2(np.maximum(lengths - 1, 1))).astype(np.int64) - 2, 0)
    rounded: Array = -(-lengths // step) * step
    return rounded


def rounded_length(length: int, most: int | None = None) -> int:
    """The longest of its class, but no more than `most`, which a length may pass by itself."""
    whole = int(_rounded(np.array([length]))[0])
    return whole if most is None else max(length, min(whole, most))


def rounded_rows(rows: int) -> int:
    """As many examples, or a few more: batches of nearly the same size become ones of the same."""
    return rounded_length(rows) if rows <= ROWS else -(-rows // 8) * 8


def _by_length(lengths: Sequence[Array]) -> tuple[Array, Array]:
    """Rows by the last length, then by those before it; and the class that each row is of.

    Every other class of the last runs downwards, so that neighbours are alike.
    """
    *others, last = lengths
    _, rank = np.unique(last, return_inverse=True)
    turned = [np.where(rank % 2, -other, other) for other in others]
    order = np.lexsort((*turned, last))
    new_class = np.zeros(len(order), bool)
    for each in lengths:
        new_class |= np.diff(each[order], prepend=0) != 0
    return order, np.cumsum(new_class, dtype=np.int64)


def _cut(lengths: Sequence[Array], tokens: int | None, sentences: int | None) -> list[int]:
    """Sizes of batches that fit, taken greedily along the sorted lengths."""
    sizes: list[int] = []
    start, count = 0, len(lengths[0])
    while start < count:
        size = min(count - start, sentences or count)
        if tokens is not None:
            size = min(size, max(tokens // max(sum(int(x[start]) for x in lengths), 1), 1))
            window = slice(start, start + size)
            width = sum(np.maximum.accumulate(x[window]) for x in lengths)
            fits = np.searchsorted(width * np.arange(1, size + 1), tokens, side="right")
            size = max(int(fits), 1)
        sizes.append(size)
        start += size
    return sizes


def _dealt_evenly(sizes: list[int], world: int) -> list[int]:
    """As many batches as `world` divides: the largest are halved, or, of single examples, some joined."""
    sizes, over = list(sizes), len(sizes) % world
    if sum(sizes) < world:
        raise ValueError(
            t(
                "{sizes} examples cannot be shared by {world} processes",
                sizes=sum(sizes),
                world=world,
            )
        )
    if over and sum(sizes) >= len(sizes) + world - over:
        for _ in range(world - over):
            largest = int(np.argmax(sizes))
            half = sizes[largest] // 2
            sizes[largest : largest + 1] = [half, sizes[largest] - half]
    elif over:
        for _ in range(over):
            smallest = int(np.argmin(np.add(sizes[:-1], sizes[1:])))
            sizes[smallest : smallest + 2] = [sizes[smallest] + sizes[smallest + 1]]
    return sizes
