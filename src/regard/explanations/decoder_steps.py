"""All steps of a target at once, each from the state before it: what other weights do to one token alone.

A whole target for each token that is looked at costs a run over Q tokens for each of Q tokens. What came
before a token is not changed by it, so one step from there is enough, and all of them fit in one batch.
Legend: Q target tokens, N copies of steps, D features.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.attention.memory import Memory
from regard.attention.module import AttentionModule
from regard.attention.region import Pattern
from regard.layers.contracts import Decoder, Encoded, Step
from regard.layers.transformer_blocks import DecoderBlock
from regard.models.decoder import RecurrentDecoder, RecurrentState
from regard.models.transformer import TransformerDecoder, TransformerState


@dataclass(frozen=True)
class Steps:
    """The steps of one target, as if they were the same step of Q sentences."""

    decoder: RecurrentDecoder | TransformerDecoder
    inputs: Tensor  # (Q,): what each reads
    state: RecurrentState | TransformerState  # before each; of the sentence once for all
    embedded: Tensor | None = None  # (Q, D): the inputs at their own positions, where that matters

    @property
    def position(self) -> int:
        """Where all of them stand, for the decoder."""
        return self.state.position

    def at(self, rows: Tensor) -> Step:
        """The steps `rows` (N,), their weights reported."""
        state = self.state.select(rows, torch.zeros_like(rows))
        with self._in_place(rows):
            return cast(Decoder, self.decoder).step(self.inputs[rows], state, weights=True)

    @contextmanager
    def _in_place(self, rows: Tensor) -> Iterator[None]:
        if self.embedded is None:
            yield
            return
        vectors = self.embedded[rows, None]
        assert isinstance(self.decoder, TransformerDecoder)

        def placed(_: nn.Module, args: Any, output: Tensor) -> Tensor:
            return vectors

        handle = self.decoder.embed.register_forward_hook(placed)
        try:
            yield
        finally:
            handle.remove()


def all_steps(decoder: Decoder, inputs: Tensor, encoded: Encoded) -> Steps | None:
    """Of inputs (Q,) and one source; None where it matters to a step which one it is."""
    if not has_steps(decoder):
        return None
    if isinstance(decoder, RecurrentDecoder):
        return Steps(decoder, inputs, _recurrent(decoder, inputs, encoded))
    assert isinstance(decoder, TransformerDecoder)
    return Steps(decoder, inputs, _past(decoder, inputs, encoded), decoder.embed(inputs[None])[0])


def has_steps(decoder: Decoder) -> bool:
    """Whether one step alone is enough: it does not matter which one it is."""
    if isinstance(decoder, RecurrentDecoder):
        return _anywhere(decoder.attention) and not decoder.covers
    return isinstance(decoder, TransformerDecoder) and _is_plain(decoder)


def _recurrent(decoder: RecurrentDecoder, inputs: Tensor, encoded: Encoded) -> RecurrentState:
    state, states = decoder.start(encoded), []
    for token in inputs:
        states.append(state)
        state = cast(RecurrentState, decoder.step(token[None], state).state)
    fed = [s.fed for s in states if s.fed is not None]
    layers = zip(*(s.cells for s in states), strict=True)
    cells = tuple(tuple(map(torch.cat, zip(*layer, strict=True))) for layer in layers)
    return replace(states[0], cells=cells, fed=torch.cat(fed) if fed else None)


def _past(decoder: TransformerDecoder, inputs: Tensor, encoded: Encoded) -> TransformerState:
    """All steps as the last one, each with a mask for what comes after it."""
    state = decoder.start(encoded)
    for token in inputs:
        last, state = state, cast(TransformerState, decoder.step(token[None], state).state)
    count = len(inputs)
    earlier = torch.ones(count, count - 1, dtype=torch.bool, device=inputs.device).tril(-1)
    past = tuple(
        replace(m, keys=_for_each(m.keys, count), values=_for_each(m.values, count), mask=earlier)
        for m in cast(tuple[Memory, ...], state.past)
    )
    return replace(last, past=past)


def _for_each(x: Tensor, count: int) -> Tensor:
    """All but the last of (1, ..., Q, D), the same for every step: not copied"""
    return x[..., :-1, :].expand(count, *x.shape[1:-2], -1, -1)


def _anywhere(attention: AttentionModule | None) -> bool:
    """Whether it does not matter to its weights at which position a query stands."""
    return attention is not None and attention.region.forgets_positions


def _is_plain(decoder: TransformerDecoder) -> bool:
    """Whether all that comes before a position is seen from it alike, but for what was added to it."""
    for block in cast(list[DecoderBlock], decoder.blocks):
        past = block.attention
        patterns = past.region.patterns(1, 1)
        sees_all = patterns is not None and list(patterns) == [Pattern(after=0)]
        if not sees_all or past.rotary is not None or not past.score.uses_keys:
            return False
        if not _anywhere(block.cross):
            return False
    return True
