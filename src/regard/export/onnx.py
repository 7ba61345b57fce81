"""A Transformer as two ONNX graphs: the encoder, and one step of the decoder.

    encoder.onnx   source (B, S), mask (B, S) -> states (B, S, D), keys and values of the source
    decoder.onnx   tokens (N,), mask (N, S), keys and values of the source and of the past
                   -> logits (N, V), weights (N, S), keys and values of the past with this token

Sizes may be any. Keys and values are (N, heads, length, size), two of them for every block; the past of
the first step has length 0.
"""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.attention.module import AttentionModule
from regard.attention.region import Region
from regard.attention.regions import Everywhere
from regard.attention.scores import Additive
from regard.export.unsupported import CannotExport, check_for_onnx
from regard.layers.positions import KEPT, Sinusoidal
from regard.layers.transformer_blocks import DecoderBlock
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.transformer import TransformerDecoder, TransformerEncoder, TransformerState
from regard.words import t

ENCODER, DECODER = "encoder.onnx", "decoder.onnx"
EXAMPLE = (3, 6, 4)  # sentences, source tokens, tokens of the past: sizes to trace with, no limit


def write_onnx(model: nn.Module, folder: Path) -> None:
    """encoder.onnx and decoder.onnx of a model that passed `check_for_onnx`."""
    check_for_onnx(model)
    assert isinstance(model, EncoderDecoder)
    plain = _by_definition(model)
    sentences, length, past = EXAMPLE
    source = torch.ones(sentences, length, dtype=torch.long)
    mask = torch.ones_like(source, dtype=torch.bool)
    start = Start(plain)
    with torch.no_grad():
        states, *memories = start(source, mask)
        decoder = cast(TransformerDecoder, plain.decoder)
        olds = [
            x[:, :, :1].expand(-1, -1, past, -1).contiguous()
            for block in cast(list[DecoderBlock], decoder.blocks)
            for memory in [block.attention.remember(states)]
            for x in (memory.keys, memory.values)
        ]
    names = memory_names(len(decoder.blocks))
    two, pairs = {0: ANY, 1: ANY}, [{0: ANY, 2: ANY}] * len(memories)
    _save(
        folder / ENCODER,
        start,
        (source, mask),
        (two, two),
        inputs=["source", "mask"],
        outputs=["states", *names["source"]],
    )
    _save(
        folder / DECODER,
        OneStep(decoder),
        (source[:, 0], mask, memories, olds),
        ({0: ANY}, two, pairs, pairs),
        inputs=["tokens", "mask", *names["source"], *names["past"]],
        outputs=["logits", "weights", *names["next"]],
    )


def memory_names(blocks: int) -> dict[str, list[str]]:
    """What the keys and values are called in the graphs."""
    return {
        kind: [f"{kind}_{what}_{block}" for block in range(blocks) for what in ("keys", "values")]
        for kind in ("source", "past", "next")
    }


def longest(model: nn.Module) -> tuple[int | None, int | None]:
    """Source and target tokens at most, EOS included, once it is written; None: any number."""
    halves = cast(EncoderDecoder, model).encoder, cast(EncoderDecoder, model).decoder
    source, target = (_positions(cast(TransformerEncoder, half)) for half in halves)
    return source, target


def _positions(half: TransformerEncoder) -> int | None:
    positions = half.embed.positions
    return KEPT if isinstance(positions, Sinusoidal) else positions.longest


class Start(nn.Module):
    """The encoder, and what the decoder remembers of its states."""

    def __init__(self, model: EncoderDecoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, mask: Tensor) -> list[Tensor]:
        encoded = self.model.encode(source, mask)
        state = cast(TransformerDecoder, self.model.decoder).start(encoded)
        return [encoded.states, *_tensors(state.source)]


class OneStep(nn.Module):
    """`TransformerDecoder.step`, every hypothesis with a source of its own."""

    def __init__(self, decoder: TransformerDecoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(
        self, tokens: Tensor, mask: Tensor, source: list[Tensor], past: list[Tensor]
    ) -> list[Tensor]:
        blocks = cast(list[DecoderBlock], self.decoder.blocks)
        seen = tuple(
            Memory(cast(AttentionModule, block.cross), keys, values, mask)
            for block, keys, values in zip(blocks, source[::2], source[1::2], strict=True)
        )
        before = tuple(
            Memory(block.attention, keys, values, None)
            for block, keys, values in zip(blocks, past[::2], past[1::2], strict=True)
        )
        state = TransformerState(before, seen, mask, position=past[0].shape[2])
        step = self.decoder.step(tokens, state, weights=True)
        assert step.attended is not None
        assert step.attended.weights is not None
        return [
            step.logits,
            step.attended.weights,
            *_tensors(cast(TransformerState, step.state).past),
        ]


def _tensors(memories: Sequence[Memory | None]) -> list[Tensor]:
    return [x for memory in memories if memory is not None for x in (memory.keys, memory.values)]


def _by_definition(model: EncoderDecoder) -> EncoderDecoder:
    """A copy that attends by the definition: a graph has no sizes to plan a fast path by."""
    made = copy.deepcopy(model).cpu().float().eval()
    for module in made.modules():
        if isinstance(module, AttentionModule):
            module.forward = partial(_attend, module)  # type: ignore[method-assign]
            module.nan_safe = False
            if not module.region.sees_all:
                module.region = AnySize(module.region)
            if module.score.kernel == "additive":
                score = cast(Additive, module.score)
                score.pair = partial(_pair, score)  # type: ignore[method-assign]
    for block in cast(list[DecoderBlock], cast(TransformerDecoder, made.decoder).blocks):
        block.attention.region = Everywhere()  # the last position sees all of the past
    return made


def _attend(self: AttentionModule, *given: Any, **choices: Any) -> Attended:
    attended = self.prepare(*given, **choices).run(by_definition=True)
    return Attended(self.merge(attended.context), attended.weights)


def _pair(score: Additive, query: Tensor, key: Tensor) -> Tensor:
    """Its kernel is no ONNX operator."""
    pairs = (query[..., :, None, :] + key[..., None, :, :]).tanh()
    return (pairs * score.rows[:, None, None, :]).sum(-1)


class AnySize(Region):
    """A region whose patterns are not looked at: they are compared with sizes, which a graph has not."""

    def __init__(self, region: Region) -> None:
        self.region, self.needs_lengths = region, region.needs_lengths

    def mask(self, queries: int, keys: int, **more: Any) -> Tensor:
        return self.region.mask(queries, keys, **more)


ANY = torch.export.Dim.DYNAMIC


def _save(
    path: Path,
    graph: nn.Module,
    example: tuple[Any, ...],
    shapes: tuple[Any, ...],
    *,
    inputs: list[str],
    outputs: list[str],
) -> None:
    talk = logging.getLogger("torch.onnx")
    level, silent = talk.level, io.StringIO()
    talk.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(silent):
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                graph,
                example,
                dynamo=True,
                dynamic_shapes=shapes,
                input_names=inputs,
                output_names=outputs,
                verbose=False,
            )
    except (
        Exception
    ) as error:  # whatever the tracer meets; it has no class of its own for all of it
        reason = str(error).strip().splitlines()[-1]
        raise CannotExport(
            t("torch cannot write this model as ONNX: {reason}", reason=reason)
        ) from error
    finally:
        talk.setLevel(level)
    assert program is not None
    program.save(str(path), external_data=False)
