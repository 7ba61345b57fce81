"""The `model` section of a recipe: one class for each kind. `building.build` makes the network."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from regard.training.section import Rate, Section


class Attends(Section):
    """Attention by its names in the heart: any score, region and normaliser."""

    score: str = "additive"
    region: str = "everywhere"
    normalize: str = Field("softmax", description="softmax, sparsemax, hard, gumbel(0.5), …")


class RnnEnc(Section):
    """RNN Encoder-Decoder: one vector for the whole source (Cho et al. 2014)."""

    kind: Literal["rnnenc"] = "rnnenc"
    embedding: PositiveInt = 620
    hidden: PositiveInt = 1000
    maxout: PositiveInt = 500
    dropout: Rate = 0.0
    init: Literal["paper", "default"] = "paper"


class RnnSearch(Section):
    """RNNsearch: additive attention asked before the cell (Bahdanau et al. 2015)."""

    kind: Literal["rnnsearch"] = "rnnsearch"
    embedding: PositiveInt = 620
    hidden: PositiveInt = 1000
    alignment: PositiveInt | None = Field(
        None, description="width of the additive score; hidden if not given"
    )
    maxout: PositiveInt = 500
    cell: Literal["gru-reset-before", "gru", "lstm", "elman"] = "gru-reset-before"
    attention: Attends = Attends()
    readout: Literal["previous", "current"] = Field(
        "previous", description="the state the read-out sees"
    )
    dropout: Rate = 0.0
    init: Literal["paper", "default"] = "paper"


class Luong(Section):
    """Stacked LSTM with attention after the cell (Luong et al. 2015)."""

    kind: Literal["luong"] = "luong"
    attention: Literal["global", "local-m", "local-p", "none"] = "global"
    score: Literal["dot", "general", "concat", "location"] = "general"
    width: PositiveInt = Field(10, description="D: a local window is 2 D + 1 wide")
    feed: bool = Field(True, description="input feeding")
    reverse: bool = Field(True, description="read the source from its end")
    embedding: PositiveInt = 1000
    hidden: PositiveInt = 1000
    layers: PositiveInt = 4
    max_length: PositiveInt = Field(100, description="positions of the location score")
    dropout: Rate = 0.2
    init: Literal["paper", "default"] = "paper"


class Tutorial(Section):
    """The widely copied tutorial decoder: location attention, batched and masked."""

    kind: Literal["tutorial"] = "tutorial"
    hidden: PositiveInt = 256
    max_length: PositiveInt = Field(
        50, description="positions that can be attended; later ones are not"
    )
    dropout: Rate = 0.1


class Recurrent(Section):
    """Any recurrent encoder and decoder, every part exchangeable."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Literal["gru", "gru-reset-before", "lstm", "elman"] = "gru"
    embedding: PositiveInt = 256
    hidden: PositiveInt = 256
    encoder_layers: PositiveInt = 1
    decoder_layers: PositiveInt = 1
    bidirectional: bool = True
    reverse: bool = False
    initial: Literal["zero", "random", "learned"] = Field(
        "zero", description="the encoder's first state"
    )
    context: Literal[
        "last", "backward", "transform", "mean", "max", "ends", "linear", "attention"
    ] = "last"
    feed: list[Literal["initial", "step", "readout"]] = Field(
        ["initial"], description="where the context of the whole source enters the decoder"
    )
    attention: Attends | None = Attends()
    place: Literal["before", "after", "between", "next"] = Field(
        "before",
        description="query s_(t-1), h_t, between two transitions, or h_t for the next cell",
    )
    input_feeding: bool = False
    readout: Literal["maxout", "tanh", "linear"] = "tanh"
    readout_token: bool = Field(True, description="whether the read-out sees the last token too")
    dropout: Rate = 0.0


Model = Annotated[RnnSearch | RnnEnc | Luong | Tutorial | Recurrent, Field(discriminator="kind")]
