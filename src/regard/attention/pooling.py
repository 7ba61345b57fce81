"""From a sequence of states to one vector.

    pooled = regard.pooling.mean(states, mask)                      # or last, max
    pooled = regard.pooling.AttentionPooling(256, hidden=128)(states, mask)

states (..., L, D), mask (..., L) bool, True where a state is real, or lengths (...), how many are; with
`batch_first=False` the length is the first axis of states and mask, and of what is returned. Every pooling
gives

    vector    (..., D)       Σ_t α_t h_t
    sequence  (..., L, D)    α_t h_t
    weights   (..., L)       α; a sequence with no real state has weights 0 and vector 0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from regard.attention.argument_checks import real_mask
from regard.attention.attend import attend
from regard.attention.limits import source_lengths
from regard.attention.normalizers import Normalizer
from regard.attention.scores import Dot
from regard.attention.shapes import at_least_single
from regard.words import t


class Pooled(NamedTuple):
    """The pooled vector, the re-weighted sequence, and the weights."""

    vector: Tensor
    sequence: Tensor
    weights: Tensor


class Pooling(Protocol):
    """A pooling without parameters."""

    def __call__(
        self,
        states: Tensor,
        mask: Tensor | None = None,
        *,
        lengths: Tensor | Sequence[int] | None = None,
        batch_first: bool = True,
    ) -> Pooled: ...


def pooling(weigh: Callable[[Tensor, Tensor | None], Tensor]) -> Pooling:
    """The pooling by these weights, of states (..., L, D) and their mask (..., L)."""

    def pool(
        states: Tensor,
        mask: Tensor | None = None,
        *,
        lengths: Tensor | Sequence[int] | None = None,
        batch_first: bool = True,
    ) -> Pooled:
        states, mask = _batch_first(states, mask, lengths, batch_first)
        return _weighted(weigh(states, mask), states, mask, batch_first)

    for name in ("__name__", "__qualname__", "__doc__"):  # the signature stays its own
        setattr(pool, name, getattr(weigh, name))
    return pool


@pooling
def last(states: Tensor, mask: Tensor | None) -> Tensor:
    """h_T, T the last real step of each row."""
    at = source_lengths(mask)
    at = (
        torch.full(states.shape[:-2], states.shape[-2], device=states.device)[..., None]
        if at is None
        else at
    )
    steps = torch.arange(1, states.shape[-2] + 1, device=states.device)
    return (steps == at).to(states.dtype)


@pooling
def mean(states: Tensor, mask: Tensor | None) -> Tensor:
    """1/T Σ h_t over the T real steps."""
    real = torch.ones_like(states[..., 0], dtype=torch.bool) if mask is None else mask
    count = real.sum(-1, keepdim=True).clamp(min=1)
    # in float32 at least: float16 ends at 65,504 steps
    return (real / count.to(at_least_single(states).dtype)).to(states.dtype)


@pooling
def max(states: Tensor, mask: Tensor | None) -> Tensor:
    """max_t h_t, channel by channel: a hard attention for each, so its weights are (..., L, D)."""
    if states.shape[-2] == 0:
        return torch.zeros_like(states)
    scores = states if mask is None else states.masked_fill(~mask[..., None], -math.inf)
    index = scores.detach().argmax(-2, keepdim=True)
    return torch.zeros_like(states).scatter(-2, index, 1.0)


class AttentionPooling(nn.Module):
    """A = softmax(u · tanh(W h_t + b)), or softmax(w · h_t) without `hidden`; vector = A h

    — Yang et al. 2016 (HAN), https://aclanthology.org/N16-1174; with r = `hops` > 1 Lin et al. 2017,
    https://arxiv.org/abs/1703.03130: vector (..., r, D), weights (..., r, L), sequence (..., r, L, D),
    and `penalty(weights)` = ‖A Aᵀ - I‖²_F to be added to the loss.
    """

    kind: Literal["self"] = "self"  # nothing but the states enters the weights

    def __init__(
        self,
        size: int,
        hidden: int | None = None,
        *,
        hops: int = 1,
        normalize: Normalizer | str | None = None,
        batch_first: bool = True,
    ) -> None:
        super().__init__()
        self.hops, self.normalize, self.batch_first = hops, normalize, batch_first
        self.hidden = nn.Linear(size, hidden) if hidden is not None else None
        bound = 1 / math.sqrt(hidden or size)
        self.query = nn.Parameter(torch.empty(hops, hidden or size).uniform_(-bound, bound))

    def forward(
        self,
        states: Tensor,
        mask: Tensor | None = None,
        *,
        lengths: Tensor | Sequence[int] | None = None,
    ) -> Pooled:
        states, mask = _batch_first(states, mask, lengths, self.batch_first)
        if states.shape[-1] != (size := self._size()):
            raise ValueError(
                t(
                    "states must be (..., L, {size}), given {states_shape}",
                    size=size,
                    states_shape=tuple(states.shape),
                )
            )
        if mask is not None:  # before a parameter meets them
            states = states.masked_fill(~mask[..., None], 0.0)
        key = states if self.hidden is None else torch.tanh(self.hidden(states))
        attended = attend(
            self.query.expand(*states.shape[:-2], *self.query.shape),
            key,
            states,
            score=Dot(),
            normalize=self.normalize,
            mask=None if mask is None else mask[..., None, :],
            training=self.training,
            weights=True,
        )
        weights = attended.weights
        assert weights is not None
        sequence = weights[..., None] * states[..., None, :, :]
        pooled = Pooled(attended.context, sequence, weights)
        if self.hops == 1:
            pooled = Pooled(
                *(x.squeeze(axis) for x, axis in zip(pooled, (-2, -3, -2), strict=True))
            )
        return pooled if self.batch_first else _time_first(pooled, length_axes=(None, -2, -1))

    def _size(self) -> int:
        return self.query.shape[-1] if self.hidden is None else self.hidden.in_features

    @staticmethod
    def penalty(weights: Tensor) -> Tensor:
        """‖A Aᵀ - I‖²_F of each row: (..., r, L) -> (...). 0 iff the hops look at different single states."""
        gram = weights @ weights.mT
        return (
            (gram - torch.eye(gram.shape[-1], device=gram.device, dtype=gram.dtype))
            .square()
            .sum((-2, -1))
        )


class HierarchicallyPooled(NamedTuple):
    """A document's vector, its sentences re-weighted, their weights, and the same of the words in each."""

    vector: Tensor  # (B, D)
    sequence: Tensor  # (B, S, D)
    weights: Tensor  # (B, S)
    words: Pooled  # of each sentence: vector (B, S, D), sequence (B, S, W, D), weights (B, S, W)

    @property
    def display(self) -> Tensor:
        """√p_s · p_w, what Yang et al. colour a word with: (B, S, W)."""
        return self.weights.sqrt()[..., None] * self.words.weights


