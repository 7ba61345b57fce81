"""The options of models that say what is in a picture. `build` imports the networks, and torch with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from regard.models.attention_options import AttentionOptions
from regard.options import ModelOptions, NotNegative, Rate, Width
from regard.words import t

if TYPE_CHECKING:
    from torch import nn


class ShowAttendTell(ModelOptions):
    """A network of convolutions and an LSTM that attends to its cells, word by word (Xu et al. 2015)."""

    task: ClassVar[str] = "caption"
    reads: ClassVar[tuple[str, ...]] = ("image", "numbers")  # what task.input may be
    prompted: ClassVar[bool] = True  # whether task.prompt may be
    kind: Literal["show-attend-tell"] = "show-attend-tell"
    filters: Annotated[tuple[Width, ...], Field(max_length=8)] = Field(
        (32, 64),
        description="of each convolution, which halves the picture; none where features are given",
    )
    window: Literal[1, 3, 5, 7] = Field(
        3, description="side of a convolution: how far around it a cell sees"
    )
    size: Width = Field(64, description="features of an annotation vector, one for each cell")
    frames: Literal["apart", "gru", "lstm", "transformer"] = Field(
        "apart",
        description="numbers: vectors as they are, in no order, as of the parts of a picture; or read in "
        "their order first, as of the frames of a film",
    )
    norm: bool = Field(False, description="layer norm after each convolution")
    embedding: Width = Field(64, description="features of an embedded word")
    hidden: Width = Field(128, description="features of a state of the LSTM")
    attention: AttentionOptions | None = Field(
        AttentionOptions(),
        description="how the LSTM attends to the cells: softmax is soft, hard is trained by its reward, "
        "'gumbel(0.5, straight_through=true)' by gradients, uniform is the mean of all; null: not at all",
    )
    gate: bool = Field(True, description="β: how much of what is attended to a word depends on")
    doubly_stochastic: NotNegative = Field(
        0.0, description="λ: all words together are to look at every cell alike"
    )
    dropout: Rate = Field(0.0, description="share of the features left out before the output")

    @model_validator(mode="after")
    def _trained_by_gradients(self) -> ShowAttendTell:
        how = self.attention
        if self.doubly_stochastic and (how is None or how.normalize.startswith("hard")):
            raise ValueError(
                t(
                    "doubly_stochastic is about weights that gradients pass: take another "
                    "attention.normalize than hard, or 0"
                )
            )
        return self

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.captions.show_attend_tell import show_attend_tell

        return show_attend_tell(sizes["image"], sizes["caption"], self)
