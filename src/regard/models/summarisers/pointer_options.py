"""The options of the pointer-generator. `build` imports the network, and torch with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from regard.models.recurrent_options import Cell, Dropout, Embedding, Hidden
from regard.options import ModelOptions, NotNegative

if TYPE_CHECKING:
    from torch import nn


class PointerGenerator(ModelOptions):
    """Attention that also copies words of the source, with coverage (See et al. 2017)."""

    task: ClassVar[str] = "summarise"
    copies: ClassVar[bool] = True
    kind: Literal["pointer-generator"] = "pointer-generator"
    cell: Cell = "lstm"
    embedding: Embedding = 128
    hidden: Hidden = 256
    coverage: NotNegative | None = Field(
        1.0,
        description="what it costs to attend twice to a word; attention sees what was attended to before; "
        "null: it does not",
    )
    dropout: Dropout = 0.0

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.summarisers.pointer import pointer_generator

        return pointer_generator(sizes["target"], self)
