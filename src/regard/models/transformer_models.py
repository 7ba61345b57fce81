"""The Transformer family: whole models for translation, classification and language.

>>> shape = Shape(size=256, heads=4, inner=1024, norm="pre")
>>> model = transformer(6000, 6000, shape, encoder_layers=4, decoder_layers=4)
"""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor, nn

from regard.layers.contracts import Encoded
from regard.layers.names import check_name
from regard.layers.special_tokens import BOS
from regard.models import initialise
from regard.models.encoder import NoEncoder
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.modes import LabelDecoder
from regard.models.summary import Summary
from regard.models.transformer import TransformerDecoder, TransformerEncoder
from regard.models.transformer_config import PLAIN, PUBLISHED, Mechanism, Shape

Share = Literal["all", "target", "none"]
Pool = Literal["mean", "max", "first", "attention"]


class MaskedLanguageModel(nn.Module):
    """p(x_t | the rest) = softmax(W LN(gelu(V h_t))), W the embeddings — Devlin et al. 2019"""

    def __init__(self, encoder: TransformerEncoder, size: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.transform, self.norm = nn.Linear(size, size), nn.LayerNorm(size)
        self.output = nn.Linear(size, encoder.embed.table.num_embeddings)
        self.output.weight = encoder.embed.table.weight

    def encode(self, source: Tensor, mask: Tensor) -> Encoded:
        return self.encoder(source, mask)

    def project(self, states: Tensor) -> Tensor:
        """(..., D) -> logits (..., V)"""
        return self.output(self.norm(nn.functional.gelu(self.transform(states))))


def transformer(
    source: int,
    target: int,
    shape: Shape = PUBLISHED,
    *,
    encoder_layers: int = 6,
    decoder_layers: int = 6,
    share: Share = "all",
    encoder_attention: Mechanism = PLAIN,
    decoder_attention: Mechanism = PLAIN,
    cross_attention: Mechanism = PLAIN,
) -> EncoderDecoder:
    """Translation. source, target: the sizes of the vocabularies.

    share: one matrix for both embeddings and the output ("all", which needs one vocabulary for both
    sides), for the decoder's embeddings and the output ("target"), or three ("none").
    """
    check_name("way to share embeddings", share, get_args(Share))
    if share == "all" and source != target:
        raise ValueError(
            f"share=all is one matrix for both vocabularies, which have {source} and {target} tokens: "
            "learn one for both (tokenizer.shared=true), or take share=target"
        )
    encoder = TransformerEncoder(source, encoder_layers, shape, encoder_attention)
    decoder = TransformerDecoder(target, decoder_layers, shape, decoder_attention, cross_attention)
    initialise.transformer(encoder)
    initialise.transformer(decoder)
    initialise.never_said(decoder.output)
    if share != "none":
        decoder.output.weight = decoder.embed.table.weight
    if share == "all":
        encoder.embed.table.weight = decoder.embed.table.weight
    return EncoderDecoder(encoder, decoder)


def language_model(
    vocabulary: int,
    shape: Shape = PUBLISHED,
    *,
    layers: int = 6,
    share: bool = True,
    attention: Mechanism = PLAIN,
) -> EncoderDecoder:
    """The next token. No source: `encode` takes any tensor with a row for each text."""
    decoder = TransformerDecoder(vocabulary, layers, shape, attention)
    initialise.transformer(decoder)
    initialise.never_said(decoder.output)
    if share:
        decoder.output.weight = decoder.embed.table.weight
    return EncoderDecoder(NoEncoder(), decoder)


def classifier(
    source: int,
    labels: int,
    shape: Shape = PUBLISHED,
    *,
    layers: int = 6,
    pool: Pool = "max",
    attention: Mechanism = PLAIN,
) -> EncoderDecoder:
    """A label for a text — after Bloem's tutorial, https://peterbloem.nl/blog/transformers

    pool: the states of the last block as one vector; first: of a BOS put before the text.
    """
    check_name("pooling", pool, get_args(Pool))
    first = BOS if pool == "first" else None
    encoder = TransformerEncoder(source, layers, shape, attention, first=first)
    summary = Summary("last" if pool == "first" else pool, shape.size, shape.size)
    decoder = LabelDecoder(summary, labels)
    initialise.transformer(encoder)
    return EncoderDecoder(encoder, decoder)


def masked_language_model(
    vocabulary: int,
    shape: Shape = PUBLISHED,
    *,
    layers: int = 6,
    attention: Mechanism = PLAIN,
) -> MaskedLanguageModel:
    """The tokens that were hidden."""
    encoder = TransformerEncoder(vocabulary, layers, shape, attention)
    initialise.transformer(encoder)
    return MaskedLanguageModel(encoder, shape.size)
