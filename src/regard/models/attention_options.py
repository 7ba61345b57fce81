"""How a model attends, as a recipe says it: a score, region and normaliser, by name."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from regard.options import Options, Positive

PARTS = ("score", "region", "normalize", "cap", "sinks")


class AttentionOptions(Options):
    """One attention: a score, region and normaliser, by name."""

    score: str = Field(
        "additive", description="how alike query and key are: additive, bilinear, dot, …"
    )
    region: str = Field(
        "everywhere", description="which keys a query may look at: everywhere, window(5), …"
    )
    normalize: str = Field("softmax", description="softmax, sparsemax, hard, gumbel(0.5), …")
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

    score: str = Field(
        "scaled-dot", description="how alike query and key are: scaled-dot, additive, cosine, …"
    )
    region: str | Annotated[list[str], Field(min_length=1)] = Field(
        "everywhere",
        description="which keys a query may look at; several take turns, layer by layer: "
        "[window(16), atrous(8)]",
    )
    normalize: str = Field("softmax", description="softmax, sparsemax, gumbel(0.5), …")
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
