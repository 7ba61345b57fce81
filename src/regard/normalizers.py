"""How scores become weights: the public address of the normalisers."""

from regard.attention.normalizers import (
    Gumbel,
    Hard,
    HardChoice,
    MovingAverage,
    Normalizer,
    Raw,
    Reinforce,
    Softmax,
    Sparsemax,
    Uniform,
)

__all__ = [
    "Gumbel",
    "Hard",
    "HardChoice",
    "MovingAverage",
    "Normalizer",
    "Raw",
    "Reinforce",
    "Softmax",
    "Sparsemax",
    "Uniform",
]
