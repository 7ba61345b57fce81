"""Which keys a query may look at: the public address of the regions."""

from regard.attention.predicted_window import PredictedWindow
from regard.attention.region import Region
from regard.attention.regions import (
    Atrous,
    Causal,
    Everywhere,
    Mask,
    Sparse,
    Window,
)

__all__ = [
    "Atrous",
    "Causal",
    "Everywhere",
    "Mask",
    "PredictedWindow",
    "Region",
    "Sparse",
    "Window",
]
