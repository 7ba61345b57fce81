"""The options of the Transformer family. `build` imports the networks, and torch with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.models.attention_options import HeadOptions
from regard.options import Few, Length, ModelOptions, Rate, Width

if TYPE_CHECKING:
    from torch import nn

Sharing = Literal["all", "target", "none"]
Layers = Annotated[Few, Field(description="blocks, one on the other")]
Heads = Annotated[HeadOptions, Field(description="how the text attends to itself")]


class BlockOptions(ModelOptions):
    """What all Transformers have in common."""

    size: Width = Field(512, description="features of a position, d_model")
    heads: Few = Field(8, description="attentions side by side")
    key_heads: Few | None = Field(
        None, description="fewer than heads: groups of heads share keys and values"
    )
    feed_forward: bool = Field(
        True, description="a feed-forward network in every block; without, a block only attends"
    )
    inner: Width = Field(2048, description="width of the feed-forward network")
    activation: Literal["relu", "gelu", "silu", "swiglu"] = Field(
        "relu", description="inside the feed-forward network"
    )
    residual: bool = Field(True, description="what enters a sublayer is added to what it gives")
    norm: Literal["pre", "post", "none"] = Field(
        "pre", description="layer norm before a sublayer, or after as published (needs a warm-up)"
    )
    final_norm: bool | None = Field(
        None, description="a norm after the last layer; only with norm=pre if not given"
    )
    positions: Literal["sinusoidal", "sinusoidal-halves", "learned", "rotary", "none"] = Field(
        "sinusoidal",
        description="how places are told apart; sinusoidal-halves: as Marian lays them out",
    )
    max_positions: Length = Field(512, description="learned: positions at most")
    scaled: bool = Field(True, description="embeddings are multiplied by √size")
    dropout: Rate = Field(0.1, description="of embeddings and sublayers")
    attention_dropout: Rate = Field(0.0, description="of the attention weights")
    inner_dropout: Rate = Field(0.0, description="inside the feed-forward network")

    def without_attention(self, section: str) -> BlockOptions | None:
        """Every place attends to itself alone, so that nothing passes from one to another."""
        given = getattr(self, section, None)
        if not isinstance(given, HeadOptions) or section.startswith("cross"):
            return None
        return self.model_copy(update={section: HeadOptions(region="window(0)")})


class Transformer(BlockOptions):
    """Encoder and decoder of self-attention (Vaswani et al. 2017)."""

    kind: Literal["transformer"] = "transformer"
    encoder_layers: Few = Field(6, description="blocks of the encoder")
    decoder_layers: Few = Field(6, description="blocks of the decoder")
    share: Sharing = Field(
        "target",
        description="one matrix for the output and the target's embeddings; all: for the source's too "
        "(needs tokenizer.shared)",
    )
    encoder_attention: HeadOptions = Field(
        HeadOptions(), description="how the source attends to itself"
    )
    decoder_attention: HeadOptions = Field(
        HeadOptions(), description="how the target attends to what came before in it"
    )
    cross_attention: HeadOptions = Field(
        HeadOptions(), description="how the target attends to the source"
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.transformer_models import transformer

        return transformer(sizes["source"], sizes["target"], self)


class TransformerClassifier(BlockOptions):
    """An encoder, pooled, and a label (after Bloem's tutorial)."""

    task: ClassVar[str] = "classify"
    kind: Literal["transformer-classifier"] = "transformer-classifier"
    layers: Layers = 6
    pool: Literal["mean", "max", "first", "attention"] = Field(
        "max", description="how the states become one vector; first: of a token before the text"
    )
    attention: Heads = HeadOptions()

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.transformer_models import classifier

        return classifier(sizes["text"], sizes["label"], self)


class TransformerLanguage(BlockOptions):
    """A decoder without a source: the next token."""

    task: ClassVar[str] = "language"
    kind: Literal["transformer-language"] = "transformer-language"
    layers: Layers = 6
    share: bool = Field(True, description="one matrix for embeddings and output")
    attention: Heads = HeadOptions()

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.transformer_models import language_model

        return language_model(sizes["text"], self)


class TransformerMasked(BlockOptions):
    """An encoder that predicts hidden tokens (Devlin et al. 2019)."""

    task: ClassVar[str] = "masked"
    kind: Literal["transformer-masked"] = "transformer-masked"
    layers: Layers = 6
    attention: Heads = HeadOptions()

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.transformer_models import masked_language_model

        return masked_language_model(sizes["text"], self)


# The base model of Vaswani et al. 2017, https://arxiv.org/abs/1706.03762, which has one vocabulary.
PUBLISHED = Transformer(norm="post", share="all")
