"""How alike are a query and a key: the public address of the score functions."""

from regard.attention.scores import (
    Additive,
    Bilinear,
    Concat,
    Cosine,
    Distance,
    Dot,
    DotLike,
    Location,
    ScaledDot,
    Score,
)

__all__ = [
    "Additive",
    "Bilinear",
    "Concat",
    "Cosine",
    "Distance",
    "Dot",
    "DotLike",
    "Location",
    "ScaledDot",
    "Score",
]
