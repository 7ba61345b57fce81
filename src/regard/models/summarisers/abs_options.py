"""The options of ABS and of what it was compared with. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.models.recurrent_options import Dropout
from regard.options import Few, ModelOptions, Whole, Width

if TYPE_CHECKING:
    from torch import nn


class Abs(ModelOptions):
    """A window of the words before, and an encoder of the source that it asks (Rush et al. 2015)."""

    task: ClassVar[str] = "summarise"
    attends_by: ClassVar[Mapping[str, str]] = {"smooth": "encoder"}
    kind: Literal["abs"] = "abs"
    encoder: Literal["attention", "tdnn", "bow", "none"] = Field(
        "attention",
        description="how the source is read: by attention, by convolutions, its mean word, not at all",
    )
    embedding: Width = Field(200, description="D: features of an embedded token")
    hidden: Width = Field(400, description="H: features of the window")
    window: Annotated[Whole, Field(ge=2, le=1_000)] = Field(
        5, description="C: how many words before the next one are seen"
    )
    smooth: Annotated[Whole, Field(ge=0, le=1_000)] = Field(
        2, description="Q: a word of the source stands for itself and Q on either side"
    )
    layers: Few = Field(3, description="of the convolutions of encoder=tdnn")
    extractive: bool = Field(
        False,
        description="ABS+: words, pairs and triples of the source count for more, by weights that are tuned "
        "on the dev set once the network is trained",
    )
    dropout: Dropout = 0.0

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.summarisers.abs_model import abs_model

        return abs_model(sizes["source"], sizes["target"], self)

    def uniform_attention(self, section: str) -> Abs | None:
        """The mean word of the source."""
        return self.model_copy(update={"encoder": "bow"}) if self.encoder == "attention" else None
