"""The options of models that label every word. `build` imports the networks, and torch with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.models.attention_options import HeadOptions
from regard.models.transformer_options import BlockOptions
from regard.options import Few, ModelOptions, Rate, Width

if TYPE_CHECKING:
    from torch import nn

CHARACTERS = (
    "features of a word's spelling, by a convolution over its characters; none: words alone"
)


class RecurrentTagger(ModelOptions):
    """A recurrent network, and a label at every word."""

    task: ClassVar[str] = "tag"
    kind: Literal["recurrent-tagger"] = "recurrent-tagger"
    cell: Literal["gru", "gru-reset-before", "lstm", "elman"] = Field(
        "lstm", description="the recurrent cell"
    )
    embedding: Width = Field(100, description="features of a word")
    characters: Width | None = Field(None, description=CHARACTERS)
    hidden: Width = Field(128, description="features of a state, in each direction")
    layers: Few = Field(1, description="networks, one on the other")
    bidirectional: bool = Field(True, description="read the words from their end too")
    dropout: Rate = Field(0.3, description="of what enters the network and of what leaves it")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.tagger import recurrent_tagger

        return recurrent_tagger(sizes["words"], sizes["tags"], self)


class TransformerTagger(BlockOptions):
    """A stack of self-attention, and a label at every word."""

    task: ClassVar[str] = "tag"
    kind: Literal["transformer-tagger"] = "transformer-tagger"
    size: Width = Field(128, description="features of a position, d_model")
    heads: Few = Field(4, description="attentions side by side")
    inner: Width = Field(256, description="width of the feed-forward network")
    layers: Few = Field(2, description="blocks, one on the other")
    characters: Width | None = Field(None, description=CHARACTERS)
    positions: Literal["sinusoidal", "sinusoidal-halves", "learned", "rotary", "none"] = Field(
        "rotary", description="how places are told apart"
    )
    dropout: Rate = Field(0.1, description="of embeddings and sublayers")
    attention: HeadOptions = Field(HeadOptions(), description="how the words attend to each other")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.tagger import transformer_tagger

        return transformer_tagger(sizes["words"], sizes["tags"], self)
