"""Shapes that broadcast, found quickly: nearly always they are the same already."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """`torch.broadcast_shapes`, which takes as long as a small attention, only where it is needed."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return tuple(first)
    return tuple(torch.broadcast_shapes(*shapes))
