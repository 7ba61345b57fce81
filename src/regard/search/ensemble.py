"""Several models that decode as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Self

import torch
from torch import Tensor, nn

from regard.attention.call import Attended
from regard.layers.contracts import (
    Decoded,
    Decoder,
    Encoded,
    State,
    Step,
    Translator,
    longest_target,
)
from regard.words import t


@dataclass(frozen=True)
class EnsembleEncoded(Encoded):
    """A source as each member encodes it; states, mask and summary are the first member's."""

    members: tuple[Encoded, ...] = ()

    @classmethod
    def of(cls, members: Sequence[Encoded]) -> EnsembleEncoded:
        first = members[0]
        return cls(first.states, first.mask, first.summary, first.final, tuple(members))

    def select(self, sentences: Tensor) -> EnsembleEncoded:
        return EnsembleEncoded.of([member.select(sentences) for member in self.members])


@dataclass(frozen=True)
class EnsembleState:
    members: tuple[State, ...]

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> Self:
        return type(self)(tuple(member.select(rows, sentences) for member in self.members))


class EnsembleDecoder:
    """p(y) = 1/n Σ_m p_m(y); the attention is the mean of those members that attend to the same source

    — so Luong et al. 2015, https://arxiv.org/abs/1508.04025, combine global and local attention. The
    members share a vocabulary; `start` and `forward` take an EnsembleEncoded.
    """

    def __init__(self, decoders: Sequence[Decoder]) -> None:
        if not decoders:
            raise ValueError(t("an ensemble needs at least one model"))
        self.decoders = tuple(decoders)

    @property
    def longest(self) -> int | None:
        """The shortest limit of any member."""
        limits = [longest_target(decoder) for decoder in self.decoders]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def copies(self) -> bool:
        """Whether words of the source have tokens of their own, as for one member."""
        return any(getattr(decoder, "copies", False) for decoder in self.decoders)

    def start(self, encoded: Encoded) -> EnsembleState:
        pairs = zip(self.decoders, self._members(encoded), strict=True)
        return EnsembleState(tuple(decoder.start(member) for decoder, member in pairs))

    def step(self, tokens: Tensor, state: State, *, weights: bool = False) -> Step:
        assert isinstance(state, EnsembleState)
        pairs = zip(self.decoders, state.members, strict=True)
        steps = [decoder.step(tokens, member, weights=weights) for decoder, member in pairs]
        logits = _mean_probability([step.logits for step in steps])
        states = EnsembleState(tuple(step.state for step in steps))
        return Step(logits, states, _mean_attention([step.attended for step in steps]))

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        pairs = zip(self.decoders, self._members(encoded), strict=True)
        decoded = [decoder.forward(inputs, member, weights=weights) for decoder, member in pairs]
        projected = zip(self.decoders, decoded, strict=True)
        logits = _mean_probability([decoder.project(d.outputs) for decoder, d in projected])
        return Decoded(logits, _mean_attention([d.attended for d in decoded]))

    def project(self, outputs: Tensor) -> Tensor:
        """The outputs of an ensemble are its logits."""
        return outputs

    def _members(self, encoded: Encoded) -> tuple[Encoded, ...]:
        if not isinstance(encoded, EnsembleEncoded) or len(encoded.members) != len(self.decoders):
            raise ValueError(
                t(
                    "an ensemble of {count} decoders needs the source as each of their encoders "
                    "gives it: EnsembleEncoded.of([...]), or Ensemble.encode",
                    count=len(self.decoders),
                )
            )
        return encoded.members


class Ensemble(nn.Module):
    """Models that share their vocabularies, as one model: regard.search's `EnsembleDecoder` decodes."""

    def __init__(self, models: Sequence[Translator]) -> None:
        super().__init__()
        self.decoder = EnsembleDecoder([model.decoder for model in models])
        self._models = tuple(models)
        self.models = nn.ModuleList(model for model in models if isinstance(model, nn.Module))

    def encode(self, source: Tensor, mask: Tensor) -> EnsembleEncoded:
        return EnsembleEncoded.of([model.encode(source, mask) for model in self._models])


def _mean_probability(logits: list[Tensor]) -> Tensor:
    """log(1/n Σ softmax(logits))"""
    if len(sizes := {one.shape[-1] for one in logits}) > 1:
        raise ValueError(
            t("the models of an ensemble must share a vocabulary; given vocabularies of ")
            + ", ".join(map(str, sorted(sizes)))
        )
    log_probs = (one.log_softmax(-1) for one in logits)
    return reduce(torch.logaddexp, log_probs) - math.log(len(logits))


def _mean_attention(attended: list[Attended | None]) -> Attended | None:
    """The mean of the weights, and the first context; no weights where the sources differ in length."""
    attending = [one for one in attended if one is not None]
    if not attending:
        return None
    weights = [one.weights for one in attending if one.weights is not None]
    same = len({one.shape for one in weights}) == 1
    return Attended(attending[0].context, torch.stack(weights).mean(0) if same else None)
