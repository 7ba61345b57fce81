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
from regard.attention.sequences.documents import Documents
from regard.attention.sequences.prefix import Prefix

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
