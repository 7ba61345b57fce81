"""Pictures as annotation vectors: one for each cell of a grid, which a decoder attends to.

Legend: B pictures, C channels, H, W pixels, h, w cells, L = h · w annotation vectors of size D.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import pooling
from regard.layers.contracts import Encoded
from regard.words import t


class PictureEncoder(nn.Module):
    """a_i = relu(W f_i + U p_i + b), row by row: f convolutions, p the place of a cell, from -1 to 1.

    filters: of each convolution of window × window, whose result is halved by the largest of 2 × 2; they
    decide how far around it a cell sees. What is outside of a picture is 0 at every layer, so that padding
    changes nothing. norm: features of a cell are brought
    to mean 0 and deviation 1 before a relu (Ba et al. 2016, https://arxiv.org/abs/1607.06450).
    """

    def __init__(
        self,
        channels: int,
        filters: Sequence[int],
        size: int,
        *,
        window: int = 3,
        norm: bool = False,
    ) -> None:
        super().__init__()
        sizes = [channels, *filters]
        self.layers = nn.ModuleList(
            nn.Conv2d(before, after, window, padding=window // 2)
            for before, after in pairwise(sizes)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(after) for after in filters) if norm else None
        self.features = nn.Conv2d(sizes[-1], size, 1)
        self.places = nn.Linear(2, size, bias=False)
        self.output_size = size
        for layer in (
            *self.layers,
            self.features,
        ):  # He et al. 2015: or nothing of a picture is left
            assert isinstance(layer, nn.Conv2d)
            assert layer.bias is not None
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of the cells of such a picture."""
        return -(-height // self.cell), -(-width // self.cell)

    @property
    def cell(self) -> int:
        """The side of a cell, in pixels."""
        return 1 << len(self.layers)

    def forward(self, pictures: Tensor, mask: Tensor | None = None) -> Encoded:
        """pictures (B, C, H, W), mask (B, H, W): True where a pixel is real; None: all are."""
        if pictures.dim() != 4 or not pictures.is_floating_point():
            raise ValueError(
                t(
                    "pictures are (B, C, H, W), floating-point numbers; given {pictures_shape} of "
                    "{dtype}",
                    pictures_shape=tuple(pictures.shape),
                    dtype=pictures.dtype,
                )
            )
        if mask is None:
            mask = pictures.new_ones(pictures[:, 0].shape, dtype=torch.bool)
        real = mask[:, None].to(pictures.dtype)  # (B, 1, H, W)
        x = pictures * real
        for number, layer in enumerate(self.layers):
            x = layer(x)
            if self.norms is not None:
                x = self.norms[number](x.movedim(1, -1)).movedim(-1, 1)
            x = F.max_pool2d(x.relu() * real, 2, ceil_mode=True)  # none is below 0
            real = F.max_pool2d(real, 2, ceil_mode=True)
        x = (self.features(x) + self.places(_places(real)).movedim(-1, 1)).relu()
        states, there = x.flatten(2).transpose(1, 2), real.flatten(1) > 0  # (B, L, D), (B, L)
        return Encoded(states, there, pooling.mean(states, there).vector)


class FeatureEncoder(nn.Module):
    """Annotation vectors that were made elsewhere, as they are."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = size

    def forward(self, features: Tensor, mask: Tensor | None = None) -> Encoded:
        """features (B, L, D), mask (B, L): True where a vector is real"""
        if mask is None:
            mask = features.new_ones(features.shape[:2], dtype=torch.bool)
        return Encoded(features, mask, pooling.mean(features, mask).vector)


def _places(real: Tensor) -> Tensor:
    """real (B, 1, h, w), 1 where a cell is real -> (B, h, w, 2): row and column, from -1 to 1"""

    def along(count: Tensor, cells: int) -> Tensor:
        at = torch.arange(cells, device=real.device, dtype=real.dtype) + 0.5
        return 2 * at / count.clamp(min=1)[:, None] - 1  # (B, cells)

    rows, columns = real[:, 0].amax(2).sum(1), real[:, 0].amax(1).sum(1)  # (B,)
    high, wide = real.shape[-2:]
    down, across = along(rows, high)[:, :, None], along(columns, wide)[:, None]
    return torch.stack(torch.broadcast_tensors(down, across), -1)
