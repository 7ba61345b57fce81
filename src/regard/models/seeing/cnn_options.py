"""The options of convolutions over whole pictures. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, Rate, Width

if TYPE_CHECKING:
    from torch import nn


class CnnOptions(ModelOptions):
    """Convolutions over the whole picture: nothing is looked at more than anything else."""

    task: ClassVar[str] = "see"
    kind: Literal["cnn"] = "cnn"
    design: Literal["shallow", "deep"] = Field(
        "deep",
        description="shallow: one convolution of 10 x 10, stride 5, and a hidden layer; "
        "deep: pairs of 3 x 3 convolutions, normalised, halved after each pair",
    )
    filters: Width = Field(
        32, description="of the first convolution; deep: doubled from pair to pair"
    )
    hidden: Width = Field(256, description="shallow: features of the hidden layer")
    stages: Few = Field(3, description="deep: pairs of convolutions")
    dropout: Rate = Field(0.0, description="deep: of what is judged")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.seeing.cnn import DeepCnn, ShallowCnn

        shape, labels = tuple(sizes["image"]), sizes["label"]
        if self.design == "shallow":
            return ShallowCnn(shape, labels, filters=self.filters, hidden=self.hidden)
        return DeepCnn(
            shape[0], labels, filters=self.filters, stages=self.stages, dropout=self.dropout
        )
