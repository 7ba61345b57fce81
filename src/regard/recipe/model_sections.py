"""The `model` section of a recipe: one class for each kind. `building.build` makes the network."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from regard.options import Few, Length, Rate, Section, Width


class Attends(Section):
    """Attention by its names in the heart: any score, region and normaliser."""

    score: str = "additive"
    region: str = "everywhere"
    normalize: str = Field("softmax", description="softmax, sparsemax, hard, gumbel(0.5), …")


class RnnEnc(Section):
    """RNN Encoder-Decoder: one vector for the whole source (Cho et al. 2014)."""

    kind: Literal["rnnenc"] = "rnnenc"
    embedding: Width = 620
    hidden: Width = 1000
    maxout: Width = 500
    dropout: Rate = 0.0
    init: Literal["paper", "default"] = "paper"


class RnnSearch(Section):
    """RNNsearch: additive attention asked before the cell (Bahdanau et al. 2015)."""

    kind: Literal["rnnsearch"] = "rnnsearch"
    embedding: Width = 620
    hidden: Width = 1000
    alignment: Width | None = Field(
        None, description="width of the additive score; hidden if not given"
    )
    maxout: Width = 500
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
    width: Length = Field(10, description="D: a local window is 2 D + 1 wide")
    feed: bool = Field(True, description="input feeding")
    reverse: bool = Field(True, description="read the source from its end")
    embedding: Width = 1000
    hidden: Width = 1000
    layers: Few = 4
    max_length: Length = Field(100, description="positions of the location score")
    dropout: Rate = 0.2
    init: Literal["paper", "default"] = "paper"


class Tutorial(Section):
    """The widely copied tutorial decoder: location attention, batched and masked."""

    kind: Literal["tutorial"] = "tutorial"
    hidden: Width = 256
    max_length: Length = Field(50, description="positions that can be attended; later ones are not")
    dropout: Rate = 0.1


class Recurrent(Section):
    """Any recurrent encoder and decoder, every part exchangeable."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Literal["gru", "gru-reset-before", "lstm", "elman"] = "gru"
    embedding: Width = 256
    hidden: Width = 256
    encoder_layers: Few = 1
    decoder_layers: Few = 1
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


class RecurrentClassifier(Section):
    """A recurrent encoder, its states in one vector, and a label."""

    task: ClassVar[str] = "classify"
    kind: Literal["recurrent-classifier"] = "recurrent-classifier"
    cell: Literal["gru", "gru-reset-before", "lstm", "elman"] = "gru"
    embedding: Width = 256
    hidden: Width = 256
    layers: Few = 1
    bidirectional: bool = True
    pool: Literal["last", "transform", "mean", "max", "ends", "linear", "attention"] = "attention"
    dropout: Rate = 0.0


class RecurrentLanguage(Section):
    """A recurrent network that scores the next token."""

    task: ClassVar[str] = "language"
    kind: Literal["recurrent-language"] = "recurrent-language"
    cell: Literal["gru", "gru-reset-before", "lstm", "elman"] = "gru"
    embedding: Width = 256
    hidden: Width = 256
    layers: Few = 1
    dropout: Rate = 0.0


class Heads(Section):
    """How the heads of a Transformer attend, by names of the heart."""

    score: str = "scaled-dot"
    region: str | list[str] = Field(
        "everywhere", description="several take turns, layer by layer: [window(16), atrous(8)]"
    )
    normalize: str = Field("softmax", description="softmax, sparsemax, gumbel(0.5), …")


class Blocks(Section):
    """What Transformers of all kinds have in common."""

    size: Width = Field(512, description="features of a position, d_model")
    heads: Few = 8
    key_heads: Few | None = Field(
        None, description="fewer than heads: groups of heads share keys and values"
    )
    inner: Width = Field(2048, description="width of the feed-forward network")
    activation: Literal["relu", "gelu", "silu", "swiglu"] = "relu"
    norm: Literal["pre", "post"] = Field(
        "pre", description="layer norm before a sublayer, or after as published (needs a warm-up)"
    )
    positions: Literal["sinusoidal", "sinusoidal-halves", "learned", "rotary", "none"] = Field(
        "sinusoidal", description="sinusoidal-halves: as Marian lays them out"
    )
    max_positions: Length = Field(512, description="learned: positions at most")
    scaled: bool = Field(True, description="embeddings are multiplied by √size")
    dropout: Rate = Field(0.1, description="of embeddings and sublayers")
    attention_dropout: Rate = Field(0.0, description="of the attention weights")
    inner_dropout: Rate = Field(0.0, description="inside the feed-forward network")


class Transformer(Blocks):
    """Encoder and decoder of self-attention (Vaswani et al. 2017)."""

    kind: Literal["transformer"] = "transformer"
    encoder_layers: Few = 6
    decoder_layers: Few = 6
    share: Literal["all", "target", "none"] = Field(
        "target",
        description="one matrix for the output and the target's embeddings; all: for the source's too "
        "(needs tokenizer.shared)",
    )
    final_norm: bool | None = Field(
        None, description="a norm after the last layer; only with norm=pre if not given"
    )
    encoder_attention: Heads = Heads()
    decoder_attention: Heads = Heads()
    cross_attention: Heads = Heads()


class TransformerClassifier(Blocks):
    """An encoder, pooled, and a label (after Bloem's tutorial)."""

    task: ClassVar[str] = "classify"
    kind: Literal["transformer-classifier"] = "transformer-classifier"
    layers: Few = 6
    pool: Literal["mean", "max", "first", "attention"] = "max"
    attention: Heads = Heads()


class TransformerLanguage(Blocks):
    """A decoder without a source: the next token."""

    task: ClassVar[str] = "language"
    kind: Literal["transformer-language"] = "transformer-language"
    layers: Few = 6
    share: bool = Field(True, description="one matrix for embeddings and output")
    attention: Heads = Heads()


class TransformerMasked(Blocks):
    """An encoder that tells hidden tokens (Devlin et al. 2019)."""

    task: ClassVar[str] = "masked"
    kind: Literal["transformer-masked"] = "transformer-masked"
    layers: Few = 6
    attention: Heads = Heads()


class BareClassifier(Section):
    """Self-attention without parameters, pooled, and a label."""

    task: ClassVar[str] = "classify"
    kind: Literal["bare-classifier"] = "bare-classifier"
    size: Width = 128
    layers: Few = 1
    softmax: bool = Field(True, description="false: the dot products themselves are the weights")
    pool: Literal["mean", "max", "attention"] = "mean"
    dropout: Rate = 0.0


Model = Annotated[
    RnnSearch
    | RnnEnc
    | Luong
    | Tutorial
    | Recurrent
    | Transformer
    | TransformerClassifier
    | TransformerLanguage
    | TransformerMasked
    | BareClassifier
    | RecurrentClassifier
    | RecurrentLanguage,
    Field(discriminator="kind"),
]
