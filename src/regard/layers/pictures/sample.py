"""Pictures read between their pixels."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from regard.words import t


def sample(pictures: Tensor, places: Tensor) -> Tensor:
    """pictures (B, C, H, W), places (B, ..., P, 2) -> (B, C, ..., P)

        v = Σ_ij x[i, j] max(0, 1 - |i - r|) max(0, 1 - |j - c|)

    The row r and the column c of a place (x, y) are ((y + 1) H - 1) / 2 and ((x + 1) W - 1) / 2. Outside is
    0; a place that is not finite gives NaN.
    """
    check_shares("pictures", pictures)
    batch, channels = pictures.shape[:2]
    inner = places.shape[1:-1]
    if len(places) != batch:
        raise ValueError(
            t(
                "there are {batch} pictures, and places or a warp for {count} of them",
                batch=batch,
                count=len(places),
            )
        )
    if not (pictures.numel() and places.numel()):
        return pictures.new_zeros(batch, channels, *inner)
    grid = places.to(pictures.dtype).reshape(batch, -1, inner[-1], 2)
    found = F.grid_sample(pictures, grid, padding_mode="zeros", align_corners=False)
    lost = 0 * grid.detach().sum(-1)[:, None]  # or NaN, which torch would read at a corner
    return (found + lost).reshape(batch, channels, *inner)


def check_shares(name: str, given: Tensor) -> None:
    """Whether they can be read between pixels, which whole numbers cannot."""
    if not given.is_floating_point():
        raise ValueError(
            t(
                "{name} are fractions, so that they can be read between pixels, not {dtype}: {name} / 255 "
                "makes them of bytes",
                name=name,
                dtype=given.dtype,
            )
        )
