"""The options of the recurrent attention model. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, NotNegative, Positive, Width

if TYPE_CHECKING:
    from torch import nn


class RamOptions(ModelOptions):
    """A few glimpses of a picture, each where the one before told; places are learnt by their reward."""

    task: ClassVar[str] = "see"
    kind: Literal["ram"] = "ram"
    glimpses: Few = Field(6, description="looks at a picture; the first is anywhere")
    width: Few = Field(8, description="pixels of a side of a glimpse")
    scales: Annotated[Few, Field(le=10)] = Field(
        1, description="squares of a glimpse, each twice as wide as the last, seen as coarse"
    )
    size: Width = Field(256, description="features of a state")
    inner: Width = Field(128, description="features of what is seen, and of where")
    core: Literal["plain", "lstm"] = Field("plain", description="the recurrent cell")
    policy: Literal["learned", "random"] = Field(
        "learned",
        description="random: all places are drawn evenly, and nothing learns where to look",
    )
    deviation: Positive = Field(0.1, description="of places in training, where a picture is 2 wide")
    copies: Few = Field(
        1, description="paths of a picture in training, each with places of its own"
    )
    reinforce: NotNegative = Field(
        0.01, description="weight of what teaches the policy in the loss"
    )
    baseline: bool = Field(
        True, description="the expected reward, learnt from the state, is taken off the reward"
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.seeing.ram import Ram
        from regard.models.seeing.seers import GlimpseSeer

        network = Ram(
            sizes["image"][0],
            sizes["label"],
            glimpses=self.glimpses,
            width=self.width,
            scales=self.scales,
            size=self.size,
            inner=self.inner,
            core=self.core,
            policy=self.policy,
            deviation=self.deviation,
        )
        return GlimpseSeer(
            network, copies=self.copies, weight=self.reinforce, baseline=self.baseline
        )
