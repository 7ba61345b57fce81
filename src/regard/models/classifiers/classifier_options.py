"""The options of models that judge a whole text. `build` imports the networks, and torch with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from regard.models.attention_options import AttentionOptions
from regard.options import Few, ModelOptions, NotNegative, Rate, Width
from regard.words import t

if TYPE_CHECKING:
    from torch import nn

Embedding = Annotated[Width, Field(description="features of a word, or of a vector once read")]
Hidden = Annotated[Width, Field(description="features of a state, in each direction")]
Windows = Annotated[
    tuple[Few, ...], Field(min_length=1, description="words in a window, a convolution for each")
]
Dropout = Annotated[
    Rate, Field(description="share left out of the words' features and of the pooled vector")
]
WordDropout = Annotated[Rate, Field(description="share of the words left out in training")]


class JudgeOptions(ModelOptions):
    """A model with one answer to all that it reads: a label, or a number."""

    task: ClassVar[str] = "classify"
    reads: ClassVar[tuple[str, ...]] = ("text", "numbers")  # what task.input may be
    answers: ClassVar[tuple[str, ...]] = ("label", "number")  # what task.output may be

    def network(self, source: int, answers: int, *, vectors: bool) -> nn.Module:
        """source: the words of the vocabulary, or, of vectors, their size. answers: labels, or 1."""
        raise NotImplementedError(
            t("{kind} does not say how it is built", kind=type(self).__name__)
        )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        (read, source), (_, answers) = sizes.items()
        return self.network(source, answers, vectors=read == "numbers")


class Classifier(JudgeOptions):
    """An encoder, its states in one vector, and a label or a number."""

    kind: Literal["classifier"] = "classifier"
    encoder: Literal["rnn", "lstm", "gru", "cnn", "transformer", "bag"] = Field(
        "lstm", description="what makes states of words; bag: each word is its own state"
    )
    pool: Literal["last", "mean", "max", "attention"] = Field(
        "attention", description="how the states become one vector"
    )
    embedding: Embedding = 200
    hidden: Hidden = 100
    layers: Few = Field(1, description="networks, one on the other")
    bidirectional: bool = Field(True, description="rnn, lstm, gru: read the text from its end too")
    windows: Windows = (3, 4, 5)
    heads: Few | None = Field(
        None,
        description="transformer: attentions side by side; none: about 4, so that they share out hidden",
    )
    positions: Literal["rotary", "sinusoidal", "none"] = Field(
        "rotary",
        description="transformer: how places are told apart; none: what is read is a set, whose order means "
        "nothing if it is pooled by mean, max or attention",
    )
    dropout: Dropout = 0.5
    word_dropout: WordDropout = 0.0

    @model_validator(mode="after")
    def _heads_have_pairs(self) -> Self:
        """Of features, in which the positions of a Transformer are."""
        pairs = 2 * (self.heads or 1)
        if self.encoder == "transformer" and self.hidden % pairs:
            fits = -(-self.hidden // pairs) * pairs
            told = (
                "" if self.heads is None else t(" in {heads} heads (model.heads)", heads=self.heads)
            )
            raise ValueError(
                t(
                    "model.hidden={hidden} does not make pairs of features{told}: take {fits}",
                    hidden=self.hidden,
                    told=told,
                    fits=fits,
                )
                + ("" if self.heads is None else t(", or leave model.heads out"))
            )
        return self

    @property
    def sharing_heads(self) -> int:
        """The heads; if nobody says how many, those nearest to 4 that have pairs of features."""
        even = (n for n in range(1, self.hidden // 2 + 1) if self.hidden % (2 * n) == 0)
        return self.heads or min(even, key=lambda n: abs(n - 4))

    def network(self, source: int, answers: int, *, vectors: bool) -> nn.Module:
        from regard.models.classifiers.classifier import classifier

        return classifier(source, answers, self, vectors=vectors)


class Lin(JudgeOptions):
    """A structured self-attentive embedding: several hops over an LSTM's states (Lin et al. 2017)."""

    kind: Literal["lin"] = "lin"
    embedding: Embedding = 300
    hidden: Hidden = 300
    attention: Width = Field(350, description="width of the hops' own layer, d_a")
    hops: Few = Field(30, description="r: rows of weights, each with a vector of its own")
    penalty: NotNegative = Field(
        1.0, description="coefficient of ‖A Aᵀ - I‖²_F, which keeps the hops apart"
    )
    inner: Width = Field(3000, description="width of the layer before the label")
    dropout: Dropout = 0.5
    word_dropout: WordDropout = 0.0

    def network(self, source: int, answers: int, *, vectors: bool) -> nn.Module:
        from regard.models.classifiers.lin import lin

        return lin(source, answers, self, vectors=vectors)


class Han(JudgeOptions):
    """Hierarchical attention: words make sentences, sentences a document (Yang et al. 2016)."""

    reads: ClassVar[tuple[str, ...]] = ("document",)
    kind: Literal["han"] = "han"
    pool: Literal["attention", "mean", "max"] = Field(
        "attention", description="at both levels: HN-ATT, HN-AVE or HN-MAX"
    )
    embedding: Embedding = 200
    hidden: Hidden = 50
    cell: Literal["gru", "lstm", "elman"] = Field("gru", description="the recurrent cell")
    dropout: Dropout = 0.0
    word_dropout: WordDropout = 0.0

    def network(self, source: int, answers: int, *, vectors: bool) -> nn.Module:
        from regard.models.classifiers.han import han

        return han(source, answers, self)


class Apcnn(JudgeOptions):
    """Convolutions pooled by attention, asked by the LSTM's vector of the text (Er et al. 2016)."""

    kind: Literal["apcnn"] = "apcnn"
    embedding: Embedding = 200
    hidden: Hidden = 100
    windows: Windows = (3, 4, 5)
    attention: AttentionOptions = Field(
        AttentionOptions(), description="how the LSTM's vector of the text looks at the windows"
    )
    dropout: Dropout = 0.5
    word_dropout: WordDropout = 0.0

    def network(self, source: int, answers: int, *, vectors: bool) -> nn.Module:
        from regard.models.classifiers.apcnn import apcnn

        return apcnn(source, answers, self, vectors=vectors)


class SelfAttentive(JudgeOptions):
    """Recurrent layers, the states of each weighed by attention before the next one reads them."""

    kind: Literal["self-attentive"] = "self-attentive"
    cell: Literal["lstm", "gru", "elman"] = Field("lstm", description="the recurrent cell")
    embedding: Embedding = 200
    hidden: Hidden = 100
    layers: Few = Field(2, description="recurrent layers, each with its own attention")
    dropout: Dropout = 0.5
    word_dropout: WordDropout = 0.0

    def network(self, source: int, answers: int, *, vectors: bool) -> nn.Module:
        from regard.models.classifiers.self_attentive import self_attentive

        return self_attentive(source, answers, self, vectors=vectors)
