"""What an engine cannot run, said in one sentence with what can be done instead."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import cast

from torch import nn

from regard.attention.multi_head import MultiHead
from regard.attention.normalizers import Normalizer, Softmax, Sparsemax
from regard.attention.region import Region
from regard.attention.regions import Causal, Everywhere
from regard.attention.scores import Additive, Bilinear, Concat, Cosine, Dot, ScaledDot, Score
from regard.layers.transformer_blocks import DecoderBlock, EncoderBlock
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.transformer import TransformerDecoder, TransformerEncoder
from regard.words import t

ONNX_SCORES = (Dot, ScaledDot, Bilinear, Cosine, Concat, Additive)
NATIVE = "regard translate without --engine runs every model"


class CannotExport(ValueError):
    """An engine cannot run this model, or not in this way."""

    status = 2

    def __init__(self, message: str, hint: str = NATIVE) -> None:
        super().__init__(message)
        self.hint = hint


class MissingEngine(ImportError):
    """The engine is not installed."""

    hint = 'pip install "regard[export]"'


def need(name: str) -> ModuleType:
    """The module of this name, or what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingEngine(
            t("{name} is not installed: {hint}", name=name, hint=MissingEngine.hint)
        ) from error


def check_for_ctranslate2(model: nn.Module) -> None:
    """CannotExport unless it is a Transformer for translation whose heads all attend in the plain way."""
    encoder, decoder = _halves(model, "CTranslate2", "it has no such layers")
    for where, attention, region in _heads(encoder, decoder):
        _check(where, attention, region, "CTranslate2", (Dot, ScaledDot), (Softmax,))
    block = cast(EncoderBlock, encoder.blocks[0])
    for option, missing in {
        "norm=none": block.around_attention.place == "none",
        "residual=false": not block.around_attention.connected,
        "feed_forward=false": block.feed_forward is None,
    }.items():
        if missing:
            raise CannotExport(
                t("CTranslate2 cannot run a Transformer with model.{option}", option=option)
            )


def check_for_onnx(model: nn.Module) -> None:
    """CannotExport unless it is a Transformer for translation that one graph can express for all lengths."""
    encoder, decoder = _halves(
        model,
        "ONNX",
        "a recurrent network reads token by token, in a loop that a graph cannot express",
    )
    for where, attention, region in _heads(encoder, decoder):
        free = where == "encoder_attention" and attention.region.composes
        within = attention.region if free else region
        _check(where, attention, within, "the ONNX graph", ONNX_SCORES, (Softmax, Sparsemax))


def _halves(
    model: nn.Module, engine: str, reason: str
) -> tuple[TransformerEncoder, TransformerDecoder]:
    if isinstance(model, EncoderDecoder):
        encoder, decoder = model.encoder, model.decoder
        if isinstance(encoder, TransformerEncoder) and isinstance(decoder, TransformerDecoder):
            return encoder, decoder
    raise CannotExport(
        t(
            "{engine} takes models of kind transformer only, and this one has a {parts}: {reason}",
            engine=engine,
            parts=_parts(model),
            reason=reason,
        )
    )


def _parts(model: nn.Module) -> str:
    parts = (getattr(model, name, None) for name in ("encoder", "decoder"))
    names = [type(part).__name__ for part in parts if part is not None]
    return " and a ".join(names) or type(model).__name__


def _heads(
    encoder: TransformerEncoder, decoder: TransformerDecoder
) -> Iterator[tuple[str, MultiHead, Region]]:
    """Every attention, its key in the recipe, and the region that CTranslate2 gives it."""
    for block in cast(list[EncoderBlock], encoder.blocks):
        yield "encoder_attention", block.attention, Everywhere()
    for decoding in cast(list[DecoderBlock], decoder.blocks):
        yield "decoder_attention", decoding.attention, Causal()
        assert decoding.cross is not None
        yield "cross_attention", decoding.cross, Everywhere()


def _check(
    where: str,
    attention: MultiHead,
    wanted: Region,
    engine: str,
    scores: tuple[type[Score], ...],
    normalizers: tuple[type[Normalizer], ...],
) -> None:
    score, normalize, region = attention.score, attention.normalize, attention.region
    seen = None
    if type(score) not in scores:
        seen = f"score {type(score).__name__}", _listed(scores)
    elif type(normalize) not in normalizers:
        seen = f"normaliser {type(normalize).__name__}", _listed(normalizers)
    elif not _same(region, wanted):
        seen = f"region {region!r}", f"{type(wanted).__name__} there"
    elif attention.cap is not None or attention.sinks is not None:
        slot = "cap" if attention.sinks is None else "sinks"
        seen = f"{slot} of its scores", "no such thing"
    if seen:
        raise CannotExport(
            t(
                "{engine} cannot run model.{where} with the {seen}: it has {value}",
                engine=engine,
                where=where,
                seen=seen[0],
                value=seen[1],
            ),
            t("train with one that it has, or try the other engine; {native}", native=NATIVE),
        )


def _listed(kinds: Iterable[type]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


def _same(region: Region, wanted: Region) -> bool:
    patterns = region.patterns(1, 1)
    return patterns is not None and patterns == wanted.patterns(1, 1)
