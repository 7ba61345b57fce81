"""The options of models that judge two texts. `build` imports the networks, and torch with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, Length, ModelOptions, NotNegative, Rate, Width

if TYPE_CHECKING:
    from torch import nn


class PairOptions(ModelOptions):
    """What all of them have: words as vectors, and a judgement of what the two texts were read as."""

    task: ClassVar[str] = "match"
    embedding: Width = Field(100, description="features of a word")
    hidden: Width | None = Field(
        None, description="width of a layer before the judgement; not given: a linear judgement"
    )
    overlap: bool = Field(
        False, description="judge also by how many words the texts share, and by their lengths"
    )
    dropout: Rate = Field(0.2, description="of words and of what is judged")


class ComparedOptions(PairOptions):
    """Those that make vectors of each text and compare them."""

    compare: Literal["cosine", "distance", "vectors"] = Field(
        "cosine",
        description="what is judged of two vectors u and v: their cosine, 1 / (1 + ‖u - v‖), or "
        "[u; v; |u - v|; u ∘ v], which alone tells who entails whom",
    )
    rest: bool = Field(
        False,
        description="read also what is left of both without the words they share (NONOVER)",
    )


class BagOfWordsPair(ComparedOptions):
    """The means of the words of two texts, compared: what can be judged without order."""

    kind: Literal["bag-of-words-pair"] = "bag-of-words-pair"

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.pairs.bag_of_words_pair import bag_of_words_pair

        return bag_of_words_pair(sizes["first"], outputs_of(sizes), self)


class Bcnn(ComparedOptions):
    """Two texts through the same wide convolutions, compared at every layer (Yin et al. 2016)."""

    kind: Literal["bcnn"] = "bcnn"
    filters: Width = Field(50, description="features of a convolution")
    width: Few = Field(4, description="words that a convolution sees, w")
    blocks: Few = Field(1, description="convolutions with their pooling, one on the other")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.pairs.abcnn import bcnn

        return bcnn(sizes["first"], outputs_of(sizes), self)


class Abcnn(Bcnn):
    """BCNN with attention between the texts (Yin et al. 2016)."""

    attends_by: ClassVar[Mapping[str, str]] = {"variant": "variant", "positions": "variant"}
    kind: Literal["abcnn"] = "abcnn"  # type: ignore[assignment]
    variant: Literal[1, 2, 3] = Field(
        3, description="attention 1: before the convolution, 2: in the pooling after it, 3: in both"
    )
    positions: Length = Field(
        64, description="words of the other text that attention before the convolution can see"
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.pairs.abcnn import abcnn

        return abcnn(sizes["first"], outputs_of(sizes), self)

    def without_attention(self, section: str) -> Bcnn:
        """What it was made from."""
        same = set(Bcnn.model_fields) - {"kind"}
        return Bcnn(**{name: getattr(self, name) for name in same})


class SelfAttentivePair(PairOptions):
    """Each text as several attended vectors of a recurrent network, multiplied (Lin et al. 2017)."""

    kind: Literal["self-attentive-pair"] = "self-attentive-pair"
    cell: Literal["gru", "gru-reset-before", "lstm", "elman"] = Field(
        "lstm", description="the recurrent cell"
    )
    states: Width = Field(100, description="features of a state, in each direction")
    scoring: Width = Field(100, description="width of the layer that the weights come from, d_a")
    hops: Few = Field(4, description="vectors of a text, r")
    factors: Width = Field(100, description="features of a hop that are multiplied")
    penalty: NotNegative = Field(
        0.3, description="weight of ‖A Aᵀ - I‖², which makes the hops look at different words"
    )
    hidden: Width | None = Field(200, description="width of a layer before the judgement")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.pairs.self_attentive_pair import self_attentive_pair

        return self_attentive_pair(sizes["first"], outputs_of(sizes), self)


def outputs_of(sizes: Mapping[str, Any]) -> int:
    """How many numbers are judged: one for each label, or the one that is wanted."""
    outputs = sizes["label"] if "label" in sizes else sizes["number"]
    return int(outputs)
