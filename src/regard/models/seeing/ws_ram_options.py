"""The options of glimpses that are learnt by wake-sleep. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, Width

if TYPE_CHECKING:
    from torch import nn


class WsRamOptions(ModelOptions):
    """Glimpses at places of a grid, learnt by the likelihood of the label itself, not by a bound on it."""

    task: ClassVar[str] = "see"
    kind: Literal["ws-ram"] = "ws-ram"
    glimpses: Few = Field(3, description="looks at a picture")
    grid: Few = Field(7, description="places in a row, and in a column")
    width: Few = Field(12, description="pixels of a side of a glimpse")
    scales: Annotated[Few, Field(le=10)] = Field(
        2, description="squares of a glimpse, each twice as wide as the last, seen as coarse"
    )
    coarse: Few = Field(
        8, description="pixels of a side of the view that is known before the first glimpse"
    )
    size: Width = Field(128, description="features of a state")
    inner: Width = Field(128, description="features of what is seen, and of where")
    samples: Few = Field(5, description="paths of a picture in training")
    loss: Literal["wake-sleep", "variational"] = Field(
        "wake-sleep", description="variational: REINFORCE on a bound of the likelihood"
    )
    inference: bool = Field(
        True, description="wake-sleep: paths are drawn by a network that sees the label too (+q)"
    )
    control: bool = Field(
        True,
        description="control variates (+c); variational: the other paths' mean is the baseline",
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.seeing.seers import WakeSleepSeer
        from regard.models.seeing.ws_ram import WsRam

        network = WsRam(
            sizes["image"][0],
            sizes["label"],
            glimpses=self.glimpses,
            grid=self.grid,
            width=self.width,
            scales=self.scales,
            coarse=self.coarse,
            size=self.size,
            inner=self.inner,
        )
        return WakeSleepSeer(
            network,
            samples=self.samples,
            bound=self.loss == "variational",
            inference=self.inference,
            control=self.control,
        )
