"""A Transformer as CTranslate2 lays one out — https://github.com/OpenNMT/CTranslate2

Queries, keys and values of self-attention are one fused matrix there, keys and values of the source
another; positions are written as a table; the scale of the score is an attribute of the queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn

from regard.attention.multi_head import MultiHead
from regard.attention.scores import DotLike
from regard.data.tokenizer import SPECIALS, Tokenizer
from regard.export.unsupported import check_for_ctranslate2, need
from regard.layers.embedding import Embedding
from regard.layers.feed_forward import FeedForward
from regard.layers.special_tokens import BOS, EOS, PAD, UNK
from regard.layers.transformer_blocks import DecoderBlock, EncoderBlock, Residual
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.initialise import NEVER
from regard.models.transformer import TransformerDecoder, TransformerEncoder

Quantization = Literal["float32", "float16", "bfloat16", "int16", "int8"]
POSITIONS = 2048  # rows that are written of a table that has no end here
ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "silu": "SWISH", "swiglu": "SWISH"}


def write_ctranslate2(
    model: nn.Module,
    tokenizers: tuple[Tokenizer, Tokenizer],
    folder: Path,
    quantization: Quantization = "float32",
) -> None:
    """model.bin, config.json and the vocabularies of a model that passed `check_for_ctranslate2`."""
    spec = _specification(model)
    spec.register_source_vocabulary(vocabulary(tokenizers[0]))
    spec.register_target_vocabulary(vocabulary(tokenizers[1]))
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))


def vocabulary(tokenizer: Tokenizer) -> list[str]:
    """The tokens by id, as they are spelt in the tokenizer's file."""
    return [*SPECIALS, *tokenizer.labels]


def longest(model: nn.Module) -> tuple[int | None, int | None]:
    """Source and target tokens at most, EOS included, once it is written; None: any number."""
    assert isinstance(model, EncoderDecoder)
    source, target = (_rows(half) for half in (model.encoder, model.decoder))
    return source, target


def is_exact(model: nn.Module) -> bool:
    """Whether PAD and BOS, which the engine excludes before its softmax, have no share in ours."""
    assert isinstance(model, EncoderDecoder)
    bias = cast(TransformerDecoder, model.decoder).output.bias
    return bool((bias[[PAD, BOS]] <= NEVER / 2).all())


def _rows(half: nn.Module) -> int | None:
    assert isinstance(half, TransformerEncoder | TransformerDecoder)
    turned = cast(EncoderBlock | DecoderBlock, half.blocks[0]).attention.rotary is not None
    return None if turned else half.embed.positions.longest or POSITIONS


def _specification(model: nn.Module) -> Any:
    check_for_ctranslate2(model)
    assert isinstance(model, EncoderDecoder)
    specs = need("ctranslate2.specs")
    encoder, decoder = model.encoder, model.decoder
    assert isinstance(encoder, TransformerEncoder)
    assert isinstance(decoder, TransformerDecoder)
    spec = specs.TransformerSpec(_encoder(encoder), _decoder(decoder))
    config = spec.config
    config.unk_token, config.bos_token, config.eos_token = (SPECIALS[i] for i in (UNK, BOS, EOS))
    config.decoder_start_token = SPECIALS[BOS]
    # the source is given with its EOS, so that what attends to it can be seen
    config.add_source_bos = config.add_source_eos = False
    config.layer_norm_epsilon = cast(DecoderBlock, decoder.blocks[0]).around_attention.norm.eps
    return spec


def _encoder(encoder: TransformerEncoder) -> Any:
    blocks = cast(list[EncoderBlock], encoder.blocks)
    made = need("ctranslate2.specs.transformer_spec").TransformerEncoderSpec
    spec = made(**_shape(blocks, encoder.norm))
    _stack(spec, spec.embeddings[0], encoder)
    for layer, block in zip(spec.layer, blocks, strict=True):
        _self_attention(layer.self_attention, block.attention, block.around_attention)
        _feed_forward(layer.ffn, block)
    return spec


