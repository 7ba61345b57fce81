"""Views of pictures: each made harder, on the device, by a key of its own.

In training a key is of the picture and of chance, which is a function of (seed, batch): so every epoch has
other views, and a run that goes on makes those that it would have made. Else it is of the picture alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.layers.pictures import scenes
from regard.layers.pictures.draws import keys_of, mixed, salted, whole
from regard.words import t

GROUNDS = {"translated": 60, "cluttered": 60, "rotated-scaled": 42, "sum": 42}
CLUTTERED = "cluttered"
SUM = "sum"


class Scene(NamedTuple):
    """What is shown, and what is known of how it was made."""

    pictures: Tensor  # (B, C, H, W)
    middle: Tensor | None = None  # (B, 2): where the picture is, if it was moved
    angle: Tensor | None = None  # (B,): degrees that it was turned by, clockwise


class PictureView(nn.Module):
    """pictures (B, C, H, W) -> `Scene`, of the size that `size` says.

    ground: pixels of a side; None: the view's own. bank (N, H, W, C), from 0 to 255: clutter is cut from it.
    grows: batches of a training over which what is done to pictures grows from nothing to all of it.
    """

    bank: Tensor

    def __init__(
        self,
        name: str = "plain",
        *,
        ground: int | None = None,
        pieces: int = 4,
        piece: int = 8,
        bank: NDArray[np.uint8] | None = None,
        grows: int = 0,
    ) -> None:
        super().__init__()
        self.name, self.ground, self.grows = name, ground or GROUNDS.get(name), grows
        self.batches: Tensor
        if grows:
            self.register_buffer("batches", torch.zeros(()))
        self.pieces, self.piece = pieces, piece
        others = torch.zeros(0, 1, 1, 1) if bank is None else torch.from_numpy(bank / 255).float()
        self.register_buffer("bank", others.permute(0, 3, 1, 2).contiguous(), persistent=False)

    def extra_repr(self) -> str:
        return f"{self.name}, ground={self.ground}"

    def size(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """(C, H, W) of a scene made of pictures of this shape; a ValueError says why there is none."""
        channels, height, width = shape
        ground = self.ground
        if ground is not None and ground < max(height, width):
            raise ValueError(
                t(
                    "task.ground={ground} is smaller than pictures of {width}x{height}",
                    ground=ground,
                    width=width,
                    height=height,
                )
            )
        if self.name == CLUTTERED and self.pieces and self.piece > min(height, width):
            raise ValueError(
                t(
                    "task.piece={piece} is larger than pictures of {width}x{height}",
                    piece=self.piece,
                    width=width,
                    height=height,
                )
            )
        sides = (ground, ground) if ground is not None else (height, width)
        return (2 * channels if self.name == SUM else channels, *sides)

    def keys(self, pictures: Tensor) -> Tensor:
        """(B,)"""
        keys = keys_of(pictures)
        if not self.training:
            return mixed(keys)
        return salted(keys, torch.randint(1 << 62, (1,), device=keys.device))

    def strength(self) -> Tensor | float:
        """The share of what is done to pictures: all of it, but for the first batches of a training.

        A warp that undoes it is learnt step by step: near pictures that are known as they are, a gradient
        says where to go, far from them none does.
        """
        if not (self.grows and self.training):
            return 1.0
        self.batches += 1
        return (self.batches / self.grows).clamp(max=1)

    def forward(self, pictures: Tensor) -> Scene:
        """Of a sum: two pictures side by side, which become channels one after the other."""
        height, width = pictures.shape[-2:]
        size = (self.ground, self.ground) if self.ground is not None else (height, width)
        if self.name == "plain":
            return Scene(self.on_ground(pictures))
        keys, strength = self.keys(pictures), self.strength()
        match self.name:
            case "translated":
                return Scene(*scenes.moved(pictures, keys, size, strength=strength))
            case "cluttered":
                bank = self.bank.to(pictures)
                found = scenes.cluttered(
                    pictures,
                    keys,
                    size,
                    bank,
                    pieces=self.pieces,
                    width=self.piece,
                    strength=strength,
                )
                return Scene(*found)
            case "rotated":
                shown, angle = scenes.turned(pictures, keys, size=size, strength=strength)
                return Scene(shown, angle=angle)
            case "rotated-scaled":
                return self._turned(pictures, keys, size, strength)
            case "projected":
                shown = scenes.centred(pictures, size)
                return Scene(scenes.projected(shown, keys, strength=strength))
            case "bent":
                shown = scenes.centred(pictures, size)
                return Scene(scenes.bent(shown, keys, strength=strength))
            case "sum":
                first, second = pictures.chunk(2, -1)
                both = [
                    self._turned(one, key, size, strength)
                    for one, key in ((first, keys), (second, mixed(keys)))
                ]
                return Scene(torch.cat([one.pictures for one in both], 1))
        raise ValueError(t("no view {name}", name=repr(self.name)))

    def on_ground(self, pictures: Tensor) -> Tensor:
        """As they are, in the middle; of a sum, two side by side become channels."""
        if self.name == SUM:
            pictures = torch.cat(pictures.chunk(2, -1), 1)
        size = (pictures.shape[-2], pictures.shape[-1])
        return scenes.centred(pictures, size if self.ground is None else (self.ground, self.ground))

    def paired(self, pictures: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """Each picture beside another of its batch, (B, C, H, 2 W), and the sum of both labels (B,)."""
        count = len(pictures)
        other = whole(self.keys(pictures), 1, count).squeeze(1)
        return torch.cat((pictures, pictures[other]), -1), label + label[other]

    def _turned(
        self, pictures: Tensor, keys: Tensor, size: tuple[int, int], strength: Tensor | float
    ) -> Scene:
        kind: dict[str, Any] = {"degrees": 45, "scale": (0.7, 1.2), "shift": True}
        shown, angle = scenes.turned(pictures, keys, size=size, strength=strength, **kind)
        return Scene(shown, angle=angle)
