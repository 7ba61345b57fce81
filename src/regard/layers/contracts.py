"""The interface of encoders, decoders and searches: what implements it can be trained, searched and shown.

Legend: B sentences, S source positions, N hypotheses (N = B · k, those of a sentence side by side,
so hypothesis i belongs to sentence i // k), T target positions, V tokens of the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, Self

from torch import Tensor

from regard.attention.call import Attended


@dataclass(frozen=True)
class Encoded:
    """An encoder's output for a batch of sources."""

    states: Tensor  # (B, S, D)
    mask: Tensor  # (B, S): True where a state is real
    summary: Tensor  # (B, D'): the source in one vector
    final: tuple[Tensor, ...] = ()  # the cells' last states, for a decoder that starts from them
    words: Tensor | None = field(default=None, kw_only=True)
    # (B, S, W): where states are sentences, the weights of their words
    tokens: Tensor | None = field(default=None, kw_only=True)
    # (B, S): what was read, for a decoder that copies it

    def select(self, sentences: Tensor) -> Self:
        """With its sentences reordered, repeated or dropped."""
        return replace(
            self,
            states=self.states.index_select(0, sentences),
            mask=self.mask.index_select(0, sentences),
            summary=self.summary.index_select(0, sentences),
            final=tuple(x.index_select(0, sentences) for x in self.final),
            words=None if self.words is None else self.words.index_select(0, sentences),
            tokens=None if self.tokens is None else self.tokens.index_select(0, sentences),
        )


class State(Protocol):
    """Everything the next step needs. It is never changed in place and never kept on a module."""

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> Self:
        """With the hypotheses `rows` (N',), in their new order, of the given `sentences` (B',).

        rows are grouped by sentence, the same number for each, in the order of `sentences`.
        sentences None: all go on as they are, and what belongs to the source need not be copied.
        """
        ...


class Step(NamedTuple):
    """A decoder's output for the next token of every hypothesis."""

    logits: Tensor  # (N, V)
    state: State
    attended: Attended | None = (
        None  # context (N, D), weights (N, S) if asked for; None: no attention
    )
    bonus: Tensor | None = (
        None  # (N, V), at most 0: a beam is ranked by log-probabilities plus this
    )


class Decoded(NamedTuple):
    """A decoder's output for whole targets: `project(outputs)` are the logits."""

    outputs: Tensor  # (B, T, R)
    attended: Attended | None = None  # context (B, T, D), weights (B, T, S) if asked for
    penalty: Tensor | None = None  # (B,): what is added to the loss of each, if there is anything
    generated: Tensor | None = None  # (B, T): how far a token is no copy, where some may be copied


class Prefilled(NamedTuple):
    """A decoder's output for several tokens that follow a state: `project(outputs)` are the logits."""

    outputs: Tensor  # (B, T, R)
    state: State  # after the last of them
    attended: Attended | None = None  # context (B, T, D), weights (B, T, S) if asked for


class Decoder(Protocol):
    """It may have a `longest`, the most tokens a target can have, EOS included: see `longest_target`; and a
    `prefill(tokens, state, *, weights)`, which reads the next tokens (B, T) of one hypothesis for each
    sentence at once, as `Prefilled`, equal to the steps: with it a search reads given beginnings. And a
    `for_search(encoded)`: itself, or what takes the same steps faster where nothing is forced or looked at.
    """

    def start(self, encoded: Encoded) -> State:
        """The state before the first token: one hypothesis for each sentence."""
        ...

    def step(self, tokens: Tensor, state: State, *, weights: bool = False) -> Step:
        """Read tokens (N,), the last of every hypothesis, and predict the next ones."""
        ...

    def forward(self, inputs: Tensor, encoded: Encoded, *, weights: bool = False) -> Decoded:
        """All steps at once over inputs (B, T), the targets shifted right: equal to the steps."""
        ...

    def project(self, outputs: Tensor) -> Tensor:
        """(..., R) -> logits (..., V)"""
        ...


def longest_target(decoder: Decoder) -> int | None:
    """Most tokens of a target, if a decoder has learned no further positions; usually None: any number."""
    longest: int | None = getattr(decoder, "longest", None)
    return longest


class Translator(Protocol):
    """A source-to-target model: it encodes, and its decoder decodes."""

    decoder: Decoder

    def encode(self, source: Tensor, mask: Tensor) -> Encoded:
        """source (B, S) token ids, mask (B, S): True where a token is real."""
        ...
