"""The options of word vectors. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, Width

if TYPE_CHECKING:
    from torch import nn


class VectorOptions(ModelOptions):
    """What all word vectors have."""

    task: ClassVar[str] = "embed"
    size: Width = Field(100, description="features of a word")
    window: Few = Field(5, description="words on either side that are looked at")


class Cbow(VectorOptions):
    """A word from the words around it: their mean (CBOW), or weighted by what and where they are."""

    attends_by: ClassVar[Mapping[str, str]] = {"attention": "the words around a word"}
    kind: Literal["cbow"] = "cbow"
    attention: Literal["uniform", "place", "variable"] = Field(
        "uniform",
        description="uniform: the mean; place: a weight for each relative position; variable: "
        "and one for each word there",
    )

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.embedding.word_vectors_model import CbowModel

        return CbowModel(sizes["text"], self)


class SkipGram(VectorOptions):
    """Each of the words around it from a word."""

    kind: Literal["skip-gram"] = "skip-gram"

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.embedding.word_vectors_model import SkipGramModel

        return SkipGramModel(sizes["text"], self)
