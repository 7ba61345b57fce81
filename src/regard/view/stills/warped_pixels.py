"""Where a warp reads a picture, and what it sees there, between the picture as it is and the whole warp.

Legend: h, w places of the warp's grid; H, W pixels of the picture.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from regard.records.png_image import PngImage
from regard.records.side import NotARecord
from regard.words import t

Numbers = NDArray[np.floating[Any]]


def source_places(grid: Numbers, u: Numbers, v: Numbers, share: float = 1.0) -> Numbers:
    """Places (u, v) of the result, from -1 to 1 -> (..., 2), where the picture is read for them.

    Between the places of the grid (h, w, 2) it is mixed, and beyond its ends it goes on as there. share: 0 is
    the place itself, 1 the warp.
    """
    rows, columns = grid.shape[:2]
    top, down = _between(((v + 1) * rows - 1) / 2, rows)
    left, across = _between(((u + 1) * columns - 1) / 2, columns)
    bottom, right = np.minimum(top + 1, rows - 1), np.minimum(left + 1, columns - 1)
    upper = grid[top, left] * (1 - across)[..., None] + grid[top, right] * across[..., None]
    lower = grid[bottom, left] * (1 - across)[..., None] + grid[bottom, right] * across[..., None]
    read = upper * (1 - down)[..., None] + lower * down[..., None]
    own = np.stack([u, v], -1)
    return np.asarray(own + (read - own) * share)


def resampled(
    picture: NDArray[np.uint8], grid: Numbers, share: float, size: tuple[int, int]
) -> NDArray[np.uint8]:
    """(H, W, C) -> (*size, C): read between pixels, black outside."""
    rows, columns = ((2 * np.arange(n) + 1) / n - 1 for n in size)
    v, u = np.meshgrid(rows, columns, indexing="ij")
    places = source_places(grid, u, v, share)
    high, wide = picture.shape[:2]
    column, row = ((places[..., 0] + 1) * wide - 1) / 2, ((places[..., 1] + 1) * high - 1) / 2
    left, top = np.floor(column).astype(np.int64), np.floor(row).astype(np.int64)
    seen = np.zeros((*size, picture.shape[2]))
    for dr in (0, 1):
        for dc in (0, 1):
            r, c = top + dr, left + dc
            inside = (r >= 0) & (r < high) & (c >= 0) & (c < wide)
            weight = (1 - np.abs(r - row)) * (1 - np.abs(c - column)) * inside
            there = picture[np.clip(r, 0, high - 1), np.clip(c, 0, wide - 1)]
            seen += weight[..., None] * there
    return np.asarray(np.rint(seen), np.uint8)


def pixels_of(image: PngImage) -> NDArray[np.uint8]:
    """(H, W, 3)"""
    return pixels_in(image.data, ("PNG",))


def pixels_in(data: bytes, formats: Sequence[str]) -> NDArray[np.uint8]:
    """Of a file in one of these formats, (H, W, 3)."""
    try:
        with Image.open(io.BytesIO(data), formats=tuple(formats)) as opened:
            return np.asarray(opened.convert("RGB"))
    except Exception:  # in a damaged file pillow trips over anything
        raise NotARecord(t("a picture of this record is damaged: it cannot be decoded")) from None


def _between(place: Numbers, count: int) -> tuple[NDArray[np.int64], Numbers]:
    """The number before a place, and how far behind it the place is."""
    before = np.clip(np.floor(place), 0, max(count - 2, 0)).astype(np.int64)
    return before, place - before if count > 1 else np.zeros_like(place)
