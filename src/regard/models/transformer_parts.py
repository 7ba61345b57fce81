"""The parts that the blocks of a Transformer are made of, as its options say."""

from __future__ import annotations

from typing import Any

from torch import nn

from regard.attention.multi_head import MultiHead
from regard.attention.normalizers import as_normalizer
from regard.attention.region import Region
from regard.attention.regions import Causal, as_region
from regard.attention.rotary import Rotary
from regard.layers.embedding import Embedding
from regard.layers.feed_forward import FeedForward
from regard.layers.positions import make_positions
from regard.layers.transformer_blocks import DecoderBlock, EncoderBlock
from regard.models.attention_options import HeadOptions
from regard.models.transformer_options import BlockOptions
from regard.words import t


def make_embedding(options: BlockOptions, vocabulary: int) -> Embedding:
    size = options.size
    positions = make_positions(options.positions, size, options.max_positions)
    return Embedding(vocabulary, size, positions, scaled=options.scaled, dropout=options.dropout)


def make_self_attention(
    options: BlockOptions, how: HeadOptions, layer: int, *, causal: bool
) -> MultiHead:
    region = as_region(how.region_of(layer), query_size=options.size)
    if causal and not region.composes:
        raise ValueError(
            t(
                "self-attention of a decoder sees no later position, and {region_of} cannot be "
                "joined to that: take everywhere, window, atrous or sparse",
                region_of=how.region_of(layer),
            )
        )
    rotary = Rotary() if options.positions == "rotary" else None
    within = region & Causal() if causal else region
    return _heads(options, how, within, None, rotary)


def make_cross_attention(options: BlockOptions, how: HeadOptions, layer: int) -> MultiHead:
    region = as_region(how.region_of(layer), query_size=options.size)
    return _heads(options, how, region, options.size, None)


def make_encoder_block(options: BlockOptions, how: HeadOptions, layer: int) -> EncoderBlock:
    attention = make_self_attention(options, how, layer, causal=False)
    return EncoderBlock(attention, _feed_forward(options), **_around(options))


def make_decoder_block(
    options: BlockOptions, how: HeadOptions, cross: HeadOptions | None, layer: int
) -> DecoderBlock:
    return DecoderBlock(
        make_self_attention(options, how, layer, causal=True),
        _feed_forward(options),
        cross=None if cross is None else make_cross_attention(options, cross, layer),
        **_around(options),
    )


def make_last_norm(options: BlockOptions) -> nn.Module:
    wanted = options.norm == "pre" if options.final_norm is None else options.final_norm
    return nn.LayerNorm(options.size) if wanted else nn.Identity()


def _feed_forward(options: BlockOptions) -> FeedForward | None:
    if not options.feed_forward:
        return None
    return FeedForward(
        options.size, options.inner, activation=options.activation, dropout=options.inner_dropout
    )


def _around(options: BlockOptions) -> dict[str, Any]:
    return {"norm": options.norm, "dropout": options.dropout, "residual": options.residual}


def _heads(
    options: BlockOptions,
    how: HeadOptions,
    region: Region,
    key_size: int | None,
    rotary: Rotary | None,
) -> MultiHead:
    if not as_normalizer(how.normalize).differentiable:
        raise ValueError(
            t(
                "hard attention is trained by the reward of a choice, and a stack of blocks "
                "makes many: take gumbel, which gradients pass"
            )
        )
    return MultiHead(
        options.size,
        key_size,
        heads=options.heads,
        key_heads=options.key_heads,
        score=how.score,
        region=region,
        normalize=how.normalize,
        cap=how.cap,
        sinks=how.sinks,
        dropout=options.attention_dropout,
        rotary=rotary,
        nan_safe=False,  # the states are the model's own: if one is not finite, it has diverged
    )
