"""What a region is, and the patterns of keys that the fast paths understand."""

from __future__ import annotations

import functools
import math
from typing import Any, Literal, NamedTuple, NoReturn

import torch
from torch import Tensor

from regard.words import t

FARTHEST = 1 << 40  # a position no tensor has

Align = Literal["start", "end"] | int | None


class Pattern(NamedTuple):
    """d mod rate = 0 and -after <= d <= before, for d = i + offset - j. Infinite: no bound."""

    before: float = math.inf
    after: float = math.inf
    rate: int = 1
    offset: int = 0

    @property
    def is_causal(self) -> bool:
        """Whether each query sees the keys up to its own number; in a graph a bool as well, not a symbol."""
        sides = self.before == math.inf and self.after == 0
        return True if sides and self.rate == 1 and self.offset == 0 else False  # noqa: SIM210

    def strided(self) -> Pattern:
        """The same keys counted in steps of `rate`; the offset must be a multiple of it."""
        before, after = (
            side if side == math.inf else side // self.rate for side in (self.before, self.after)
        )
        return Pattern(before, after, 1, self.offset // self.rate)

    def meet(self, other: Pattern, offset: int) -> Pattern:
        """Both at once, for queries that stand at `offset`."""
        before, after = min(self.before, other.before), min(self.after, other.after)
        return Pattern(before, after, math.lcm(self.rate, other.rate), offset)

    def between(self, places: Tensor, keys: Tensor) -> Tensor:
        """True where it holds of a query at i + offset and a key at j: (..., L), (Lk) -> (..., L, Lk).

        As `holds` of the distances, without the whole numbers of all pairs.
        """
        at = places[..., None]
        parts = []
        if self.before != math.inf:
            parts.append(keys >= at - int(self.before))
        if self.after != math.inf:
            parts.append(keys <= at + int(self.after))
        if self.rate > 1:
            parts.append(keys % self.rate == at % self.rate)
        if not parts:
            return torch.ones(*places.shape, len(keys), dtype=torch.bool, device=keys.device)
        return functools.reduce(torch.logical_and, parts)

    def holds(self, distance: Tensor) -> Tensor:
        allowed = distance % self.rate == 0
        if self.before != math.inf:
            allowed = allowed & (distance <= self.before)
        if self.after != math.inf:
            allowed = allowed & (distance >= -self.after)
        return allowed


def fixed(number: int | None) -> int:
    """A number of a mechanism, which a graph takes as it is: it may serve any length, but no other window."""
    assert number is not None
    return int(f"{number}") if torch.compiler.is_compiling() else number


class KeyStretch(NamedTuple):
    """The keys of a pattern that stand before `until` and, of each sequence, before its `ends`; in the
    document of the query, if there are `documents`. Unions of a few are what one kernel computes.
    """

    pattern: Pattern = Pattern()
    until: float = math.inf
    ends: Tensor | None = None  # (...), whole numbers
    documents: Tensor | None = None  # (..., 5, keys): `sequences.documents.document_bounds`

    @property
    def stands(self) -> bool:
        """Whether it matters where the queries stand."""
        return self.documents is not None or self.pattern._replace(offset=0) != Pattern()

    def meet(self, other: KeyStretch) -> KeyStretch | None:
        """Both at once; None: no stretch."""
        if self.stands and other.stands and self.pattern.offset != other.pattern.offset:
            return None
        ends = [x.ends for x in (self, other) if x.ends is not None]
        documents = [x.documents for x in (self, other) if x.documents is not None]
        if any(x is not ends[0] for x in ends) or any(x is not documents[0] for x in documents):
            return None
        offset = self.pattern.offset if self.stands else other.pattern.offset
        return KeyStretch(
            self.pattern.meet(other.pattern, offset),
            min(self.until, other.until),
            ends[0] if ends else None,
            documents[0] if documents else None,
        )


class Region:
    """Which keys a query may look at. `attend(..., region=...)` takes one, or its name.

    What a region can do, it says itself; one that says nothing is treated as if it could do nothing.
    Most are masks (`regions.Mask`) and write `mask`. A region that depends on what a query holds sets
    `predicts` and writes `place`.
    """

    predicts = (
        False  # `place` says which keys, by what the query holds; else `mask` does, by positions
    )
    composes = False  # &, | and ~ apply to it
    sees_all = False  # every query may look at every key
    forgets_positions = False  # it does not matter where a query stands
    needs_lengths = False  # `mask` asks where each source ends
    renormalize = False  # what `place` has weighed is divided by its sum

    @property
    def leads(self) -> list[tuple[int, ...]]:
        """The leading axes of what it holds of every sequence; none: it is the same for all of them."""
        return []

    def at(self, offset: int) -> Region:
        """The same region with the first query at position `offset` of the keys (one decoding step)."""
        return self

    def patterns(self, queries: int, keys: int) -> list[Pattern] | None:
        """The union of patterns that this region is, if it is one: what the fast paths understand."""
        return None

    def stretches(self, queries: int, keys: int) -> list[KeyStretch] | None:
        """The union of stretches that this region is, if it is one: what the kernel on a GPU understands."""
        patterns = self.patterns(queries, keys)
        return None if patterns is None else [KeyStretch(pattern) for pattern in patterns]

    def for_heads(self, axis: int) -> Region:
        """The same for all heads, which stand at this axis."""
        return self

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        """True where allowed: (queries, keys), or (..., queries, keys) for `lengths` (..., 1, 1)."""
        raise NotImplementedError(
            t("{kind} does not say where a query may look", kind=type(self).__name__)
        )

    def place(
        self, query: Tensor, keys: int, lengths: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """True where allowed, and what the weights are multiplied by, if anything: (..., Lq, keys)."""
        raise NotImplementedError(
            t("{kind} does not say where a query may look", kind=type(self).__name__)
        )

    def __and__(self, other: Region) -> Region:
        refuse_to_compose(self)

    def __or__(self, other: Region) -> Region:
        refuse_to_compose(self)

    def __invert__(self) -> Region:
        refuse_to_compose(self)


def refuse_to_compose(given: Any) -> NoReturn:
    raise TypeError(
        t("{kind} is not a mask, so &, | and ~ do not apply to it", kind=type(given).__name__)
        + (t("; pass what else restricts it as mask=") if isinstance(given, Region) else "")
    )


def check_count(region: Any, name: str, least: int) -> None:
    value = getattr(region, name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(
            t(
                "{name} of {kind} must be a whole number of at least {least}, not {value}",
                name=name,
                kind=type(region).__name__,
                least=least,
                value=repr(value),
            )
        )
    if value > FARTHEST:
        raise ValueError(
            t(
                "{name} of {kind} is {value}: at most it is {farthest}",
                name=name,
                kind=type(region).__name__,
                value=value,
                farthest=FARTHEST,
            )
        )


def check_align(region: Any) -> None:
    align = region.align
    placed = isinstance(align, int) and abs(align) <= FARTHEST and not isinstance(align, bool)
    if align not in ("start", "end", None) and not placed:
        raise ValueError(
            t(
                "align of {kind} must be 'start', 'end' or a position, not {align}",
                kind=type(region).__name__,
                align=repr(align),
            )
        )
