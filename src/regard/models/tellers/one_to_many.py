"""One-to-many: what becomes one vector, whatever it is, and the decoder that it enters.

    model = one_to_many(10, 30, reads="label", enters="every")      # ten labels, thirty tokens
    logits = model.decoder.project(model(labels, None, inputs).outputs)

Legend: B sources, S states of a source, D features.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from regard.layers.contracts import Encoded
from regard.models import initialise
from regard.models.captions.picture_encoder import PictureEncoder
from regard.models.classifiers.sequence_encoders import (
    InputVectors,
    RecurrentNetwork,
    SequenceEncoder,
)
from regard.models.encoder import VectorEncoder
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.summary import Summary
from regard.models.tellers.entering_decoder import EnteringDecoder
from regard.models.tellers.one_to_many_options import OneToMany
from regard.words import t

Reads = Literal["image", "numbers", "vector", "label", "text"]


class LabelEncoder(nn.Module):
    """x = E k: labels (B,) -> states (B, 1, D)"""

    def __init__(self, labels: int, size: int) -> None:
        super().__init__()
        self.embed, self.output_size = nn.Embedding(labels, size), size

    def forward(self, source: Tensor, mask: Tensor | None = None) -> Encoded:
        if source.dim() != 1 or source.is_floating_point():
            raise ValueError(
                t(
                    "labels are (B,), whole numbers; given {source_shape} of {dtype}",
                    source_shape=tuple(source.shape),
                    dtype=source.dtype,
                )
            )
        real = torch.ones(len(source), 1, dtype=torch.bool, device=source.device)
        vector = self.embed(source)
        return Encoded(vector[:, None], real, vector)


class Teller(EncoderDecoder):
    """p(y | x) = Π_t p(y_t | y_<t, x), x one vector of the source"""

    def encode(
        self, source: Tensor, mask: Tensor | None = None, *, lengths: Tensor | None = None
    ) -> Encoded:
        """source: labels (B,), vectors (B, D), pictures (B, C, H, W), token ids (B, S) or vectors (B, S, D);
        mask: True where a pixel, a token or a vector of several is real; None: all are.
        """
        if isinstance(self.encoder, SequenceEncoder):
            return super().encode(source, mask, lengths=lengths)
        encoded: Encoded = self.encoder(source, mask)
        return encoded


def one_to_many(
    source: Any,
    vocabulary: int,
    options: OneToMany | None = None,
    /,
    *,
    reads: Reads = "vector",
    **changes: Any,
) -> Teller:
    """source: how many labels or tokens there are, the size of a vector, or (C, H, W) of pictures."""
    options = OneToMany.of(options, changes)
    encoder = _encoder(source, reads, options)
    size = int(encoder.output_size)  # type: ignore[arg-type]
    pool = "last" if reads in ("vector", "label") else options.pool
    decoder = EnteringDecoder(
        vocabulary,
        Summary(pool, size, size),
        options.embedding,
        options.hidden,
        enters=options.enters,
        step_index=options.step_index,
        max_steps=options.max_steps,
        attention=options.attention,
        cell=options.cell,
        layers=options.layers,
        dropout=options.dropout,
    )
    initialise.default(decoder)
    return Teller(encoder, decoder)


def _encoder(source: Any, reads: Reads, options: OneToMany) -> nn.Module:
    match reads:
        case "label":
            return LabelEncoder(source, options.size)
        case "vector":
            return VectorEncoder(source)
        case "image":
            return PictureEncoder(source[0], options.filters, options.size, window=options.window)
        case _:
            read = InputVectors(
                source, options.size, vectors=reads == "numbers", dropout=options.dropout
            )
            network = RecurrentNetwork(
                options.size, -(-options.size // 2), cell=options.cell, bidirectional=True
            )
            initialise.default(network)
            return SequenceEncoder(read, network)
