"""Words make sentences, and sentences make a document, by the same two steps.

Legend: B documents, S sentences, W words, N sentences of all documents, D features of a state.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from regard.layers.contracts import Encoded
from regard.models import initialise
from regard.models.classifiers.classifier import AnswerLayers
from regard.models.classifiers.classifier_options import Han
from regard.models.classifiers.sequence_encoders import (
    InputVectors,
    RecurrentNetwork,
    SequenceEncoder,
)
from regard.models.encoder_decoder import check_words
from regard.models.modes import LabelDecoder, LabelModel
from regard.models.summary import Summary


class DocumentEncoder(nn.Module):
    """s_i = pool(h_i1 … h_iW) of the words of sentence i, then states of s_1 … s_S

    — Yang et al. 2016, https://aclanthology.org/N16-1174. document (B, S, W) word numbers, mask (B, S, W):
    True where a word is real. Only sentences that have words are read, all of them side by side, whichever
    documents they are of: documents of different sizes cost no more than their words do. A sentence without
    words is as if it were not there, and a document without sentences is 0.
    """

    def __init__(self, words: SequenceEncoder, pool: str, between: RecurrentNetwork) -> None:
        super().__init__()
        self.words, self.between = words, between
        self.pool = Summary(pool, words.output_size, words.output_size)
        self.output_size = between.output_size

    def forward(self, document: Tensor, mask: Tensor) -> Encoded:
        check_words(document, "B, S, W")
        said = mask.any(-1)  # (B, S)
        encoded = self.words(document[said], mask[said])  # states (N, W, D)
        # sentences follow each other, whatever was between them
        real = torch.arange(said.shape[1], device=said.device) < said.sum(-1, keepdim=True)
        attended = self.pool.attend(encoded)
        vectors = self.pool(encoded) if attended is None else attended.context.squeeze(1)
        sentences = _unflattened(vectors, real)  # (B, S, D)
        states, summary = self.between(sentences, real)
        weights = None
        if attended is not None and attended.weights is not None:
            weights = _unflattened(attended.weights.squeeze(1).detach(), real)
        states = states.masked_fill(~real[..., None], 0.0)
        return Encoded(states, real, summary, words=weights)


def han(source: int, answers: int, options: Han | None = None, /, **changes: Any) -> LabelModel:
    """source: how many words there are; answers: labels, or 1 for a number."""
    options = Han.of(options, changes)
    read = InputVectors.of(options, source)
    shape = {"cell": options.cell, "bidirectional": True}
    words = SequenceEncoder(read, RecurrentNetwork(options.embedding, options.hidden, **shape))
    between = RecurrentNetwork(words.output_size, options.hidden, **shape)
    for network in (words.network, between):
        initialise.default(network)
    encoder = DocumentEncoder(words, options.pool, between)
    size = encoder.output_size
    layers = AnswerLayers(size, answers, drop=options.dropout)
    return LabelModel(encoder, LabelDecoder(Summary(options.pool, size, size), layers))


def _unflattened(rows: Tensor, real: Tensor) -> Tensor:
    """(N, D) of the real ones of (B, S) -> (B, S, D), 0 elsewhere"""
    places = (real.flatten().cumsum(0) - 1).clamp(min=0)  # of each in `rows`
    if not len(rows):
        return rows.new_zeros(*real.shape, rows.shape[-1])
    spread = rows.index_select(0, places).view(*real.shape, rows.shape[-1])
    return torch.where(real[..., None], spread, 0.0)
