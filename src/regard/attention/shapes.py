"""Shapes that broadcast, and tensors brought to one rank or precision, before a path is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import torch
from torch import Tensor

from regard.words import t


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that all of them broadcast to; a RuntimeError if there is none, as in torch.

    `torch.broadcast_shapes` takes as long as a small attention.
    """
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return tuple(first)
    sizes: list[int] = []
    for axis in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        wide = [size for size in axis if size != 1]  # no set: a size of a graph has no hash
        if any(size != wide[0] for size in wide):
            raise RuntimeError(
                t("shapes {shapes} do not broadcast", shapes=[tuple(shape) for shape in shapes])
            )
        sizes.append(wide[0] if wide else 1)
    return tuple(reversed(sizes))


def of_rank(x: Tensor, rank: int) -> Tensor:
    """The same numbers with axes of 1 in front, until there are `rank` of them."""
    return x if x.dim() == rank else x[(None,) * (rank - x.dim())]


def as_summed(value: Tensor) -> Tensor:
    """In the precision that autocast will sum it in: a number may be finite in float32 alone."""
    kind = value.device.type
    if value.dtype != torch.float32 or not torch.is_autocast_enabled(kind):
        return value
    return value.to(torch.get_autocast_dtype(kind))


def at_least_single(x: Tensor) -> Tensor:
    """Scores, their normalisation and positions are computed in float32 at least."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
