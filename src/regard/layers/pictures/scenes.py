"""Digits made harder: moved, among clutter, turned, bent. The same picture and number, the same result.

Pictures are (B, C, H, W) from 0, the ground, to 1; of two that lie over each other the brighter is seen.
Numbers are drawn by keys (B,), see `draws`.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.layers.pictures.draws import mixed, normal, uniform, whole
from regard.layers.pictures.warps import AffineWarp, ProjectiveWarp, ThinPlateWarp, corner_numbers
from regard.words import t

_CLUTTER, _MOVE, _PIECE = 1, 2, 3  # so that each has numbers of its own


def centred(pictures: Tensor, size: tuple[int, int]) -> Tensor:
    """In the middle of a ground of this size: (B, C, *size)"""
    (height, width), (high, wide) = pictures.shape[-2:], size
    if (height, width) == (high, wide):
        return pictures
    top, left = (high - height) // 2, (wide - width) // 2
    return F.pad(pictures, (left, wide - width - left, top, high - height - top))


def moved(
    pictures: Tensor, keys: Tensor, size: tuple[int, int], *, strength: Tensor | float = 1.0
) -> tuple[Tensor, Tensor]:
    """On a larger ground, anywhere, as a whole: (B, C, *size); and the middle of each, (B, 2), as places are.

    strength: the share of the way from the middle that each goes. — Translated MNIST of Mnih et al. 2014:
    size (60, 60)
    """
    height, width = pictures.shape[-2:]
    if size[0] < height or size[1] < width:
        raise ValueError(
            t(
                "pictures of {height} x {width} do not fit into {size} x {value}",
                height=height,
                width=width,
                size=size[0],
                value=size[1],
            )
        )
    keys = mixed(keys + _MOVE)
    top = _aside(whole(keys, 1, size[0] - height + 1), size[0] - height, strength)
    left = _aside(whole(mixed(keys), 1, size[1] - width + 1), size[1] - width, strength)
    ground = pictures.new_zeros(*pictures.shape[:2], *size)
    middle = torch.cat(((2 * left + width) / size[1], (2 * top + height) / size[0]), 1)
    return laid(ground, pictures[:, None], top, left), middle.to(pictures.dtype) - 1


def cluttered(
    pictures: Tensor,
    keys: Tensor,
    size: tuple[int, int],
    bank: Tensor,
    *,
    pieces: int = 4,
    width: int = 8,
    strength: Tensor | float = 1.0,
) -> tuple[Tensor, Tensor]:
    """`moved`, with `pieces` squares of others beside it, cut out anywhere and laid anywhere.

    bank (N, C, H, W): the others. — Cluttered Translated MNIST: (60, 60) with 4 pieces of 8 x 8, (100, 100)
    with 8
    """
    scene, middle = moved(pictures, keys, size, strength=strength)
    if not pieces:
        return scene, middle
    keys = mixed(keys + _CLUTTER)
    others = bank[whole(keys, pieces, len(bank))]  # (B, M, C, H, W)
    height, long = bank.shape[-2:]
    top, left = (
        whole(mixed(keys + at), pieces, n - width + 1) for at, n in enumerate((height, long))
    )
    cut = _squares(others, top, left, width)
    keys = mixed(keys + _PIECE)
    top, left = (whole(mixed(keys + at), pieces, n - width + 1) for at, n in enumerate(size))
    return laid(scene, cut, top, left), middle


def laid(ground: Tensor, parts: Tensor, top: Tensor, left: Tensor) -> Tensor:
    """ground (B, C, H, W), parts (B, M, C, h, w), their upper left corners (B, M): the brighter of both."""
    channels, across = ground.shape[1], ground.shape[3]
    rows = top[..., None] + torch.arange(parts.shape[-2], device=top.device)  # (B, M, h)
    columns = left[..., None] + torch.arange(parts.shape[-1], device=top.device)
    at = rows[..., :, None] * across + columns[..., None, :]  # (B, M, h, w)
    at = at[:, None].expand(-1, channels, -1, -1, -1).flatten(2)
    flat = parts.transpose(1, 2).flatten(2)
    return ground.flatten(2).scatter_reduce(2, at, flat, "amax").unflatten(2, ground.shape[2:])


def turned(
    pictures: Tensor,
    keys: Tensor,
    *,
    degrees: float = 90.0,
    scale: tuple[float, float] = (1.0, 1.0),
    size: tuple[int, int] | None = None,
    shift: bool = False,
    strength: Tensor | float = 1.0,
) -> tuple[Tensor, Tensor]:
    """By an angle in ± degrees, made larger by a factor of `scale`, and, if told, moved where it still fits.

    size: of the ground. strength: the share of all that is done. Also the angle of each in degrees,
    clockwise, (B,). — Jaderberg et al. 2015: R is ± 90 degrees; RTS ± 45, scale 0.7 to 1.2, moved, on
    (42, 42)
    """
    angle, factor, x, y = uniform(mixed(keys + 4), 4).to(pictures.dtype).unbind(1)
    angle = strength * (2 * angle - 1) * math.radians(degrees)
    factor = 1 + strength * (scale[0] + (scale[1] - scale[0]) * factor - 1)
    old, new = pictures.shape[-2:], size or (pictures.shape[-2], pictures.shape[-1])
    wide, high = new[1] / old[1], new[0] / old[0]  # of the ground, in pictures
    cos, sin = angle.cos() / factor, angle.sin() / factor
    room = [strength * (n - 1) if shift else 0.0 for n in (wide, high)]
    x, y = (2 * x - 1) * room[0], (2 * y - 1) * room[1]  # of the picture's middle, in halves of it
    theta = torch.stack(
        (cos * wide, sin * high, -(cos * x + sin * y), -sin * wide, cos * high, sin * x - cos * y),
        1,
    )
    return AffineWarp()(pictures, theta, new), angle.rad2deg()


def projected(
    pictures: Tensor,
    keys: Tensor,
    *,
    pixels: float = 3.0,
    scale: tuple[float, float] = (0.75, 1.0),
    strength: Tensor | float = 1.0,
) -> Tensor:
    """Seen at an angle: made smaller by a factor of `scale`, then each corner goes about `pixels` away.

    pixels: the deviation of how far, in each direction; at 5 some pictures of 28 x 28 are folded away.
    strength: the share of all that is done. — after P of Jaderberg et al. 2015
    """
    factor = scale[0] + (scale[1] - scale[0]) * uniform(mixed(keys + 5), 1)
    factor = 1 + strength * (factor - 1)
    away = normal(mixed(keys + 7), 8).unflatten(1, (4, 2)) * (strength * pixels)
    x, y = (2 * away[..., axis] / n for axis, n in enumerate(pictures.shape[:-3:-1]))
    corners = torch.stack((x, y), -1).to(pictures.dtype) + _corners(pictures)
    return ProjectiveWarp()(pictures, corner_numbers(corners / factor[..., None]))


def bent(
    pictures: Tensor,
    keys: Tensor,
    *,
    pixels: float = 1.5,
    points: int = 4,
    strength: Tensor | float = 1.0,
) -> Tensor:
    """Every point of a grid goes about `pixels` away, their deviation in each direction.

    strength: the share of all that is done. — E of Jaderberg et al. 2015, a thin plate
    """
    warp = ThinPlateWarp(points)
    away = normal(mixed(keys + 6), warp.numbers).to(pictures.dtype).unflatten(1, (-1, 2))
    away = away * (strength * pixels)
    x, y = (2 * away[..., axis] / n for axis, n in enumerate(pictures.shape[:-3:-1]))
    return warp(pictures, warp.held(pictures) + torch.stack((x, y), -1).flatten(1))


def _aside(place: Tensor, most: int, strength: Tensor | float) -> Tensor:
    """A place from 0 to `most`, only so far from the middle of both."""
    return (most / 2 + strength * (place - most / 2)).round().long()


def _corners(like: Tensor) -> Tensor:
    """(4, 2): upper left, upper right, lower left, lower right."""
    ends = torch.linspace(-1, 1, 2, device=like.device, dtype=like.dtype)
    return torch.stack(torch.meshgrid(ends, ends, indexing="xy"), -1).reshape(4, 2)


def _squares(pictures: Tensor, top: Tensor, left: Tensor, width: int) -> Tensor:
    """(B, M, C, H, W) -> (B, M, C, width, width), from these corners (B, M)."""
    steps = torch.arange(width, device=top.device)
    rows = (top[..., None] + steps)[:, :, None, :, None].expand(
        -1, -1, pictures.shape[2], -1, pictures.shape[-1]
    )
    columns = (left[..., None] + steps)[:, :, None, None, :].expand(
        -1, -1, pictures.shape[2], width, -1
    )
    return pictures.gather(3, rows).gather(4, columns)