def _decoder(decoder: TransformerDecoder) -> Any:
    blocks = cast(list[DecoderBlock], decoder.blocks)
    made = need("ctranslate2.specs.transformer_spec").TransformerDecoderSpec
    heads = blocks[0].attention.heads
    spec = made(
        **_shape(blocks, decoder.norm), alignment_layer=decoder.reported, alignment_heads=heads
    )
    _stack(spec, spec.embeddings, decoder)
    _join(spec.projection, [decoder.output])
    for layer, block in zip(spec.layer, blocks, strict=True):
        assert block.cross is not None
        assert block.around_cross is not None
        _self_attention(layer.self_attention, block.attention, block.around_attention)
        _cross_attention(layer.attention, block.cross, block.around_cross)
        _feed_forward(layer.ffn, block)
    return spec


def _shape(
    blocks: Sequence[EncoderBlock] | Sequence[DecoderBlock], norm: nn.Module
) -> dict[str, Any]:
    """What the constructors of both halves are told."""
    common = need("ctranslate2.specs.common_spec")
    attention, feed_forward = blocks[0].attention, cast(FeedForward, blocks[0].feed_forward)
    grouped = attention.key_heads != attention.heads
    rotary = attention.rotary
    return {
        "num_layers": len(blocks),
        "num_heads": attention.heads,
        "num_heads_kv": attention.key_heads if grouped else None,
        "pre_norm": isinstance(norm, nn.LayerNorm),  # there means that a last norm is wanted
        "activation": getattr(common.Activation, ACTIVATIONS[feed_forward.activation]),
        "ffn_glu": feed_forward.gated,
        **(
            {}
            if rotary is None
            else {"rotary_dim": 0, "rotary_interleave": False, "rotary_base": rotary.base}
        ),
    }


def _stack(spec: Any, embeddings: Any, half: TransformerEncoder | TransformerDecoder) -> None:
    """All around the layers: embeddings, positions, where norms stand, the last norm."""
    spec.pre_norm = cast(EncoderBlock | DecoderBlock, half.blocks[0]).around_attention.pre
    embeddings.weight = _plain(half.embed.table.weight)
    spec.scale_embeddings = float(half.embed.scale)
    if (rows := _rows(half)) is not None:
        spec.position_encodings.encodings = _plain(_positions(half.embed, rows))
    if isinstance(half.norm, nn.LayerNorm):
        _norm(spec.layer_norm, half.norm)


def _positions(embedding: Embedding, rows: int) -> Tensor:
    places = embedding.positions(rows)
    return torch.zeros(rows, embedding.table.embedding_dim) if places is None else places


def _self_attention(spec: Any, attention: MultiHead, around: Residual) -> None:
    _join(spec.linear[0], [attention.query, attention.key, attention.value])
    _attention(spec, attention, around)


def _cross_attention(spec: Any, attention: MultiHead, around: Residual) -> None:
    _join(spec.linear[0], [attention.query])
    _join(spec.linear[1], [attention.key, attention.value])
    _attention(spec, attention, around)


def _attention(spec: Any, attention: MultiHead, around: Residual) -> None:
    score, temperature = cast(DotLike, attention.score), attention.normalize.softmax_temperature
    assert temperature is not None
    _join(spec.linear[-1], [attention.output])
    _norm(spec.layer_norm, around.norm)
    spec.queries_scale = float(score.scale(attention.head_size) / temperature)


def _feed_forward(spec: Any, block: EncoderBlock | DecoderBlock) -> None:
    feed_forward, around = block.feed_forward, block.around_feed_forward
    assert feed_forward is not None
    assert around is not None
    _norm(spec.layer_norm, around.norm)
    _join(spec.linear_1, [feed_forward.outer])
    if not feed_forward.gated:
        _join(spec.linear_0, [feed_forward.inner])
        return
    weights, biases = (x.chunk(2) for x in (feed_forward.inner.weight, feed_forward.inner.bias))
    for half, weight, bias in zip(
        (spec.linear_0, spec.linear_0_noact), weights, biases, strict=True
    ):
        half.weight, half.bias = _plain(weight), _plain(bias)


def _join(spec: Any, layers: Sequence[nn.Linear]) -> None:
    """One matrix for all of them, their outputs side by side."""
    spec.weight = _plain(torch.cat([layer.weight for layer in layers]))
    if layers[0].bias is not None:
        spec.bias = _plain(torch.cat([layer.bias for layer in layers]))


def _norm(spec: Any, norm: nn.Module) -> None:
    assert isinstance(norm, nn.LayerNorm)
    spec.gamma, spec.beta = _plain(norm.weight), _plain(norm.bias)


def _plain(weight: Tensor) -> Tensor:
    """float32 on the CPU, out of the graph."""
    return weight.detach().float().cpu()
