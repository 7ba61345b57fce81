"""Shapes that broadcast, found quickly: `torch.broadcast_shapes` takes as long as a small attention."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that all of them broadcast to; a RuntimeError if there is none, as in torch."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return tuple(first)
    sizes: list[int] = []
    for axis in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        wide = {size for size in axis if size != 1}
        if len(wide) > 1:
            raise RuntimeError(f"shapes {[tuple(shape) for shape in shapes]} do not broadcast")
        sizes.append(wide.pop() if wide else 1)
    return tuple(reversed(sizes))
