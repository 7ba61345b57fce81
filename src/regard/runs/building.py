"""From the recipe's `model` section to the network."""

from __future__ import annotations

from torch import nn

from regard.options import ModelOptions


def build(options: ModelOptions, source: int, target: int) -> nn.Module:
    """The network for vocabularies of these sizes; of text and label, the label is the target."""
    return options.build({"source": source, "target": target, "text": source, "label": target})
