"""Convolutions over a text, pooled by what a recurrent network thinks of the whole.

Legend: B texts, S positions, D features of a state.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.module import Attention
from regard.layers.contracts import Encoded
from regard.models import initialise
from regard.models.attention_options import AttentionOptions
from regard.models.classifiers.classifier import AnswerLayers
from regard.models.classifiers.classifier_options import Apcnn
from regard.models.classifiers.sequence_encoders import (
    Convolutions,
    InputVectors,
    RecurrentNetwork,
)
from regard.models.modes import LabelDecoder, LabelModel


class WindowsAndSentence(nn.Module):
    """states C_1 … C_S of convolutions, and as summary s̃ = [forward_S; backward_1] of an LSTM"""

    def __init__(
        self, vectors: InputVectors, windows: Convolutions, sentence: RecurrentNetwork
    ) -> None:
        super().__init__()
        self.vectors, self.windows, self.sentence = vectors, windows, sentence
        self.output_size = windows.output_size

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        x = self.vectors(source, mask)
        states, _ = self.windows(x, mask)
        return Encoded(states, mask, self.sentence(x, mask)[1])


class QueriedPooling(nn.Module):
    """Σ_j α_j C_j,  α = softmax_j(score(s̃, C_j)); the score is w · tanh(W s̃ + U C_j) unless told

    — attention pooling after Er et al. 2016, https://doi.org/10.1016/j.ins.2016.08.084
    """

    def __init__(self, size: int, query: int, options: AttentionOptions) -> None:
        super().__init__()
        self.attention = Attention(query, size, **options.mechanism)
        self.output_size = size

    def attend(self, encoded: Encoded) -> Attended:
        """The vector (B, 1, D), and the weights (B, 1, S)."""
        query = encoded.summary[:, None]
        return self.attention(query, encoded.states, mask=encoded.mask, weights=True)

    def forward(self, encoded: Encoded) -> Tensor:
        return self.attend(encoded).context.squeeze(1)


def apcnn(
    source: int,
    answers: int,
    options: Apcnn | None = None,
    /,
    *,
    vectors: bool = False,
    **changes: Any,
) -> LabelModel:
    """source: how many words there are or, of vectors, their size. answers: labels, or 1 for a number."""
    options = Apcnn.of(options, changes)
    size, hidden = options.embedding, options.hidden
    read = InputVectors.of(options, source, vectors=vectors)
    sentence = RecurrentNetwork(size, hidden, cell="lstm", bidirectional=True)
    initialise.default(sentence)
    encoder = WindowsAndSentence(read, Convolutions(size, hidden, options.windows), sentence)
    pool = QueriedPooling(encoder.output_size, sentence.output_size, options.attention)
    layers = AnswerLayers(pool.output_size, answers, drop=options.dropout)
    return LabelModel(encoder, LabelDecoder(pool, layers))
