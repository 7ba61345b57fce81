"""The retina of a recurrent attention model (Mnih et al. 2014): sharp where it looks, coarse around."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.pictures.sample import check_shares, sample
from regard.words import t

MOST_SCALES = (
    10  # the widest square of g pixels is 512 g wide, and all around a picture is computed
)


class Pyramid(NamedTuple):
    """Pictures as the scales of a retina see them, made once for all glimpses."""

    scales: tuple[Tensor, ...]  # (B, C, H + f - 1, W + f - 1) for f = 1, 2, 4, …
    size: tuple[int, int]  # H, W


class Retina(nn.Module):
    """ρ(x, l): squares of width g, 2 g, 4 g, … around a place, each seen as g × g pixels.

    A pixel of the scale f = 2^s is the mean of f × f points one pixel apart, each read between pixels
    (`sample`). A mean of such readings is one reading of the picture's means over f × f pixels; so these
    are computed once a picture, and a glimpse reads g × g of them.

    >>> pictures = torch.arange(25.0).reshape(1, 1, 5, 5)
    >>> Retina(3)(pictures, torch.zeros(1, 2))[0, 0].tolist()  # the middle
    [[6.0, 7.0, 8.0], [11.0, 12.0, 13.0], [16.0, 17.0, 18.0]]
    """

    def __init__(self, width: int, scales: int = 1) -> None:
        super().__init__()
        whole = all(type(number) is int for number in (width, scales))
        if not whole or width < 1 or not 1 <= scales <= MOST_SCALES:
            raise ValueError(
                t(
                    "a retina has a width of 1 pixel or more and 1 to {most_scales} scales, in "
                    "whole numbers, not {width} and {scales}",
                    most_scales=MOST_SCALES,
                    width=repr(width),
                    scales=repr(scales),
                )
            )
        self.width, self.scales = width, scales

    def extra_repr(self) -> str:
        return f"{self.width}, scales={self.scales}"

    def pyramid(self, pictures: Tensor) -> Pyramid:
        """pictures (B, C, H, W)"""
        if pictures.dim() != 4:
            raise ValueError(
                t(
                    "pictures are (batch, channels, height, width), not {value}",
                    value=(*pictures.shape,),
                )
            )
        check_shares("pictures", pictures)
        scales = [pictures]
        for s in range(1, self.scales):
            scales.append(_coarser(scales[-1], 2 ** (s - 1)))
        return Pyramid(tuple(scales), (pictures.shape[-2], pictures.shape[-1]))

    def forward(self, pictures: Tensor | Pyramid, places: Tensor) -> Tensor:
        """places (B, 2) or (B, M, 2), each (x, y) -> (B, scales · C, g, g) or (B, M, scales · C, g, g)

        The channels of the first scale come first. Differentiable in both; a policy gives places that it
        has detached.
        """
        seen = pictures if isinstance(pictures, Pyramid) else self.pyramid(pictures)
        if len(seen.scales) != self.scales:
            raise ValueError(
                t(
                    "a pyramid of {count} scales, not of {scales}",
                    count=len(seen.scales),
                    scales=self.scales,
                )
            )
        several = places.dim() == 3
        if places.shape[-1:] != (2,) or places.dim() not in (2, 3):
            raise ValueError(
                t(
                    "places are (batch, 2) or (batch, several, 2), not {value}",
                    value=(*places.shape,),
                )
            )
        places = places if several else places[:, None]
        glimpses = [
            self._seen(level, 2**s, seen.size, places) for s, level in enumerate(seen.scales)
        ]
        found = torch.cat(glimpses, 2)
        return found if several else found[:, 0]

    def _seen(self, level: Tensor, f: int, size: tuple[int, int], places: Tensor) -> Tensor:
        """(B, M, C, g, g)"""
        height, width = size
        steps = torch.arange(self.width, device=places.device, dtype=places.dtype)
        steps = f * (
            steps - (self.width - 1) / 2
        )  # of the middles of pixels, from that of the glimpse
        x = _inside(places[..., 0, None] * width / 2 + steps, level.shape[-1])  # (B, M, g)
        y = _inside(places[..., 1, None] * height / 2 + steps, level.shape[-2])
        grid = torch.stack(torch.broadcast_tensors(x[..., None, :], y[..., :, None]), -1)
        return sample(level, grid).transpose(1, 2)


def _coarser(means: Tensor, f: int) -> Tensor:
    """Means over 2 f × 2 f pixels, wherever such a square meets the picture, from those over f × f."""
    wide = F.pad(means, (f, f, f, f))
    rows = wide[..., f:, :] + wide[..., :-f, :]
    return (rows[..., f:] + rows[..., :-f]) / 4


def _inside(pixels: Tensor, length: int) -> Tensor:
    """From pixels off the middle to where that is from -1 to 1: means and pictures have one middle."""
    return pixels * (2 / max(length, 1))
