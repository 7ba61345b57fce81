"""Warps of a spatial transformer (Jaderberg et al. 2015): where in a picture each pixel of a result is read.

Legend: P pixels of the result, K features of a place that a warp is linear in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache

import torch
from torch import Tensor, nn

from regard.layers.pictures.sample import sample
from regard.words import t

NEAREST = 1e-3  # depth of what a projection still shows
Size = tuple[int, int]


class Warp(nn.Module, ABC):
    """T: from a place (x, y) of the result to the place of the picture that it shows.

    numbers: how many tell it. The last layer of who predicts them begins with weights of 0 and `identity`
    as its bias, so that a picture is at first seen as it is.
    """

    numbers: int
    points = 0  # by points, of a plate that is held there

    @property
    @abstractmethod
    def identity(self) -> Tensor:
        """(numbers,): what leaves a picture as it is."""

    @abstractmethod
    def moved(self, theta: Tensor, features: Tensor) -> Tensor:
        """theta (B, numbers), features (P, K) -> places (B, P, 2)"""

    def grid(self, theta: Tensor, size: Size) -> Tensor:
        """(B, H, W, 2): the place in the picture of every pixel of a result of (H, W)."""
        if theta.dim() != 2 or theta.shape[-1] != self.numbers:
            told = t(
                "{kind} is told by (batch, {numbers}) numbers",
                kind=type(self).__name__,
                numbers=self.numbers,
            )
            raise ValueError(t("{told}, not {value}", told=told, value=(*theta.shape,)))
        features = _features(self.points, size, theta.device, theta.dtype)
        return self.moved(theta, features).unflatten(1, size)

    def forward(self, pictures: Tensor, theta: Tensor, size: Size | None = None) -> Tensor:
        """pictures (B, C, H, W) -> (B, C, *size); if not given, of the picture's own size."""
        height, width = pictures.shape[-2:]
        return sample(pictures, self.grid(theta, size or (height, width)))


class AffineWarp(Warp):
    """[x', y'] = A [x, y, 1], A 2 × 3, row by row."""

    numbers = 6

    @property
    def identity(self) -> Tensor:
        return torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])

    def moved(self, theta: Tensor, features: Tensor) -> Tensor:
        return features @ theta.unflatten(-1, (2, 3)).mT


class ScaledWarp(Warp):
    """x' = s x + t, y' = s y + u, told by s, t, u: attention to a part, upright."""

    numbers = 3

    @property
    def identity(self) -> Tensor:
        return torch.tensor([1.0, 0.0, 0.0])

    def moved(self, theta: Tensor, features: Tensor) -> Tensor:
        return theta[:, None, :1] * features[:, :2] + theta[:, None, 1:]


class ProjectiveWarp(Warp):
    """[x', y'] = [u, v] / w, [u, v, w] = H [x, y, 1], H 3 × 3, row by row, its last number 1.

    Where w comes near 0 the picture is seen edge on, and where it is below, from behind: w stays positive.
    """

    numbers = 8

    @property
    def identity(self) -> Tensor:
        return torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def moved(self, theta: Tensor, features: Tensor) -> Tensor:
        matrix = torch.cat((theta, theta.new_ones(len(theta), 1)), -1).unflatten(-1, (3, 3))
        projected = features @ matrix.mT  # (B, P, 3)
        depth = projected[..., 2:]
        return (
            projected[..., :2] / depth.clamp_min(NEAREST) + 0 * depth
        )  # infinitely deep: no place


class ThinPlateWarp(Warp):
    """f(p) = Σ_k w_k φ(|p - c_k|) + a [x, y, 1], φ(r) = r² log r: a thin plate, bent through points × points.

    theta says where each point c_k of an even grid over the picture goes, x and y, row by row; the plate with
    the least bending that goes through all of them is linear in it.
    """

    def __init__(self, points: int = 4) -> None:
        super().__init__()
        if points < 2:
            raise ValueError(
                t("a plate is held at 2 × 2 points or more, not {points} × {points}", points=points)
            )
        self.points, self.numbers = points, 2 * points**2

    def extra_repr(self) -> str:
        return f"points={self.points}"

    @property
    def identity(self) -> Tensor:
        return _held(self.points).to(torch.get_default_dtype()).reshape(-1)

    def held(self, like: Tensor) -> Tensor:
        """The identity as another tensor is, made once for a device."""
        return _held_on(self.points, like.device, like.dtype)

    def moved(self, theta: Tensor, features: Tensor) -> Tensor:
        return features @ theta.unflatten(-1, (-1, 2))


def corner_numbers(corners: Tensor) -> Tensor:
    """The numbers of the projection that takes the corners of a picture to these: (B, 4, 2) -> (B, 8)

    Corners are upper left, upper right, lower left, lower right. — Heckbert 1989, for the square from -1 to 1
    """
    (a, b), (c, d), (e, f), (g, h) = (corner.unbind(-1) for corner in corners.unbind(1))
    area = (c - g) * (f - h) - (e - g) * (d - h)
    x, y = a - c + g - e, b - d + h - f
    u = (x * (f - h) - (e - g) * y) / area
    v = ((c - g) * y - x * (d - h)) / area
    # on the square from 0 to 1, rows of H: [c - a + u c, e - a + v e, a], …, [u, v, 1]; then x → (x + 1) / 2
    rows = []
    for first, right, below in ((a, c, e), (b, d, f)):
        across, down = right - first + u * right, below - first + v * below
        rows += [across / 2, down / 2, first + (across + down) / 2]
    return torch.stack((*rows, u / 2, v / 2), -1) / (1 + (u + v) / 2)[:, None]


@lru_cache(16)
def _held_on(points: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    with torch.inference_mode(False):
        return _held(points).reshape(-1).to(device, dtype)


@lru_cache(64)
def _features(points: int, size: Size, device: torch.device, dtype: torch.dtype) -> Tensor:
    """(P, K) of the middles of all pixels, row by row, made in float64.

    points 0: x, y, 1. Else the share that each point of a plate has in where a pixel goes.
    """
    with torch.inference_mode(False):
        rows, columns = (
            (2 * torch.arange(length, dtype=torch.float64) + 1) / length - 1 for length in size
        )
        features = places = _with_one(_each(columns, rows))
        if points:
            held = _held(points)
            system = torch.zeros(len(held) + 3, len(held) + 3, dtype=torch.float64)
            system[: len(held)] = torch.cat((_bent(held, held), _with_one(held)), -1)
            system[len(held) :, : len(held)] = _with_one(held).mT
            bent = torch.cat((_bent(places[:, :2], held), places), -1)
            features = bent @ torch.linalg.inv(system)[:, : len(held)]
        return features.to(device, dtype)


def _held(points: int) -> Tensor:
    """(points², 2): an even grid, corners included."""
    at = torch.linspace(-1, 1, points, dtype=torch.float64)
    return _each(at, at)


def _each(x: Tensor, y: Tensor) -> Tensor:
    """(|y| · |x|, 2): all places, row by row."""
    return torch.stack(torch.meshgrid(x, y, indexing="xy"), -1).reshape(-1, 2)


def _with_one(places: Tensor) -> Tensor:
    return torch.cat((places, places.new_ones(len(places), 1)), -1)


def _bent(places: Tensor, held: Tensor) -> Tensor:
    """φ(|p - c|) = ½ r² log r², 0 at 0: (P, points²)"""
    square = (places[:, None] - held).square().sum(-1)
    return torch.special.xlogy(square, square) / 2