class Hierarchical(nn.Module):
    """Words → sentences → document, attention at both levels — Yang et al. 2016,
    https://aclanthology.org/N16-1174

    words (B, S, W, size), mask (B, S, W): True where a word is real; a sentence with no word is
    not attended. `between` encodes the sentence vectors, called with them and their mask (B, S);
    `sentence_size` is the size of what it gives.
    """

    kind: Literal["self"] = "self"

    def __init__(
        self,
        size: int,
        hidden: int | None = None,
        *,
        between: Callable[[Tensor, Tensor], Tensor] | None = None,
        sentence_size: int | None = None,
    ) -> None:
        super().__init__()
        self.words = AttentionPooling(size, hidden)
        self.sentences = AttentionPooling(sentence_size or size, hidden)
        self.between = between

    def forward(
        self,
        words: Tensor,
        mask: Tensor | None = None,
        *,
        lengths: Tensor | Sequence[int] | None = None,
    ) -> HierarchicallyPooled:
        """lengths (B, S), instead of a mask: how many words each sentence has."""
        mask = real_mask(mask, lengths, words.shape[:-2], words.shape[-2], words.device)
        pooled = self.words(words, mask)
        real = torch.ones(words.shape[:-2], dtype=torch.bool, device=words.device)
        real = real if mask is None else mask.any(-1)
        sentences = pooled.vector if self.between is None else self.between(pooled.vector, real)
        vector, sequence, weights = self.sentences(sentences, real)
        return HierarchicallyPooled(vector, sequence, weights, words=pooled)


def _batch_first(
    states: Tensor, mask: Tensor | None, lengths: Tensor | Sequence[int] | None, batch_first: bool
) -> tuple[Tensor, Tensor | None]:
    if states.dim() < 2:
        raise ValueError(
            t("states must be (..., L, D), given {states_shape}", states_shape=tuple(states.shape))
        )
    if lengths is not None:
        states = states if batch_first else states.movedim(0, -2)
        real = real_mask(mask, lengths, states.shape[:-2], states.shape[-2], states.device)
        return states, None if real is None else real.expand(states.shape[:-1])
    if mask is not None and (mask.shape != states.shape[:-1] or mask.dtype != torch.bool):
        raise ValueError(
            t(
                "the mask of states {states_shape} must be bool {value}, True where a state is "
                "real; given {dtype} {mask_shape}",
                states_shape=tuple(states.shape),
                value=tuple(states.shape[:-1]),
                dtype=mask.dtype,
                mask_shape=tuple(mask.shape),
            )
        )
    if batch_first:
        return states, mask
    return states.movedim(0, -2), None if mask is None else mask.movedim(0, -1)


def _weighted(weights: Tensor, states: Tensor, mask: Tensor | None, batch_first: bool) -> Pooled:
    """weights (..., L), or (..., L, D) channel by channel."""
    each = weights if weights.dim() == states.dim() else weights[..., None]
    if mask is not None:  # replaced, not multiplied: what is not real may be NaN
        each = each.masked_fill(~mask[..., None], 0.0)
        states = states.masked_fill(~mask[..., None], 0.0)
    weights = each if weights.dim() == states.dim() else each.squeeze(-1)
    sequence = each * states
    pooled = Pooled(sequence.sum(-2), sequence, weights)
    if batch_first:
        return pooled
    per_channel = weights.dim() == states.dim()
    return _time_first(pooled, length_axes=(None, -2, -2 if per_channel else -1))


def _time_first(pooled: Pooled, length_axes: tuple[int | None, ...]) -> Pooled:
    moved = (
        x if axis is None else x.movedim(axis, 0)
        for x, axis in zip(pooled, length_axes, strict=True)
    )
    return Pooled(*moved)
