"""Teacher forcing by ratio: which of the decoder's inputs are the reference's tokens, which its own.

Legend: B sentences, T target positions, V tokens of the vocabulary.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from regard.attention.normalizers import HardChoice
from regard.data.tokenizer import EOS
from regard.layers.contracts import Decoder, Encoded


class UnrolledDecoder(NamedTuple):
    """What a decoder gave step by step, over T' ≤ T positions: no row was left to go on after them."""

    logits: Tensor  # (B, T', V)
    fed: Tensor  # (B, T'): what it read
    going: Tensor  # (B, T'): False from where a row had fed itself its own EOS
    choice: HardChoice | None  # (B, T') of a hard attention


def draw_forced(inputs: Tensor, ratio: float, draw: Literal["sequence", "step"]) -> Tensor:
    """forced (B, T): True where the reference is fed. Drawn for whole sequences or for each step."""
    rows, steps = inputs.shape
    drawn = torch.rand(rows, 1 if draw == "sequence" else steps) < ratio
    return drawn.to(inputs.device).expand(rows, steps)


def unroll(decoder: Decoder, encoded: Encoded, inputs: Tensor, forced: Tensor) -> UnrolledDecoder:
    """x_t = inputs_t where forced, else arg max of the logits of step t - 1; x_1 is always given.

    inputs (B, T), forced (B, T). No gradient passes through a token that is fed back, and a row
    that feeds itself EOS is over: what comes after it is not to be scored.
    """
    tokens, state = inputs[:, 0], decoder.start(encoded)
    going = torch.ones_like(forced[:, 0])
    steps: list[tuple[Tensor, Tensor, Tensor]] = []
    choices: list[HardChoice] = []
    for t in range(inputs.shape[1]):
        if t:
            own = steps[-1][0].detach().argmax(-1)
            tokens = torch.where(forced[:, t], inputs[:, t], own)
            going = going & (forced[:, t] | (own != EOS))
            if not going.any():
                break
        step = decoder.step(tokens, state)
        state = step.state
        steps.append((step.logits, tokens, going))
        if step.attended is not None and step.attended.choice is not None:
            choices.append(step.attended.choice)
    logits, fed, on = (torch.stack(x, 1) for x in zip(*steps, strict=True))
    choice = (
        HardChoice(*(torch.stack(x, 1) for x in zip(*choices, strict=True))) if choices else None
    )
    return UnrolledDecoder(logits, fed, on, choice)
