"""The options of DRAW's reader as a classifier. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, Width

if TYPE_CHECKING:
    from torch import nn


class WindowReaderOptions(ModelOptions):
    """Windows that move and zoom, each told by the state before: glimpses that are differentiable."""

    task: ClassVar[str] = "see"
    kind: Literal["window-reader"] = "window-reader"
    steps: Few = Field(8, description="windows on a picture, one after the other")
    filters: Few = Field(12, description="filters of a window in each direction")
    size: Width = Field(256, description="features of a state")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.seeing.draw import WindowReader
        from regard.models.seeing.seers import WindowSeer

        network = WindowReader(
            tuple(sizes["image"]),
            sizes["label"],
            steps=self.steps,
            filters=self.filters,
            features=self.size,
        )
        return WindowSeer(network)
