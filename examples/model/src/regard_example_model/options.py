"""What can be chosen about it. A recipe is read without torch, so the network is imported in `build`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from regard.options import Few, ModelOptions, Rate, Width

if TYPE_CHECKING:
    from torch import nn


class WordWindows(ModelOptions):
    """Convolutions over windows of words, pooled by attention, and a label (after Kim 2014)."""

    task: ClassVar[str] = "classify"
    size: Width = Field(64, description="features of a word")
    widths: tuple[Few, ...] = Field((1, 3, 5), description="words in a window, a network for each")
    dropout: Rate = Field(0.5, description="share of the features left out in training")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard_example_model.network import word_windows

        return word_windows(sizes["text"], sizes["label"], self)
