"""The options of pictures read as patches. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.options import Few, ModelOptions, Rate, Width

if TYPE_CHECKING:
    from torch import nn


class PatchOptions(ModelOptions):
    """Patches of a picture, each a vector, pooled into one by attention, and a label."""

    task: ClassVar[str] = "see"
    kind: Literal["patches"] = "patches"
    encoder: Literal["cnn", "transformer"] = Field(
        "cnn",
        description="what makes vectors of patches: convolutions, or self-attention of patches cut out (ViT)",
    )
    pool: Literal["attention", "mean", "max"] = Field(
        "attention", description="how the vectors of patches become one"
    )
    per_label: bool = Field(
        False, description="pool=attention: each label asks for itself, and has weights of its own"
    )
    filters: Width = Field(16, description="cnn: of the first pair; doubled from pair to pair")
    stages: Few = Field(
        3, description="cnn: pairs of convolutions; a patch is 2 to this power pixels wide"
    )
    size: Width = Field(64, description="transformer: features of a patch")
    patch: Few = Field(6, description="transformer: pixels of a side of a patch")
    layers: Few = Field(2, description="transformer: layers of self-attention")
    heads: Few = Field(4, description="transformer: attentions side by side")
    hidden: Width = Field(64, description="pool=attention: width of its own layer")
    dropout: Rate = Field(0.0, description="of what is judged; transformer: of its layers too")

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of the patches of a picture."""
        side = 2**self.stages if self.encoder == "cnn" else self.patch
        return -(-height // side), -(-width // side)

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.seeing.patches import AttendingPatches, ConvolvedPatches, PatchSeer

        shape, labels = tuple(sizes["image"]), sizes["label"]
        if self.encoder == "cnn":
            encoder: Any = ConvolvedPatches(shape[0], filters=self.filters, stages=self.stages)
        else:
            encoder = AttendingPatches(
                shape,
                size=self.size,
                width=self.patch,
                layers=self.layers,
                heads=self.heads,
                dropout=self.dropout,
            )
        return PatchSeer(
            encoder,
            labels,
            pool=self.pool,
            hidden=self.hidden,
            per_label=self.per_label,
            dropout=self.dropout,
        )
