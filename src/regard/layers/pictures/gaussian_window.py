"""The window of DRAW (Gregor et al. 2015): N × N Gaussian filters of learnt place, spacing and blur."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from regard.layers.pictures.sample import check_shares
from regard.words import t

NARROWEST = 1e-6  # σ², in pixels: a filter that sees one pixel
FARTHEST = (
    20.0  # that a logarithm is from 0: beyond, its exponential would not stay finite in a product
)


class GaussianWindow(NamedTuple):
    """N × N filters, δ pixels apart, around (x, y) of a picture of A columns and B rows.

        F_X[i, a] = exp(-(a - μ_i)² / 2σ²) / Z_i,  μ_i = x + (i - N/2 - 1/2) δ,  i = 1 … N, a = 1 … A

    and F_Y likewise. Z_i makes the filter's sum 1, also where it lies outside of the picture: it is a
    softmax over pixels, which is nowhere 0 / 0.

    >>> window = GaussianWindow.of(torch.zeros(2, 5), 3, (28, 28))  # in the middle, over all of it
    >>> window.read(torch.ones(2, 1, 28, 28)).shape
    torch.Size([2, 1, 3, 3])
    """

    rows: Tensor  # F_Y (batch, N, B)
    columns: Tensor  # F_X (batch, N, A)
    strength: Tensor  # γ (batch,)
    place: tuple[Tensor, Tensor, Tensor, Tensor]  # x, y, δ and σ², in pixels, the first at 1

    @classmethod
    def of(cls, numbers: Tensor, count: int, size: tuple[int, int]) -> GaussianWindow:
        """numbers (batch, 5), as a linear layer gives them: x̃, ỹ, log σ², log δ̃, log γ; count: N; size: B, A

            x = (A + 1) / 2 · (x̃ + 1),  y = (B + 1) / 2 · (ỹ + 1),  δ = (max(A, B) - 1) / (N - 1) · δ̃

        So zeros are a window in the middle, over the whole picture, with σ = 1. One filter alone has no
        spacing.
        """
        if numbers.shape[-1:] != (5,) or numbers.dim() != 2:
            raise ValueError(
                t("a window is told by (batch, 5) numbers, not {value}", value=(*numbers.shape,))
            )
        _check_sizes(count, size)
        height, width = size
        x, y = numbers[:, 0], numbers[:, 1]
        blur, spread, strength = numbers[:, 2:].clamp(-FARTHEST, FARTHEST).exp().unbind(-1)
        x, y = (width + 1) / 2 * (x + 1), (height + 1) / 2 * (y + 1)
        spacing = (max(size) - 1) / max(count - 1, 1) * spread
        blur = blur.clamp_min(NARROWEST)
        if height == width:  # both at once
            rows, columns = _filters(torch.stack((y, x)), spacing, blur, count, height).unbind(0)
        else:
            rows = _filters(y, spacing, blur, count, height)
            columns = _filters(x, spacing, blur, count, width)
        return cls(rows, columns, strength, (x, y, spacing, blur))

    @property
    def box(self) -> Tensor:
        """(batch, 4): x, y, δ and σ in pixels, the first at 1, for pictures of it"""
        x, y, spacing, blur = self.place
        return torch.stack((x, y, spacing, blur.sqrt()), -1)

    @classmethod
    def of_box(cls, box: Tensor, count: int, size: tuple[int, int]) -> GaussianWindow:
        """The window of such a box (batch, 4) again, with γ = 1."""
        _check_sizes(count, size)
        x, y, spacing, deviation = box.unbind(-1)
        blur = deviation.square()
        rows = _filters(y, spacing, blur, count, size[0])
        columns = _filters(x, spacing, blur, count, size[1])
        return cls(rows, columns, torch.ones_like(x), (x, y, spacing, blur))

    def read(self, pictures: Tensor) -> Tensor:
        """γ F_Y x F_Xᵀ: (batch, C, B, A) -> (batch, C, N, N)"""
        _check("pictures", pictures, self.rows.shape[-1], self.columns.shape[-1], len(self.rows))
        seen = self.rows[:, None] @ pictures @ self.columns[:, None].mT
        return self.strength[:, None, None, None] * seen

    def write(self, patches: Tensor) -> Tensor:
        """1/γ F_Yᵀ w F_X: (batch, C, N, N) -> (batch, C, B, A)"""
        _check("patches", patches, self.rows.shape[-2], self.columns.shape[-2], len(self.rows))
        drawn = self.rows[:, None].mT @ patches @ self.columns[:, None]
        return drawn / self.strength[:, None, None, None]


def _check_sizes(count: int, size: tuple[int, int]) -> None:
    if type(count) is not int or count < 1:
        raise ValueError(
            t(
                "a window has 1 filter or more each way, a whole number, not {count}",
                count=repr(count),
            )
        )
    if len(size) != 2 or any(type(side) is not int or side < 1 for side in size):
        raise ValueError(
            t(
                "a picture has a height and a width of 1 pixel or more, in whole numbers, not "
                "{size}",
                size=repr(size),
            )
        )


def _check(name: str, given: Tensor, high: int, wide: int, batch: int) -> None:
    check_shares(name, given)
    if given.dim() != 4 or (len(given), *given.shape[2:]) != (batch, high, wide):
        raise ValueError(
            t(
                "{name} of {batch} such windows are ({batch}, channels, {high}, {wide}), not "
                "{value}",
                name=name,
                batch=batch,
                high=high,
                wide=wide,
                value=(*given.shape,),
            )
        )


def _filters(centre: Tensor, spacing: Tensor, blur: Tensor, count: int, length: int) -> Tensor:
    """centre (..., batch) -> (..., batch, N, pixels), each filter's sum 1."""
    steps = torch.arange(count, device=centre.device, dtype=centre.dtype) - (count - 1) / 2
    means = centre[..., None] + steps * spacing[:, None]  # (..., batch, N)
    pixels = torch.arange(1, length + 1, device=centre.device, dtype=centre.dtype)
    distances = (pixels - means[..., None]) * (2 * blur).rsqrt()[:, None, None]
    return (-distances.square()).softmax(-1)
