"""The options of the recurrent models. `build` imports the networks, and torch with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.models.attention_options import AttentionOptions, DecoderAttentionOptions
from regard.options import Few, Length, ModelOptions, Rate, Width

if TYPE_CHECKING:
    from torch import nn

Embedding = Annotated[Width, Field(description="features of an embedded token")]
Hidden = Annotated[Width, Field(description="features of a state")]
Maxout = Annotated[Width, Field(description="features after the maxout of the read-out")]
Dropout = Annotated[Rate, Field(description="share of the features left out in training")]
Layers = Annotated[Few, Field(description="recurrent layers")]
Cell = Annotated[
    Literal["gru", "gru-reset-before", "lstm", "elman"],
    Field(description="the transition from state to state"),
]
FromTheEnd = Annotated[bool, Field(description="read the source from its end")]
Init = Annotated[
    Literal["paper", "default"],
    Field(
        description="first weights: as the paper draws them, or Glorot, which Adam trains faster"
    ),
]


class RnnEnc(ModelOptions):
    """RNN Encoder-Decoder: one vector for the whole source (Cho et al. 2014)."""

    kind: Literal["rnnenc"] = "rnnenc"
    embedding: Embedding = 620
    hidden: Hidden = 1000
    maxout: Maxout = 500
    dropout: Dropout = 0.0
    init: Init = "paper"

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.presets import rnnenc

        return rnnenc(sizes["source"], sizes["target"], self)


class RnnSearch(ModelOptions):
    """RNNsearch: additive attention asked before the cell (Bahdanau et al. 2015)."""

    kind: Literal["rnnsearch"] = "rnnsearch"
    embedding: Embedding = 620
    hidden: Hidden = 1000
    alignment: Width | None = Field(
        None, description="width of the additive score; hidden if not given"
    )
    maxout: Maxout = 500
    cell: Literal["gru-reset-before", "gru", "lstm", "elman"] = Field(
        "gru-reset-before", description="the transition from state to state"
    )
    attention: DecoderAttentionOptions = Field(
        DecoderAttentionOptions(), description="how the decoder attends to the source"
    )
    readout: Literal["previous", "current"] = Field(
        "previous", description="the read-out sees the state before the step, as printed, or after"
    )
    dropout: Dropout = 0.0
    init: Init = "paper"

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.presets import rnnsearch

        return rnnsearch(sizes["source"], sizes["target"], self)

    def without_attention(self, section: str) -> RnnEnc:
        """What it was made from: the whole source in one vector."""
        same = ("embedding", "hidden", "maxout", "dropout", "init")
        return RnnEnc(**{name: getattr(self, name) for name in same})


class Luong(ModelOptions):
    """Stacked LSTM with attention after the cell (Luong et al. 2015)."""

    kind: Literal["luong"] = "luong"
    attention: Literal["global", "local-m", "local-p", "none"] = Field(
        "global", description="everywhere, a window at position t, or one at a predicted position"
    )
    score: Literal["dot", "general", "concat", "location"] = Field(
        "general", description="the paper's scores, by the paper's names"
    )
    width: Length = Field(10, description="D: a local window is 2 D + 1 wide")
    feed: bool = Field(True, description="input feeding")
    reverse: FromTheEnd = True
    embedding: Embedding = 1000
    hidden: Hidden = 1000
    layers: Layers = 4
    max_length: Length = Field(100, description="positions of the location score")
    dropout: Dropout = 0.2
    init: Init = "paper"

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.presets import luong

        return luong(sizes["source"], sizes["target"], self)


class Tutorial(ModelOptions):
    """The decoder of the widely copied tutorial: location attention, batched and masked."""

    kind: Literal["tutorial"] = "tutorial"
    hidden: Width = Field(256, description="features of a state and of an embedded token")
    max_length: Length = Field(50, description="positions that can be attended; later ones are not")
    bias: bool = Field(
        False, description="positions have a bias, as published, beside what the state says"
    )
    dropout: Dropout = 0.1

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.presets import tutorial

        return tutorial(sizes["source"], sizes["target"], self)


class RecurrentTranslator(ModelOptions):
    """Any recurrent encoder and decoder, every part exchangeable."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Cell = "gru"
    embedding: Embedding = 256
    hidden: Hidden = 256
    encoder_layers: Few = Field(1, description="recurrent layers of the encoder")
    decoder_layers: Few = Field(1, description="recurrent layers of the decoder")
    bidirectional: bool = Field(True, description="read the source from its end too")
    reverse: FromTheEnd = False
    initial: Literal["zero", "random", "learned"] = Field(
        "zero", description="the encoder's first state"
    )
    context: Literal[
        "last", "backward", "transform", "mean", "max", "ends", "linear", "attention"
    ] = Field("last", description="how the whole source becomes one vector")
    feed: list[Literal["initial", "step", "readout"]] = Field(
        ["initial"], description="where that vector enters the decoder"
    )
    attention: DecoderAttentionOptions | None = Field(
        DecoderAttentionOptions(),
        description="how the decoder attends to the source; null: not at all",
    )
    place: Literal["before", "after", "between", "next"] = Field(
        "before",
        description="query s_(t-1), h_t, between two transitions, or h_t for the next cell",
    )
    input_feeding: bool = Field(False, description="what is read out enters the next cell")
    readout: Literal["maxout", "tanh", "linear"] = Field(
        "tanh", description="what is done to state, token and context before the output"
    )
    readout_token: bool = Field(True, description="whether the read-out sees the last token too")
    dropout: Dropout = 0.0

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.presets import recurrent

        return recurrent(sizes["source"], sizes["target"], self)


class RecurrentClassifier(ModelOptions):
    """A recurrent encoder, its states in one vector, and a label."""

    task: ClassVar[str] = "classify"
    kind: Literal["recurrent-classifier"] = "recurrent-classifier"
    cell: Cell = "gru"
    embedding: Embedding = 256
    hidden: Hidden = 256
    layers: Layers = 1
    bidirectional: bool = Field(True, description="read the text from its end too")
    pool: Literal["last", "transform", "mean", "max", "ends", "linear", "attention"] = Field(
        "attention", description="how the states become one vector"
    )
    dropout: Dropout = 0.0

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.modes import many_to_one

        return many_to_one(sizes["text"], sizes["label"], self)

    def without_attention(self, section: str) -> RecurrentClassifier:
        return self.model_copy(update={"pool": "last"})


class RecurrentLanguage(ModelOptions):
    """A recurrent network that scores the next token."""

    task: ClassVar[str] = "language"
    kind: Literal["recurrent-language"] = "recurrent-language"
    cell: Cell = "gru"
    embedding: Embedding = 256
    hidden: Hidden = 256
    layers: Layers = 1
    attention: AttentionOptions | None = Field(
        None, description="how a state attends to those before it; null: not at all"
    )
    dropout: Dropout = 0.0

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.modes import language_model

        return language_model(sizes["text"], self)
