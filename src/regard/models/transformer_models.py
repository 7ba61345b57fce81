"""The Transformer family: whole models for translation, classification and language.

>>> model = transformer(6000, 6000, size=256, heads=4, inner=1024, encoder_layers=4)
>>> published = transformer(37000, 37000, PUBLISHED)
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from regard.layers.contracts import Encoded
from regard.layers.special_tokens import BOS
from regard.models import initialise
from regard.models.encoder import NoEncoder
from regard.models.encoder_decoder import EncoderDecoder, token_mask
from regard.models.modes import LabelDecoder, LabelModel
from regard.models.summary import Summary
from regard.models.transformer import TransformerDecoder, TransformerEncoder
from regard.models.transformer_options import (
    Transformer,
    TransformerClassifier,
    TransformerLanguage,
    TransformerMasked,
)
from regard.words import t


class MaskedLanguageModel(nn.Module):
    """p(x_t | the rest) = softmax(W LN(gelu(V h_t))), W the embeddings — Devlin et al. 2019"""

    def __init__(self, encoder: TransformerEncoder, size: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.transform, self.norm = nn.Linear(size, size), nn.LayerNorm(size)
        self.output = nn.Linear(size, encoder.embed.table.num_embeddings)
        self.output.weight = encoder.embed.table.weight

    def encode(
        self, source: Tensor, mask: Tensor | None = None, *, lengths: Tensor | None = None
    ) -> Encoded:
        """mask (B, S), True where a token is real, or lengths (B,); neither: all are."""
        return self.encoder(source, token_mask(source, mask, lengths))

    def project(self, states: Tensor) -> Tensor:
        """(..., D) -> logits (..., V)"""
        return self.output(self.norm(nn.functional.gelu(self.transform(states))))


def transformer(
    source: int, target: int, options: Transformer | None = None, /, **changes: Any
) -> EncoderDecoder:
    """Translation — Vaswani et al. 2017, https://arxiv.org/abs/1706.03762

    source, target: the sizes of the vocabularies. share: one matrix for both embeddings and the output
    ("all", which needs one vocabulary for both sides), for the decoder's embeddings and the output
    ("target"), or three ("none").
    """
    options = Transformer.of(options, changes)
    if options.share == "all" and source != target:
        raise ValueError(
            t(
                "share=all is one matrix for both vocabularies, which have {source} and "
                "{target} tokens: learn one for both (tokenizer.shared=true), or take "
                "share=target",
                source=source,
                target=target,
            )
        )
    encoder = TransformerEncoder(source, options.encoder_layers, options, options.encoder_attention)
    decoder = TransformerDecoder(
        target,
        options.decoder_layers,
        options,
        options.decoder_attention,
        options.cross_attention,
    )
    initialise.transformer(encoder)
    initialise.transformer(decoder)
    initialise.never_said(decoder.output)
    if options.share != "none":
        decoder.output.weight = decoder.embed.table.weight
    if options.share == "all":
        encoder.embed.table.weight = decoder.embed.table.weight
    return EncoderDecoder(encoder, decoder)


def language_model(
    vocabulary: int, options: TransformerLanguage | None = None, /, **changes: Any
) -> EncoderDecoder:
    """The next token. No source: `encode` takes any tensor with a row for each text."""
    options = TransformerLanguage.of(options, changes)
    decoder = TransformerDecoder(vocabulary, options.layers, options, options.attention)
    initialise.transformer(decoder)
    initialise.never_said(decoder.output)
    if options.share:
        decoder.output.weight = decoder.embed.table.weight
    return EncoderDecoder(NoEncoder(), decoder)


def classifier(
    source: int, labels: int, options: TransformerClassifier | None = None, /, **changes: Any
) -> LabelModel:
    """A label for a text — after Bloem's tutorial, https://peterbloem.nl/blog/transformers

    pool: the states of the last block as one vector; first: of a BOS put before the text.
    """
    options = TransformerClassifier.of(options, changes)
    first = BOS if options.pool == "first" else None
    encoder = TransformerEncoder(source, options.layers, options, options.attention, first=first)
    pool = "last" if options.pool == "first" else options.pool
    decoder = LabelDecoder(Summary(pool, options.size, options.size), labels)
    initialise.transformer(encoder)
    return LabelModel(encoder, decoder)


def masked_language_model(
    vocabulary: int, options: TransformerMasked | None = None, /, **changes: Any
) -> MaskedLanguageModel:
    """The tokens that were hidden."""
    options = TransformerMasked.of(options, changes)
    encoder = TransformerEncoder(vocabulary, options.layers, options, options.attention)
    initialise.transformer(encoder)
    model = MaskedLanguageModel(encoder, options.size)
    initialise.never_said(model.output)
    return model
