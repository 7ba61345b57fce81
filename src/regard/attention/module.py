"""Attention with parameters, as a module: `Attention` has one head; what `MultiHead` shares with it.

    attention = regard.Attention(query_size=512, key_size=512, score="additive")
    memory = attention.remember(states, mask)           # keys are projected once per source
    context, weights, _ = attention(query, memory, weights=True)      # at every step

Legend: query (..., Lq, Dq), states (..., Lk, Dk), mask (..., Lk): True where a state is real.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Generator, Tensor, nn

from regard.attention.argument_checks import (
    check_cap,
    check_counts,
    check_pairs,
    check_region,
    check_score_sizes,
    check_width,
    real_states,
    takes_any_size,
)
from regard.attention.call import Attended, AttentionCall, refusal, takes_arguments_of
from regard.attention.limits import Limits, overflows, without_empty, without_spoilt
from regard.attention.memory import Memory
from regard.attention.normalizers import Normalizer, as_normalizer, usual_softmax
from regard.attention.plans.plan import Plan
from regard.attention.region import Region
from regard.attention.regions import Everywhere, as_region
from regard.attention.scores import Score, as_score
from regard.attention.select import without
from regard.attention.shapes import as_summed, broadcast
from regard.attention.weights.asked_weights import Weights
from regard.words import t


class AttentionModule(nn.Module):
    """What `Attention` and `MultiHead` have in common."""

    score: Score
    region: Region
    normalize: Normalizer
    query_size: int
    key_size: int | None
    dropout: float
    value_size: int
    nan_safe: bool
    cap: float | None  # no score passes it
    sinks: (
        nn.Parameter | None
    )  # (heads or 1,): beside the scores of a head, in the sum of its softmax
    projects_late: bool  # whether the score projects the keys only when they are recalled
    heads_axis: tuple[int, ...] = ()  # (-3,) where the tensors have an axis of heads

    @property
    def kind(self) -> Literal["general", "self"]:
        """ "self" if only the attended vectors enter the weights, "general" if another one does."""
        normalize = self.normalize
        blind = not normalize.needs_scores or (
            self.score.query_cancels and normalize.shift_invariant
        )
        return (
            "self" if self.key_size is None or (blind and not self.region.predicts) else "general"
        )

    @property
    def reach(self) -> float:
        """How many positions before its own a query can see at most; inf: all, or they are counted."""
        if not self.score.uses_keys:
            return math.inf
        patterns = self.region.patterns(1, 1)
        return max(p.before for p in patterns) if patterns else math.inf

    def project_query(self, query: Tensor, start: int) -> Tensor:
        return self.score.project_query(query)

    def project_key(self, states: Tensor, start: int) -> Tensor:
        return states

    def project_value(self, values: Tensor) -> Tensor:
        return values

    def recall(self, memory: Memory) -> tuple[Tensor, Tensor]:
        """Keys and values as the score pairs them."""
        keys = memory.keys
        return self.score.project_key(keys) if self.projects_late else keys, memory.values

    def merge(self, context: Tensor) -> Tensor:
        return context

    def remember(
        self,
        states: Tensor,
        mask: Tensor | None = None,
        *,
        lengths: Tensor | Sequence[int] | None = None,
        values: Tensor | None = None,
        start: int = 0,
    ) -> Memory:
        """Keys and values of these states, once. `mask` (..., Lk): True where a state is real.

        lengths (...), instead of a mask: how many are. start: the position of the first of them.
        """
        size = self.query_size if self.key_size is None else self.key_size
        check_width("states", states, size)
        same = values is None or values is states
        values = states if values is None else values
        check_width("values", values, self.value_size)
        mask = real_states(mask, lengths, states)
        if mask is not None:
            if mask.shape != states.shape[:-1] or mask.dtype != torch.bool:
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
            if self.nan_safe:  # before what is not real meets a parameter: NaN times 0 is NaN
                states = without(states, ~mask)
                values = states if same else without(values, ~mask)
        if not self.nan_safe:
            return Memory(self, *self._projected(states, values, start), mask, start)
        states, values, bad = without_spoilt(states, values)
        keys, values = self._projected(states, values, start)
        values = as_summed(values)
        if keys is not states or values is not states:  # finite states can have keys that are not
            uses_keys = self.score.uses_keys
            keys, values, overflowed = without_spoilt(keys, values, uses_keys=uses_keys)
            for axis in self.heads_axis:  # what spoils one head spoils what they are merged into
                overflowed = overflowed.any(axis + 1)
            bad = bad | overflowed
        return Memory(self, keys, values, mask, start, spoilt=bad)

    def _projected(self, states: Tensor, values: Tensor, start: int) -> tuple[Tensor, Tensor]:
        keys = self.project_key(states, start)
        keys = keys if self.projects_late else self.score.project_key(keys)
        return keys, self.project_value(values)

    def prepare(
        self,
        query: Tensor,
        source: Tensor | Memory | None = None,
        *,
        mask: Tensor | None = None,
        lengths: Tensor | Sequence[int] | None = None,
        bias: Tensor | None = None,
        offset: int | None = None,
        weights: bool | Weights = False,
        generator: Generator | None = None,
    ) -> AttentionCall:
        """What `forward` runs and `explain` explains. The arguments are told at `forward`."""
        check_width("query", query, self.query_size)
        if isinstance(weights, Weights) and weights.heads is not None and not self.heads_axis:
            raise ValueError(t("{kind} has one head: leave heads out", kind=type(self).__name__))
        if lengths is not None:
            if isinstance(source, Memory):
                raise ValueError(
                    t("a Memory knows which states are real: give lengths to remember")
                )
            mask = real_states(mask, lengths, query if source is None else source)
        if self.region.leads:
            check_region(self.region, self._lead(query, source))
        query, memory, pairs = self._asked(query, source, mask, offset)
        mask = None if memory.mask is None else memory.mask[..., None, :]
        if pairs is not None:
            mask = pairs if mask is None else mask & pairs
        region = self.region if offset is None else self.region.at(offset - memory.start)
        limits = Limits.of(region, query, query.shape[-2], memory.length, mask, self.score)
        if self.nan_safe and limits.keys:
            query = without_empty(query, limits)
        for axis in self.heads_axis:
            limits = limits.for_heads(axis)
        keys, values = self.recall(memory)
        spoilt = None
        if self.nan_safe and 0 not in (limits.queries, limits.keys):
            if isinstance(source, Memory) and (pairs is not None or not limits.everywhere):
                unseen = limits.unseen  # what is not real was replaced before
                if unseen is not None:
                    keys, values = without(keys, unseen), without(values, unseen)
            if memory.spoilt is not None:
                bad = memory.spoilt.unsqueeze(-2) if self.heads_axis else memory.spoilt
                spoilt = limits.spoilt(bad, values.dtype)
        return AttentionCall.of(
            self.score,
            self.normalize,
            self.project_query(query, offset or 0),
            keys,
            values,
            limits,
            bias=bias,
            cap=self.cap,
            sinks=self.sinks,
            dropout=self.dropout,
            training=self.training,
            weights=weights,
            generator=generator,
            taint=spoilt,
            asking=self._asking(source, memory) if isinstance(weights, Weights) else None,
            # of keys alone: a region may leave a row of padding without any
            no_row_is_empty=not self.nan_safe and limits.everywhere and pairs is None,
            memory=memory,
        )

    @takes_arguments_of(prepare)
    def forward(self, *given: Any, **choices: Any) -> Attended:
        """query (..., Lq, query_size) over a `Memory`, or over states (..., Lk, key_size).

        Without a source it attends to itself. mask: (..., Lk), which states are real, or
        (..., Lq, Lk), which pairs are allowed. lengths: (...), instead of a mask, how many states are real.
        bias: added to the scores of this call, broadcast to
        (..., Lq, Lk), with heads (..., heads, Lq, Lk), Lk the keys of the memory. offset: the position of
        the first query among the keys, for regions and rotary positions, when a target is decoded step
        by step.
        """
        try:
            call = self.prepare(*given, **choices)
        except TypeError as error:
            raise refusal(error, type(self).__name__, self.prepare, given, choices) from None
        attended = call.run()
        return Attended(self.merge(attended.context), attended.weights, attended.choice)

    @takes_arguments_of(prepare)
    def explain(self, *given: Any, **choices: Any) -> Plan:
        """Which path `forward` takes for the same arguments, why, and what it costs. Print it."""
        try:
            call = self.prepare(*given, **choices)
        except TypeError as error:
            name = f"{type(self).__name__}.explain"
            raise refusal(error, name, self.prepare, given, choices) from None
        return call.plan()

    def _keep_slots(self, cap: float | None, sinks: bool, heads: int) -> None:
        """What stands beside the scores; the normaliser is there already."""
        if sinks and not usual_softmax(self.normalize):
            raise ValueError(
                t(
                    "sinks stand in the sum of a softmax: {normalize} has no such sum",
                    normalize=repr(self.normalize),
                )
            )
        self.cap = check_cap(cap) or None
        self.sinks = nn.Parameter(torch.zeros(heads)) if sinks else None

    def _asked(
        self,
        query: Tensor,
        source: Tensor | Memory | None,
        mask: Tensor | None,
        offset: int | None,
    ) -> tuple[Tensor, Memory, Tensor | None]:
        """The query, what it attends to, and the mask of pairs, if that is what was given."""
        if isinstance(source, Memory):
            if source.attention is not self:
                raise ValueError(
                    t("this Memory was made by another attention: use its own remember")
                )
            if mask is not None:
                check_pairs(mask, query, source.length)
            return query, source, mask
        states = query if source is None else source
        if source is None and self.key_size is not None:
            raise ValueError(
                t(
                    "this attention was made for a source of its own (key_size was given): pass "
                    "states or a Memory. For self-attention leave key_size out"
                )
            )
        real = mask if mask is not None and mask.dim() == states.dim() - 1 else None
        pairs = mask if real is None else None
        if pairs is not None:
            check_pairs(pairs, query, states.shape[-2])
        if self.nan_safe:  # before what nobody may attend meets a parameter
            unseen = self._unseen(query.shape[-2], states, real, pairs, offset)
            states = states if unseen is None else without(states, unseen)
        memory = self.remember(states, real)
        if self.nan_safe and source is None and real is not None:
            # a row of padding that overflows would spoil the gradients of all that it attends to
            query = without(query, ~real & overflows(query))
        return query, memory, pairs

    def _lead(self, query: Tensor, source: Tensor | Memory | None) -> tuple[int, ...]:
        """The leading axes, without that of heads."""
        if source is None:
            return tuple(query.shape[:-2])
        states = source.keys if isinstance(source, Memory) else source
        own = isinstance(source, Memory) and bool(self.heads_axis)
        return broadcast(query.shape[:-2], states.shape[: -3 if own else -2])

    def _asking(self, source: Tensor | Memory | None, memory: Memory) -> Tensor | None:
        """Which queries are no padding, where they are the states themselves: (..., Lq)."""
        if source is not None or memory.mask is None:
            return None
        return memory.mask[..., None, :] if self.heads_axis else memory.mask

    def _unseen(
        self,
        queries: int,
        states: Tensor,
        real: Tensor | None,
        pairs: Tensor | None,
        offset: int | None,
    ) -> Tensor | None:
        """Which states no query may attend, by the region and a mask of pairs: (..., Lk)."""
        region = self.region if offset is None else self.region.at(offset)
        if region.predicts:
            region = Everywhere()
        elif region.needs_lengths and real is not None:
            pairs = real[..., None, :]
        return Limits.of(region, states, queries, states.shape[-2], pairs, self.score).unseen

    def extra_repr(self) -> str:
        region = "" if isinstance(self.region, nn.Module) else f"region={self.region!r}, "
        more = "" if self.cap is None else f", cap={self.cap:g}"
        more += "" if self.sinks is None else ", sinks=True"
        return f"kind={self.kind!r}, {region}normalize={self.normalize!r}, dropout={self.dropout}{more}"


class Attention(AttentionModule):
    """context = normalize(score(q, h_j) in region) @ h: one head, the states themselves as values.

    Without `key_size` it is self-attention. score, region, normalize: mechanisms or their names.
    bridge: where a score compares vectors of one size, as dot and cosine do, and keys have another than
    queries, a matrix brings the keys to the size of the queries; values stay as they are.
    cap: the scores never pass it, cap · tanh(score / cap). sinks: a learnt number, from 0 on, beside the
    scores, exp(s) / (exp(sink) + Σ exp(s)), so that a query may attend to next to nothing.
    nan_safe: NaN and inf in what may not be attended to reach nothing, and a query without any key gets 0.
    False promises that all states are finite and that every row of a batch has a real one: nothing is
    checked, which is a little faster inside a network whose states are its own.

    >>> attention = regard.Attention(8, 6, score="additive", region="predicted-window(width=10)")
    >>> attention(torch.randn(2, 1, 8), torch.randn(2, 5, 6)).context.shape
    torch.Size([2, 1, 6])
    """

    def __init__(
        self,
        query_size: int,
        key_size: int | None = None,
        *,
        score: Score | str | None = None,
        region: Region | str | None = None,
        normalize: Normalizer | str | None = None,
        dropout: float = 0.0,
        cap: float | None = None,
        sinks: bool = False,
        bridge: bool = False,
        nan_safe: bool = True,
    ) -> None:
        super().__init__()
        check_counts(query_size=query_size, key_size=key_size)
        self.query_size, self.key_size = query_size, key_size
        self.dropout, self.nan_safe = dropout, nan_safe
        self.value_size = keys = query_size if key_size is None else key_size
        self.score = as_score(score, query_size=query_size, key_size=keys)
        self.bridge = None
        if bridge and keys != query_size and takes_any_size(self.score):
            self.bridge, keys = nn.Linear(keys, query_size, bias=False), query_size
        self.region = as_region(region, query_size=query_size)
        self.normalize = as_normalizer(normalize)
        self._keep_slots(cap, sinks, 1)
        self.projects_late = not self.score.uses_keys  # positions are known once all are there
        check_score_sizes(self.score, query_size, keys)

    def project_key(self, states: Tensor, start: int) -> Tensor:
        return states if self.bridge is None else self.bridge(states)
