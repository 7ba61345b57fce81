"""A Transformer's decoder as a search on the CPU runs it: the same numbers to rounding, in larger steps.

Queries, keys and values come of one product, keys stay where they were written however the hypotheses are
reordered, and one kernel attends for all of them. `TransformerDecoder.step` is what it must equal.

Legend: B sentences, S source positions, N hypotheses, T positions so far, W = H · D features of all heads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, cast

import torch
from torch import Tensor

from regard.attention import beam_steps
from regard.attention.memory import Memory
from regard.layers.contracts import Decoded, Encoded, Step
from regard.layers.packed_linear import PackedLinear
from regard.layers.transformer_blocks import DecoderBlock

if TYPE_CHECKING:
    from regard.models.transformer import TransformerDecoder

PLACES = 16  # for positions to come, at least
_ONE_AT_A_TIME = threading.Lock()  # who takes a place in a room


class SourceKeys(NamedTuple):
    """Of one block."""

    keys: Tensor  # (B, S, W)
    values: Tensor  # (B, S, W)
    real: Tensor  # (B, S)

    @classmethod
    def of(cls, memory: Memory) -> SourceKeys:
        keys, values = (
            x.transpose(1, 2).flatten(2).contiguous() for x in (memory.keys, memory.values)
        )
        assert memory.mask is not None
        return cls(keys, values, memory.mask.contiguous())


@dataclass
class BeamRoom:
    """Keys and values of all blocks. Who takes a place first has it; others move to a room of their own."""

    pairs: Tensor  # (blocks, places, rows, 2W)
    filled: int = 0

    def with_place(self, position: int, rows: int) -> BeamRoom:
        """One in which this position of so many rows can be written: this room, if it is free."""
        blocks, places, width, size = self.pairs.shape
        with _ONE_AT_A_TIME:
            if self.filled == position < places and rows <= width:
                self.filled += 1
                return self
        places = places if position < places else position + max(PLACES, position // 2)
        wide = self.pairs.new_empty(blocks, places, max(rows, width), size)
        wide[:, :position, :width] = self.pairs[:, :position]
        return BeamRoom(wide, position + 1)


@dataclass(frozen=True)
class BeamState:
    """What the hypotheses have read."""

    room: BeamRoom
    ancestors: Tensor  # (N, T) int32: the row of the room that each position of a hypothesis is in
    sources: tuple[SourceKeys, ...]  # of every block; none: there is no source
    sentences: Tensor  # (B',): which of the B are still searched

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> BeamState:
        kept = self.sentences if sentences is None else self.sentences.index_select(0, sentences)
        return replace(self, ancestors=self.ancestors.index_select(0, rows), sentences=kept)


class BeamDecoder:
    """It takes the steps of a `TransformerDecoder` for one search, without gradients."""

    def __init__(self, decoder: TransformerDecoder, kernels: ModuleType) -> None:
        self.decoder, self.kernels = decoder, kernels
        self.blocks = [*cast(Sequence[DecoderBlock], decoder.blocks)]
        self.longest = decoder.longest

    def start(self, encoded: Encoded) -> BeamState:
        sources = self.decoder.start(encoded).source
        attention = self.blocks[0].attention
        width, count = 2 * attention.heads * attention.head_size, len(encoded.mask)
        return BeamState(
            BeamRoom(encoded.states.new_empty(len(self.blocks), PLACES, count, width)),
            torch.empty(count, 0, dtype=torch.int32),
            tuple(SourceKeys.of(memory) for memory in sources if memory is not None),
            torch.arange(count),
        )

    def step(self, tokens: Tensor, state: BeamState, *, weights: bool = False) -> Step:
        assert not weights
        count, position = state.ancestors.shape
        room = state.room.with_place(position, count)
        x = self.decoder.embed(tokens[:, None], position).squeeze(1)
        for number, block in enumerate(self.blocks):
            x = self._attend_past(x, block, room.pairs[number], state.ancestors)
            if state.sources:
                x = self._attend_source(x, block, state.sources[number], state.sentences)
            x = block.fed(x)
        own = torch.arange(count, dtype=torch.int32)[:, None]
        new = replace(state, room=room, ancestors=torch.cat([state.ancestors, own], 1))
        return Step(self.project(self.decoder.norm(x)), new)

    def project(self, outputs: Tensor) -> Tensor:
        return self.decoder.project(outputs)

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        return self.decoder.forward(inputs, encoded, weights=weights)

    def _attend_past(
        self, x: Tensor, block: DecoderBlock, room: Tensor, ancestors: Tensor
    ) -> Tensor:
        around, attention = block.around_attention, block.attention
        linears = attention.query, attention.key, attention.value
        matrices = cast(PackedLinear, attention.query).matrices
        new = matrices.joined(around.before(x), linears)
        if attention.rotary is not None:
            pairs = new.unflatten(1, (3, attention.heads, 1, -1))[:, :2]  # queries and keys
            pairs.copy_(attention.rotary.turn(pairs, ancestors.shape[1]))
        scale = beam_steps.scale(attention)
        context = self.kernels.attend_past(new, room, ancestors, attention.heads, scale)
        return around.after(x, attention.output(context))

    def _attend_source(
        self, x: Tensor, block: DecoderBlock, source: SourceKeys, sentences: Tensor
    ) -> Tensor:
        around, cross = block.around_cross, block.cross
        assert around is not None
        assert cross is not None
        query, scale = cross.query(around.before(x)), beam_steps.scale(cross)
        context = self.kernels.attend_source(query, *source, sentences, cross.heads, scale)
        return around.after(x, cross.output(context))


def for_beams(decoder: TransformerDecoder, encoded: Encoded) -> BeamDecoder | None:
    """The same decoder for a search of these sources; None where it must be run as it is."""
    blocks = cast(Sequence[DecoderBlock], decoder.blocks)
    states = encoded.states
    plain = (
        states.device.type == "cpu"
        and states.dtype == torch.float32
        and not decoder.training
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and states.shape[1] > 0
        and all(map(_is_plain, blocks))
        and not any(part._forward_hooks or part._forward_pre_hooks for part in decoder.modules())
    )
    kernels = beam_steps.kernels() if plain else None
    return None if kernels is None else BeamDecoder(decoder, kernels)


def _is_plain(block: DecoderBlock) -> bool:
    cross = block.cross
    return (
        isinstance(block.attention.query, PackedLinear)
        and block.attention.query.weight.dtype == torch.float32
        and beam_steps.is_plain(block.attention, causal=True)
        and (cross is None or (cross.rotary is None and beam_steps.is_plain(cross, causal=False)))
    )
