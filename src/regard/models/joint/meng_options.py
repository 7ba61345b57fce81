"""The options of joint models. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from regard.models.recurrent_options import Dropout
from regard.options import ModelOptions, Whole, Width

if TYPE_CHECKING:
    from torch import nn


class Meng(ModelOptions):
    """A window of the words before, and a vector of the source by gated convolutions (Meng et al. 2015)."""

    task: ClassVar[str] = "joint"
    attends_by: ClassVar[Mapping[str, str]] = {"gate": "encoder"}
    kind: Literal["meng"] = "meng"
    encoder: Literal["in-cnn", "tag-cnn", "cnn", "window", "none"] = Field(
        "in-cnn",
        description="how the source is read: by convolutions that see the words before, that see which word "
        "is translated next, or neither; the words around that one alone (NNJM); not at all",
    )
    embedding: Width = Field(128, description="features of an embedded token")
    hidden: Width = Field(256, description="features that words before and source come together in")
    features: Width = Field(
        128, description="of every convolution, and of the vector of the source"
    )
    window: Annotated[Whole, Field(ge=2, le=1_000)] = Field(
        4, description="how many words before the next one are seen"
    )
    around: Annotated[Whole, Field(ge=0, le=1_000)] = Field(
        5, description="words on either side of the one that is translated next, for encoder=window"
    )
    gate: bool = Field(
        True,
        description="whether gates choose among neighbours, and among all; false: their maxima",
    )
    dropout: Dropout = 0.0

    @property
    def aligned(self) -> bool:
        """Whether it must be told which source word is translated next."""
        return self.encoder in ("tag-cnn", "window")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.joint.joint_decoder import meng

        return meng(sizes["source"], sizes["target"], self)

    def without_attention(self, section: str) -> Meng | None:
        """Maxima, as convolutional networks usually have."""
        return self.model_copy(update={"gate": False}) if self.gate else None
