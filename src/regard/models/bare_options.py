"""The options of self-attention without parameters. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, Rate, Width

if TYPE_CHECKING:
    from torch import nn


class BareClassifier(ModelOptions):
    """Self-attention without parameters, pooled, and a label."""

    task: ClassVar[str] = "classify"
    kind: Literal["bare-classifier"] = "bare-classifier"
    size: Width = Field(128, description="features of an embedded token")
    layers: Few = Field(1, description="times that the text attends to itself")
    softmax: bool = Field(True, description="false: the dot products themselves are the weights")
    pool: Literal["mean", "max", "attention"] = Field(
        "mean", description="how the states become one vector"
    )
    dropout: Rate = Field(0.0, description="share of the embeddings left out in training")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.bare import bare_classifier

        return bare_classifier(sizes["text"], sizes["label"], self)
