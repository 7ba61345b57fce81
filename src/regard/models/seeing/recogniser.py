"""Networks that name a picture, plain or behind spatial transformers (Jaderberg et al. 2015).

Legend: B pictures, C channels, H, W pixels, N transformers side by side, K labels.
https://arxiv.org/abs/1506.02025
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.layers.pictures.warps import (
    AffineWarp,
    ProjectiveWarp,
    ScaledWarp,
    ThinPlateWarp,
    Warp,
)
from regard.words import t

Shape = tuple[int, int, int]  # C, H, W
Body = Literal["fcn", "cnn"]
WARPS: dict[str, type[Warp]] = {
    "scaled": ScaledWarp,
    "affine": AffineWarp,
    "projective": ProjectiveWarp,
    "thin-plate": ThinPlateWarp,
}


class Recognised(NamedTuple):
    logits: Tensor  # (B, K)
    thetas: Tensor | None  # (B, N, numbers) of the warps; None: there are none
    seen: Tensor  # (B, N · C, H, W): what the classifier got


class SpatialTransformer(nn.Module):
    """A picture warped as a network that has seen it says: V = U ∘ T(θ), θ = f(U).

    f begins as the identity. Several stand side by side, each with a network of its own; all but the first
    begin a little aside, or they would stay alike.
    """

    def __init__(
        self, shape: Shape, warp: Warp, *, body: Body = "cnn", hidden: int = 32, count: int = 1
    ) -> None:
        super().__init__()
        self.warp = warp
        self.locators = nn.ModuleList(_locator(shape, warp, body, hidden) for _ in range(count))
        for number, locator in enumerate(self.locators):
            last = cast("nn.Linear", cast("nn.Sequential", locator)[-1])
            nn.init.zeros_(last.weight)
            with torch.no_grad():
                last.bias.copy_(warp.identity + _aside(warp, number, count))

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """(B, C, H, W) -> (B, N · C, H, W), and θ (B, N, numbers)"""
        thetas = [locator(pictures) for locator in self.locators]
        warped = [self.warp(pictures, theta) for theta in thetas]
        return torch.cat(warped, 1), torch.stack(thetas, 1)


class Recogniser(nn.Module):
    """Fully connected (`fcn`) or convolutions (`cnn`), and before them, if told, warps.

    width: features of a hidden layer, filters of a convolution. halved: the warped picture is averaged over
    2 × 2 pixels, so that one that shrinks is not read between the lines.
    """

    def __init__(
        self,
        shape: Shape,
        labels: int,
        *,
        body: Body = "cnn",
        width: int = 64,
        warp: str | None = None,
        transformers: int = 1,
        located_by: int = 32,
        halved: bool = False,
    ) -> None:
        super().__init__()
        channels, height, across = shape
        self.transformer = None
        if warp is not None:
            if warp not in WARPS:
                raise ValueError(t("no warp '{warp}': {warps}", warp=warp, warps=", ".join(WARPS)))
            self.transformer = SpatialTransformer(
                shape, WARPS[warp](), body=body, hidden=located_by, count=transformers
            )
            channels *= transformers
        self.halve = nn.AvgPool2d(2) if halved else nn.Identity()
        if halved:
            height, across = height // 2, across // 2
        self.body = _body((channels, height, across), labels, body, width)

    def forward(self, pictures: Tensor) -> Recognised:
        seen, thetas = pictures, None
        if self.transformer is not None:
            seen, thetas = self.transformer(pictures)
        return Recognised(self.body(self.halve(seen)), thetas, seen)


def _body(shape: Shape, labels: int, body: Body, width: int) -> nn.Sequential:
    """As in the paper: two hidden layers, or convolutions of 9 × 9 and 7 × 7, each halved by the largest."""
    if body == "fcn":
        first = nn.Linear(shape[0] * shape[1] * shape[2], width)
        rest = (nn.Linear(width, width), nn.ReLU(), nn.Linear(width, labels))
        return nn.Sequential(nn.Flatten(), first, nn.ReLU(), *rest)
    convolved = nn.Sequential(
        *_convolved(shape[0], width, 9), *_convolved(width, width, 7), nn.Flatten()
    )
    return nn.Sequential(*convolved, nn.Linear(_features(convolved, shape), labels))


def _convolved(channels: int, filters: int, width: int) -> tuple[nn.Module, ...]:
    halve = nn.MaxPool2d(2, ceil_mode=True)
    return nn.Conv2d(channels, filters, width, padding=width // 2), nn.ReLU(), halve


def _locator(shape: Shape, warp: Warp, body: Body, hidden: int) -> nn.Sequential:
    """Three layers, or two convolutions of 5 × 5 on the picture at half its size, and two layers."""
    if body == "fcn":
        first = nn.Linear(shape[0] * shape[1] * shape[2], hidden)
        rest = (nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, warp.numbers))
        return nn.Sequential(nn.Flatten(), first, nn.ReLU(), *rest)
    half = nn.AvgPool2d(2, ceil_mode=True)
    convolved = nn.Sequential(
        half, *_convolved(shape[0], 20, 5), *_convolved(20, 20, 5), nn.Flatten()
    )
    inner = nn.Linear(_features(convolved, shape), hidden)
    return nn.Sequential(*convolved, inner, nn.ReLU(), nn.Linear(hidden, warp.numbers))


def _features(network: nn.Module, shape: Shape) -> int:
    with torch.no_grad():
        return int(network(torch.zeros(1, *shape)).shape[-1])


def _aside(warp: Warp, number: int, count: int) -> Tensor:
    """How far from the identity the warp of this number begins: a fifth of a picture to a side of its own."""
    none = torch.zeros(warp.numbers)
    if count == 1:
        return none
    angle = 2 * math.pi * number / count
    x, y = 0.2 * math.cos(angle), 0.2 * math.sin(angle)
    match warp:
        case ScaledWarp():
            none[1], none[2] = x, y
        case AffineWarp() | ProjectiveWarp():
            none[2], none[5] = x, y
        case ThinPlateWarp():
            none[0::2], none[1::2] = x, y
    return none
