"""The options of one-to-many. `build` imports the networks, and torch with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from regard.models.attention_options import AttentionOptions
from regard.options import Few, Length, ModelOptions, Rate, Width
from regard.words import t

if TYPE_CHECKING:
    from torch import nn


def _all_ways_named(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """pydantic names the first way of a union alone. `7` and `1,7` are left to a recipe's second reading."""
    try:
        return read(value)
    except ValidationError:
        if isinstance(value, str | int) and any(letter.isdigit() for letter in str(value)):
            raise
        wanted = t("first, every, or a list of steps counted from 1, as [1, 7]")
        raise PydanticCustomError("no_steps", "{wanted}", {"wanted": wanted}) from None


Steps = Annotated[tuple[Length, ...], Field(min_length=1)]
Entry = Annotated[Literal["first", "every"] | Steps, WrapValidator(_all_ways_named)]
Cell = Literal["gru", "gru-reset-before", "lstm", "elman"]


class OneToMany(ModelOptions):
    """One vector, of a label, a picture, vectors or a text, and a recurrent network that tells of it."""

    task: ClassVar[str] = "caption"
    reads: ClassVar[tuple[str, ...]] = ("image", "numbers", "vector", "label", "text")
    kind: Literal["one-to-many"] = "one-to-many"
    enters: Entry = Field(
        "first",
        description="where the vector enters: as the first state, at every step, or at chosen steps, "
        "counted from 1, as [1, 7, 13]",
    )
    step_index: Literal["none", "sinusoidal", "learned"] = Field(
        "none", description="whether a step knows its number, and how it is told"
    )
    max_steps: Length = Field(128, description="step_index=learned: steps at most")
    cell: Cell = Field("gru", description="the transition from state to state")
    embedding: Width = Field(64, description="features of an embedded token")
    hidden: Width = Field(256, description="features of a state")
    layers: Few = Field(1, description="recurrent layers")
    attention: AttentionOptions | None = Field(
        None, description="how a state attends to those before it; null: not at all"
    )
    size: Width = Field(
        64, description="features of the vector; those of a given vector are its own"
    )
    pool: Literal["last", "mean", "max", "attention"] = Field(
        "mean",
        description="image, numbers, text: how cells or states become the vector; last: of a text or of "
        "vectors, the last states of both directions",
    )
    filters: Annotated[tuple[Width, ...], Field(max_length=8)] = Field(
        (16, 32), description="image: of each convolution, which halves the picture"
    )
    window: Literal[1, 3, 5, 7] = Field(3, description="image: side of a convolution")
    dropout: Rate = Field(0.0, description="share of the features left out in training")

    def build(self, sizes: Mapping[str, Any]) -> nn.Module:
        from regard.models.tellers.one_to_many import one_to_many

        (name, source), *_ = sizes.items()
        read: Any = name
        if read == "image" and isinstance(source, int):
            read = "numbers"  # vectors of a picture's parts, which have its name
        return one_to_many(source, sizes["caption"], self, reads=read)
