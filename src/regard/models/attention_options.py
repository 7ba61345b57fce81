"""How a model attends, as a recipe says it: a score, region and normaliser, by name."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from regard import plugins
from regard.options import Options, Positive
from regard.terms import Kind, in_our_words


def _named(kind: Kind) -> BeforeValidator:
    """A recipe keeps our names, however a mechanism was named."""

    def ours(given: Any) -> Any:
        if isinstance(given, list):
            return [ours(each) for each in given]
        theirs = partial(plugins.names, f"regard.{kind}s")
        return in_our_words(given, kind, theirs) if isinstance(given, str) else given

    return BeforeValidator(ours)


Score = Annotated[str, _named("score")]
Region = Annotated[str, _named("region")]
Normalizer = Annotated[str, _named("normalizer")]

PARTS = ("score", "region", "normalize", "cap", "sinks")


class AttentionOptions(Options):
    """One attention: a score, region and normaliser, by name."""

    score: Score = Field(
        "additive", description="how alike query and key are: additive, bilinear, dot, …"
    )
    region: Region = Field(
        "everywhere", description="which keys a query may look at: everywhere, window(5), …"
    )
    normalize: Normalizer = Field("softmax", description="softmax, sparsemax, hard, gumbel(0.5), …")
    cap: Positive | None = Field(
        None, description="no score passes it: cap · tanh(score / cap); null: none"
    )
    sinks: bool = Field(
        False,
        description="learnt numbers beside the scores, by which a query may attend to next to nothing",
    )

    @property
    def mechanism(self) -> dict[str, Any]:
        """What the modules of the heart are made with."""
        return {name: getattr(self, name) for name in PARTS}


class DecoderAttentionOptions(AttentionOptions):
    """The attention of a decoder to its source: a score, region and normaliser, by name."""

    dynamic: bool = Field(
        True,
        description="weights of its own for every token of the target; "
        "false: static, once, by the first state of the decoder",
    )


class ReaderAttentionOptions(AttentionOptions):
    """The attention of a reader to the story, and of the story to the question."""

    dynamic: bool = Field(
        True,
        description="weights of its own for every word of the question (focus=impatient) and for every word "
        "of the story (question=general); false: static, once for all of them",
    )


class HeadOptions(Options):
    """The heads of a stack of layers: a score, region and normaliser, by name."""

    score: Score = Field(
        "scaled-dot", description="how alike query and key are: scaled-dot, additive, cosine, …"
    )
    region: Region | Annotated[list[Region], Field(min_length=1)] = Field(
        "everywhere",
        description="which keys a query may look at; several take turns, layer by layer: "
        "[window(16), atrous(8)]",
    )
    normalize: Normalizer = Field("softmax", description="softmax, sparsemax, gumbel(0.5), …")
    cap: Positive | None = Field(
        None, description="no score passes it: cap · tanh(score / cap); null: none"
    )
    sinks: bool = Field(
        False,
        description="learnt numbers beside the scores, by which a query may attend to next to nothing",
    )

    def region_of(self, layer: int) -> str:
        if isinstance(self.region, str):
            return self.region
        return self.region[layer % len(self.region)]
