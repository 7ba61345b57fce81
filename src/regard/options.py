"""What every section of a recipe has in common: unknown keys are refused, and nothing changes later.

Numbers are numbers, not true or '3', and have bounds far beyond what anybody trains: what is past them is
a slip, which would otherwise end in an abort of the process, or in none at all.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic_core import PydanticKnownError


def _is_number(value: Any) -> Any:
    """1e3 is a whole number too, so `Strict` would be too strict."""
    if isinstance(value, bool | str):
        raise PydanticKnownError("int_type")
    return value


Whole = Annotated[int, BeforeValidator(_is_number)]
Count = Annotated[Whole, Field(gt=0, le=10**12)]  # of what happens one after the other
CountOrZero = Annotated[Whole, Field(ge=0, le=10**12)]
Width = Annotated[Whole, Field(gt=0, le=1 << 16)]  # features
Few = Annotated[Whole, Field(gt=0, le=1_000)]  # of what stands side by side: layers, heads, beams
Length = Annotated[Whole, Field(gt=0, le=1_000_000)]  # tokens or sentences

Real = Annotated[float, Strict()]
Positive = Annotated[Real, Field(gt=0.0)]
NotNegative = Annotated[Real, Field(ge=0.0)]
Share = Annotated[Real, Field(ge=0.0, le=1.0)]
Rate = Annotated[Real, Field(ge=0.0, lt=1.0)]
InnerShare = Annotated[Real, Field(gt=0.0, lt=1.0)]


class Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False
    )
