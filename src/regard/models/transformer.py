"""The two halves of a Transformer (Vaswani et al. 2017): stacks of blocks around any attention.

Legend: B sentences, S source positions, N hypotheses, T target positions, D features, V tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.attention.memory import Memory
from regard.layers.contracts import Decoded, Decoder, Encoded, Prefilled, Step
from regard.layers.embedding import without_padding
from regard.layers.transformer_blocks import DecoderBlock
from regard.models.attention_options import HeadOptions
from regard.models.beam_decoder import for_beams
from regard.models.encoder_decoder import first_state
from regard.models.transformer_options import BlockOptions
from regard.models.transformer_parts import (
    make_decoder_block,
    make_embedding,
    make_encoder_block,
    make_last_norm,
)


class TransformerEncoder(nn.Module):
    """source (B, S), mask (B, S) -> states (B, S, D) of a stack of blocks.

    first: BOS is put before the source; `summary` is its state, which stands for the whole source.
    """

    def __init__(
        self,
        vocabulary: int,
        layers: int,
        options: BlockOptions,
        attention: HeadOptions,
        *,
        first: int | None = None,
    ) -> None:
        super().__init__()
        self.embed = make_embedding(options, vocabulary)
        self.blocks = nn.ModuleList(
            make_encoder_block(options, attention, layer) for layer in range(layers)
        )
        self.norm = make_last_norm(options)
        self.output_size, self.first = options.size, first

    @property
    def longest(self) -> int | None:
        """The most tokens of a source, EOS included; None: any number."""
        longest = self.embed.positions.longest
        return longest if longest is None or self.first is None else longest - 1

    def forward(self, source: Tensor, mask: Tensor) -> Encoded:
        if self.first is not None:
            begin = source.new_full((len(source), 1), self.first)
            source = torch.cat([begin, source], 1)
            mask = torch.cat([mask.new_ones(len(mask), 1), mask], 1)
        # padding is 0 when it comes in, whatever its vector: 0 · NaN is NaN in the gradients of all weights
        x, keys = self.embed(source).masked_fill(~mask[..., None], 0.0), never_empty(mask)
        for block in self.blocks:
            x = block(x, keys)
        # and when it goes out, whatever the attention of its positions was
        states = self.norm(x).masked_fill(~mask[..., None], 0.0)
        return Encoded(states, mask, first_state(states))


@dataclass(frozen=True)
class TransformerState:
    """The keys and values of all that was read; of the source once for all hypotheses of a sentence."""

    past: tuple[Memory | None, ...]  # of every block, N hypotheses; None before the first step
    source: tuple[Memory | None, ...]  # of every block, B sentences; None: there is no source
    mask: Tensor  # (B, S): True where a source token is real
    position: int = 0

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> TransformerState:
        source, mask = self.source, self.mask
        if sentences is not None:
            source = tuple(None if m is None else m.select(sentences) for m in source)
            mask = mask.index_select(0, sentences)
        past = tuple(None if m is None else m.select(rows) for m in self.past)
        return replace(self, past=past, source=source, mask=mask)


class TransformerDecoder(nn.Module):
    """p(y_t | y_<t, x) = softmax(W h_t): h of a stack of blocks over y_1 … y_(t-1) and the source's states.

    Steps keep keys and values, those that a region can still see, so a token is never read twice.
    What is reported as attended is the mean over the heads of the last block but one, the best
    alignment of a Transformer — Garg et al. 2019, https://arxiv.org/abs/1909.02074. Of one or two blocks it
    is the last: the first asks with little more than the word before.
    """

    def __init__(
        self,
        vocabulary: int,
        layers: int,
        options: BlockOptions,
        attention: HeadOptions,
        cross: HeadOptions | None = None,
    ) -> None:
        super().__init__()
        self.embed = make_embedding(options, vocabulary)
        self.blocks = nn.ModuleList(
            make_decoder_block(options, attention, cross, layer) for layer in range(layers)
        )
        self.norm = make_last_norm(options)
        self.output = nn.Linear(options.size, vocabulary)
        self.reported = layers - (2 if layers > 2 else 1)

    @property
    def longest(self) -> int | None:
        return self.embed.positions.longest

    def start(self, encoded: Encoded) -> TransformerState:
        nothing = (None,) * len(self.blocks)
        return TransformerState(nothing, self._sources(encoded), encoded.mask)

    def for_search(self, encoded: Encoded) -> Decoder:
        """This decoder, or one that takes the same steps faster on this machine."""
        return cast(Decoder, for_beams(self, encoded) or self)

    def step(self, tokens: Tensor, state: TransformerState, *, weights: bool = False) -> Step:
        x = self.embed(tokens[:, None], state.position)
        x, past, attended = self._run(x, state, weights)
        seen = None
        if attended is not None:
            weighed = attended.weights
            seen = Attended(
                attended.context.squeeze(1), None if weighed is None else weighed.squeeze(1)
            )
        new = replace(state, past=past, position=state.position + 1)
        return Step(self.project(x.squeeze(1)), new, seen)

    def prefill(
        self, tokens: Tensor, state: TransformerState, *, weights: bool = False
    ) -> Prefilled:
        x = without_padding(self.embed(tokens, state.position), tokens)
        x, past, attended = self._run(x, state, weights)
        new = replace(state, past=past, position=state.position + tokens.shape[1])
        return Prefilled(x, new, attended)

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        read = self.prefill(inputs, self.start(encoded), weights=weights)
        return Decoded(read.outputs, read.attended)

    def project(self, outputs: Tensor) -> Tensor:
        return self.output(outputs)

    def _sources(self, encoded: Encoded) -> tuple[Memory | None, ...]:
        states, keys = encoded.states, never_empty(encoded.mask)
        return tuple(
            None if block.cross is None else block.cross.remember(states, keys)
            for block in cast(list[DecoderBlock], self.blocks)
        )

    def _run(
        self, x: Tensor, state: TransformerState, weights: bool
    ) -> tuple[Tensor, tuple[Memory, ...], Attended | None]:
        """x (N, L, D), the first of the L at the position of the state."""
        kept, shown = [], None
        parts = zip(self.blocks, state.past, state.source, strict=True)
        for number, (block, past, source) in enumerate(parts):
            asked = weights and number == self.reported
            made = block(x, past, source, start=state.position, weights=asked)
            x = made.output
            kept.append(made.past)
            if number == self.reported:
                shown = made.attended
        if shown is not None:
            shown = Attended(shown.context, _over_heads(shown.weights, state.mask))
        return self.norm(x), tuple(kept), shown


def never_empty(mask: Tensor) -> Tensor:
    """An all-padding source is left unmasked; its result is never used."""
    return mask | ~mask.any(-1, keepdim=True)


def _over_heads(weights: Tensor | None, mask: Tensor) -> Tensor | None:
    """(N, H, L, S) -> (N, L, S), 0 where mask (B, S) says that nothing is real."""
    if weights is None:
        return None
    real = mask.repeat_interleave(len(weights) // len(mask), 0)
    return weights.mean(1).masked_fill(~real[:, None], 0.0)
