"""Any encoder, any pooling, and one answer to the whole text.

    model = classifier(12_000, 2, encoder="cnn", pool="max")
    logits = model(words, mask)                     # (B, S), (B, S) -> (B, K); or lengths=, (B,)

Legend: B texts, S positions, D features of a state, K answers: labels, or one number.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from regard.layers.dropout import dropout
from regard.models import initialise
from regard.models.classifiers.classifier_options import Classifier
from regard.models.classifiers.sequence_encoders import (
    Bag,
    Convolutions,
    InputVectors,
    RecurrentNetwork,
    SequenceEncoder,
    TransformerNetwork,
)
from regard.models.modes import LabelDecoder, LabelModel
from regard.models.summary import Summary

CELLS = {"rnn": "elman", "lstm": "lstm", "gru": "gru"}


class AnswerLayers(nn.Module):
    """W v, or W relu(V v) with `inner`: the pooled vector (..., D) -> (..., K)"""

    def __init__(self, size: int, answers: int, *, inner: int | None = None, drop: float) -> None:
        super().__init__()
        self.inner = None if inner is None else nn.Linear(size, inner)
        self.output, self.dropout = nn.Linear(inner or size, answers), drop

    def forward(self, vector: Tensor) -> Tensor:
        if self.inner is not None:
            vector = self.inner(dropout(vector, self.dropout, self.training)).relu()
        return self.output(dropout(vector, self.dropout, self.training))


def classifier(
    source: int,
    answers: int,
    options: Classifier | None = None,
    /,
    *,
    vectors: bool = False,
    **changes: Any,
) -> LabelModel:
    """y = W pool(h_1 … h_S) of the states of any encoder

    source: how many words there are or, of vectors, their size. answers: labels, or 1 for a number.
    """
    options = Classifier.of(options, changes)
    read = InputVectors.of(options, source, vectors=vectors)
    encoder = SequenceEncoder(read, _network(options))
    size = encoder.output_size
    layers = AnswerLayers(size, answers, drop=options.dropout)
    return LabelModel(encoder, LabelDecoder(Summary(options.pool, size, size), layers))


def _network(options: Classifier) -> nn.Module:
    network: nn.Module
    size, hidden, layers = options.embedding, options.hidden, options.layers
    match options.encoder:
        case "bag":
            return Bag(size)
        case "cnn":
            return Convolutions(size, hidden, options.windows, layers)
        case "transformer":
            network = TransformerNetwork(
                size,
                hidden,
                layers=layers,
                heads=options.sharing_heads,
                dropout=options.dropout / 2,
                positions=options.positions,
            )
            initialise.transformer(network)
            return network
        case kind:
            network = RecurrentNetwork(
                size,
                hidden,
                cell=CELLS[kind],
                layers=layers,
                bidirectional=options.bidirectional,
                dropout=options.dropout,
            )
            initialise.default(network)
            return network
