"""Convolutions over the whole picture: what models that look at parts of it are measured against.

Legend: B pictures, C channels, H, W pixels, K labels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.models.seeing.seer import SeenPictures, Seer
from regard.words import t

GROUPS = 8  # of channels that are normalised together


class ShallowCnn(Seer):
    """One convolution of 10 × 10 with stride 5, one hidden layer: the baseline of Mnih et al. 2014.

    https://arxiv.org/abs/1406.6247
    """

    def __init__(
        self, shape: tuple[int, int, int], labels: int, *, filters: int = 8, hidden: int = 256
    ) -> None:
        super().__init__()
        if min(shape[1:]) < 10:
            raise ValueError(
                t(
                    "filters of 10 x 10 see nothing of pictures of {shape} x {value}",
                    shape=shape[1],
                    value=shape[2],
                )
            )
        first = nn.Conv2d(shape[0], filters, 10, stride=5)
        pixels = filters * ((shape[1] - 10) // 5 + 1) * ((shape[2] - 10) // 5 + 1)
        self.layers = nn.Sequential(
            first, nn.ReLU(), nn.Flatten(), nn.Linear(pixels, hidden), nn.ReLU(), nn.Linear(hidden, labels)
        )  # fmt: skip

    def forward(self, pictures: Tensor) -> SeenPictures:
        return SeenPictures(self.layers(pictures))


class DeepCnn(Seer):
    """Pairs of 3 × 3 convolutions, each with a normalisation over groups of channels, halved after each pair.

    The channels double from `filters` on; their largest values over the last map are judged. No normalisation
    goes over the batch: a picture is judged by itself.
    """

    def __init__(
        self,
        channels: int,
        labels: int,
        *,
        filters: int = 32,
        stages: int = 3,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.layers = convolutions(channels, filters, stages)
        width = filters * 2 ** (stages - 1)
        self.dropout, self.label = nn.Dropout(dropout), nn.Linear(width, labels)

    def forward(self, pictures: Tensor) -> SeenPictures:
        return SeenPictures(self.label(self.dropout(torch.amax(self.layers(pictures), (-2, -1)))))


def convolutions(channels: int, filters: int, stages: int) -> nn.Sequential:
    """(B, C, H, W) -> (B, filters · 2^(stages - 1), H / 2^stages, W / 2^stages), both rounded up"""
    layers: list[nn.Module] = []
    width = channels
    for stage in range(stages):
        wider = filters * 2**stage
        layers += [*_convolution(width, wider), *_convolution(wider, wider)]
        layers.append(nn.MaxPool2d(2, ceil_mode=True))
        width = wider
    return nn.Sequential(*layers)


def _convolution(channels: int, filters: int) -> tuple[nn.Module, ...]:
    groups = next(n for n in range(min(GROUPS, filters), 0, -1) if filters % n == 0)
    convolved = nn.Conv2d(channels, filters, 3, padding=1, bias=False)
    return convolved, nn.GroupNorm(groups, filters), nn.ReLU()
