"""The options of a recogniser behind spatial transformers. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, Width

if TYPE_CHECKING:
    from torch import nn


class StnOptions(ModelOptions):
    """A picture warped as a network that has seen it says, then named by another."""

    task: ClassVar[str] = "see"
    kind: Literal["stn"] = "stn"
    warp: Literal["none", "scaled", "affine", "projective", "thin-plate"] = Field(
        "affine", description="what a picture may be turned into; none: it is named as it is"
    )
    body: Literal["fcn", "cnn"] = Field(
        "cnn", description="both networks: fully connected, or convolutions"
    )
    width: Width = Field(64, description="features of a hidden layer, filters of a convolution")
    located_by: Width = Field(32, description="features of the network that tells the warp")
    transformers: Few = Field(1, description="warps side by side, all of which are named together")
    halved: bool = Field(
        False, description="the warped picture is averaged over 2 x 2 pixels before it is named"
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.seeing.recogniser import Recogniser
        from regard.models.seeing.seers import WarpSeer

        network = Recogniser(
            tuple(sizes["image"]),
            sizes["label"],
            body=self.body,
            width=self.width,
            warp=None if self.warp == "none" else self.warp,
            transformers=self.transformers,
            located_by=self.located_by,
            halved=self.halved,
        )
        return WarpSeer(network)
