"""Several hops of attention over one text, kept apart by a penalty.

Legend: B texts, S positions, D features of a state, r hops.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.pooling import AttentionPooling
from regard.layers.contracts import Encoded
from regard.models import initialise
from regard.models.classifiers.classifier import AnswerLayers
from regard.models.classifiers.classifier_options import Lin
from regard.models.classifiers.sequence_encoders import (
    InputVectors,
    RecurrentNetwork,
    SequenceEncoder,
)
from regard.models.modes import LabelDecoder, LabelModel


class Hops(nn.Module):
    """A = softmax(W₂ tanh(W₁ h)), M = A h, its r rows side by side: states (B, S, D) -> (B, r · D)

    — Lin et al. 2017, https://arxiv.org/abs/1703.03130
    """

    def __init__(self, size: int, hidden: int, hops: int) -> None:
        super().__init__()
        self.pool = AttentionPooling(size, hidden, hops=hops)
        self.output_size = hops * size

    def attend(self, encoded: Encoded) -> Attended:
        """The vector (B, 1, r · D), and the weights of all hops (B, r, S)."""
        texts, positions = encoded.mask.shape
        pooled = self.pool(encoded.states, encoded.mask)
        weights = pooled.weights.view(texts, self.pool.hops, positions)  # one hop has no axis
        return Attended(pooled.vector.reshape(texts, 1, self.output_size), weights)

    def forward(self, encoded: Encoded) -> Tensor:
        return self.attend(encoded).context.squeeze(1)


def lin(
    source: int,
    answers: int,
    options: Lin | None = None,
    /,
    *,
    vectors: bool = False,
    **changes: Any,
) -> LabelModel:
    """y = W relu(V M), with `penalty` · ‖A Aᵀ - I‖²_F beside it in the loss."""
    options = Lin.of(options, changes)
    read = InputVectors.of(options, source, vectors=vectors)
    network = RecurrentNetwork(options.embedding, options.hidden, cell="lstm", bidirectional=True)
    initialise.default(network)
    encoder = SequenceEncoder(read, network)
    hops = Hops(encoder.output_size, options.attention, options.hops)
    layers = AnswerLayers(hops.output_size, answers, inner=options.inner, drop=options.dropout)
    return LabelModel(encoder, LabelDecoder(hops, layers, penalty=options.penalty))
