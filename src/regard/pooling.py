"""From a sequence of states to one vector: the public address of the poolings."""

from regard.attention.pooling import (
    AttentionPooling,
    Hierarchical,
    HierarchicallyPooled,
    Pooled,
    last,
    max,
    mean,
)

__all__ = [
    "AttentionPooling",
    "Hierarchical",
    "HierarchicallyPooled",
    "Pooled",
    "last",
    "max",
    "mean",
]
