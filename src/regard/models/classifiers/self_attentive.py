"""Recurrent layers on one another, with attention over the states of each.

Legend: B texts, S positions, T of them real, D features of a state.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from regard.attention.pooling import AttentionPooling
from regard.models import initialise
from regard.models.classifiers.classifier import AnswerLayers
from regard.models.classifiers.classifier_options import SelfAttentive
from regard.models.classifiers.sequence_encoders import (
    InputVectors,
    RecurrentNetwork,
    SequenceEncoder,
)
from regard.models.modes import LabelDecoder, LabelModel
from regard.models.summary import Summary


class WeighedStates(nn.Module):
    """T α_t h_t,  α = softmax(u · tanh(W h_t)): even weights leave the states as they are"""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.pool = AttentionPooling(size, size)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return self.pool(states, mask).sequence * mask.sum(-1)[:, None, None]


class SelfAttentiveStack(nn.Module):
    """h¹ = recurrent(x), hⁿ = recurrent(T α h) of the layer below"""

    def __init__(self, size: int, hidden: int, *, cell: str, layers: int) -> None:
        super().__init__()
        sizes = [size] + [2 * hidden] * (layers - 1)
        self.layers = nn.ModuleList(
            RecurrentNetwork(each, hidden, cell=cell, bidirectional=True) for each in sizes
        )
        self.weighed = nn.ModuleList(WeighedStates(2 * hidden) for _ in sizes[1:])
        self.output_size = 2 * hidden

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        states, summary = self.layers[0](x, mask)
        for layer, weighed in zip(self.layers[1:], self.weighed, strict=True):
            states, summary = layer(weighed(states, mask), mask)
        return states, summary


def self_attentive(
    source: int,
    answers: int,
    options: SelfAttentive | None = None,
    /,
    *,
    vectors: bool = False,
    **changes: Any,
) -> LabelModel:
    """The last layer's states are pooled by attention as well: Σ_t α_t h_t is judged."""
    options = SelfAttentive.of(options, changes)
    size = options.embedding
    read = InputVectors.of(options, source, vectors=vectors)
    stack = SelfAttentiveStack(size, options.hidden, cell=options.cell, layers=options.layers)
    initialise.default(stack)
    encoder = SequenceEncoder(read, stack)
    states = encoder.output_size
    layers = AnswerLayers(states, answers, drop=options.dropout)
    return LabelModel(encoder, LabelDecoder(Summary("attention", states, states), layers))
