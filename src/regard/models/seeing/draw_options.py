"""The options of DRAW. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, Width
from regard.words import t

if TYPE_CHECKING:
    from torch import nn


class DrawOptions(ModelOptions):
    """An encoder that reads and a decoder that draws, by turns, through windows (Gregor et al. 2015)."""

    task: ClassVar[str] = "paint"
    attends_by: ClassVar[Mapping[str, str]] = {"read": "attention", "write": "attention"}
    kind: Literal["draw"] = "draw"
    attention: Literal["windows", "none"] = Field(
        "windows",
        description="Gaussian windows of learnt place, spacing and blur; none: all is read and "
        "drawn over at every step",
    )
    steps: Few = Field(32, description="T: times that it reads and draws")
    hidden: Width = Field(256, description="features of a state, of the encoder and of the decoder")
    latent: Width = Field(100, description="z: numbers that a step is drawn from")
    read: Few = Field(2, description="filters of the window that reads, in each direction")
    write: Few = Field(5, description="filters of the window that draws, in each direction")
    fused: bool = Field(
        False,
        description="in training on a GPU, torch.compile makes few kernels of the small ones of a step; the "
        "first batch of each size waits for it",
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.seeing.draw import Draw

        channels, height, width = sizes["image"]
        if height is None or width is None:
            raise ValueError(t("DRAW has a canvas of one size, and the pictures have several"))
        windows = self.attention == "windows"
        return Draw(
            (channels, height, width),
            steps=self.steps,
            features=self.hidden,
            latent=self.latent,
            read=self.read if windows else None,
            write=self.write if windows else None,
            fused=self.fused,
        )
