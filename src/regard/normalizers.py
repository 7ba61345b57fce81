"""How scores become weights: the public address of the normalisers."""

from regard.attention.normalizers import (
    Choice,
    Gumbel,
    Hard,
    MovingAverage,
    Normalizer,
    Raw,
    Reinforce,
    Softmax,
    Sparsemax,
    Uniform,
)

__all__ = [
    "Choice",
    "Gumbel",
    "Hard",
    "MovingAverage",
    "Normalizer",
    "Raw",
    "Reinforce",
    "Softmax",
    "Sparsemax",
    "Uniform",
]
