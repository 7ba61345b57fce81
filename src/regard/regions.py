"""Which keys a query may look at: the public address of the regions."""

from regard.attention.predicted_window import PredictedWindow
from regard.attention.region import Region
from regard.attention.regions import (
    Atrous,
    Causal,
    Everywhere,
    First,
    Mask,
    Sparse,
    Window,
)
from regard.attention.sequence_regions import Documents, Prefix

__all__ = [
    "Atrous",
    "Causal",
    "Documents",
    "Everywhere",
    "First",
    "Mask",
    "PredictedWindow",
    "Prefix",
    "Region",
    "Sparse",
    "Window",
]
