"""Which keys may this query look at?  A region says it by positions: True where a key may be attended.

Position i of a query and j of a key are counted from 0. When there are not as many queries as keys,
`align` says where the first query stands among the keys: "start" (at key 0), "end" (so that the last
query stands at the last key, as in decoding step by step), or a number. Alone, a region that names
none stands at the start, except `Causal`, which refuses to guess; joined to others it stands where
they do: `window(5) & causal(end)` is a window at the end.

    Causal() & Window(5)        both        Window(3) | Atrous(4)        either        ~Causal()        not

`PredictedWindow` is not a mask (it has parameters and weighs the keys), so it does not compose.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor

from regard.attention.language import build
from regard.attention.predicted_window import PredictedWindow
from regard.attention.region import (
    Align,
    KeyStretch,
    Pattern,
    Region,
    check_align,
    check_count,
    fixed,
    refuse_to_compose,
)
from regard.words import t


class Mask(Region):
    """A region that is only a mask: composes with &, | and ~."""

    composes = True

    def aligns(self) -> set[Align]:
        """The alignments that are named in it."""
        return set()

    def aligned(self, align: Align) -> Mask:
        """The same with `align` wherever none is named."""
        return self

    def __and__(self, other: Region) -> Mask:
        return Both(self, _composable(other))

    def __or__(self, other: Region) -> Mask:
        return Either(self, _composable(other))

    def __invert__(self) -> Mask:
        return Complement(self)

    def __repr__(self) -> str:
        shown = []
        declared: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        for field in declared:
            value = getattr(self, field.name)
            if field.default is MISSING or value != field.default:
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Relative(Mask):
    """A mask on the distance d = i - j between a query and a key alone."""

    align: Align

    def aligns(self) -> set[Align]:
        return set() if self.align is None else {self.align}

    def aligned(self, align: Align) -> Mask:
        return replace(self, align=align) if self.align is None else self  # type: ignore[type-var]

    def offset(self, queries: int, keys: int) -> int:
        """The position of the first query among the keys."""
        if self.align == "end":
            return keys - queries
        return 0 if self.align in ("start", None) else int(self.align)

    def at(self, offset: int) -> Region:
        return replace(self, align=offset)  # type: ignore[type-var]

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        patterns = self.patterns(queries, keys)
        assert patterns is not None
        i = torch.arange(queries, device=device) + patterns[0].offset
        j = torch.arange(keys, device=device)
        allowed = patterns[0].between(i, j)
        for pattern in patterns[1:]:
            allowed = allowed | pattern.between(i, j)
        return allowed


@dataclass(frozen=True, repr=False)
class Everywhere(Mask):
    """Every key."""

    sees_all = True
    forgets_positions = True

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        return torch.ones(queries, keys, dtype=torch.bool, device=device)

    def patterns(self, queries: int, keys: int) -> list[Pattern]:
        return [Pattern()]


@dataclass(frozen=True, repr=False)
class First(Mask):
    """j < count: the first keys, which every query keeps in sight; `(first(4) | window(256)) & causal` is
    how Xiao et al. 2024 read without end, https://arxiv.org/abs/2309.17453
    """

    count: int

    forgets_positions = True

    def __post_init__(self) -> None:
        check_count(self, "count", least=0)

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        return (torch.arange(keys, device=device) < self.count).expand(queries, keys)

    def stretches(self, queries: int, keys: int) -> list[KeyStretch]:
        return [KeyStretch(until=fixed(self.count))]


@dataclass(frozen=True, repr=False)
class Causal(Relative):
    """j <= i: nothing to the right. `align` must be named when there are not as many queries as keys."""

    align: Align = None

    def __post_init__(self) -> None:
        check_align(self)

    def offset(self, queries: int, keys: int) -> int:
        if self.align is None and queries != keys:
            raise ValueError(
                t(
                    "causal over {queries} queries and {keys} keys can be meant in two ways: "
                    "Causal('start') puts the first query at the first key, Causal('end') the last "
                    "query at the last key",
                    queries=queries,
                    keys=keys,
                )
            )
        return super().offset(queries, keys)

    def patterns(self, queries: int, keys: int) -> list[Pattern]:
        return [Pattern(after=0, offset=self.offset(queries, keys))]


@dataclass(frozen=True, repr=False)
class Window(Relative):
    """i - before <= j <= i + after: banded self-attention, and local-m of Luong et al. 2015 (p_t = t).

    `after` is `before` unless given. `clamp` moves a window that stands beyond the end of its source
    back onto the last position, as Luong's code does when the target is longer than the source.
    """

    before: int
    after: int | None = None
    align: Align = None
    clamp: bool = False

    def __post_init__(self) -> None:
        if self.after is None:
            object.__setattr__(self, "after", self.before)
        for name in ("before", "after"):
            check_count(self, name, least=0)
        check_align(self)

    @property
    def needs_lengths(self) -> bool:  # type: ignore[override]
        return self.clamp

    def patterns(self, queries: int, keys: int) -> list[Pattern] | None:
        return None if self.clamp else [self._pattern(self.offset(queries, keys))]

    def _pattern(self, offset: int) -> Pattern:
        assert self.after is not None
        return Pattern(fixed(self.before), fixed(self.after), offset=offset)

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        if not self.clamp:
            return super().mask(queries, keys, device=device)
        centre = torch.arange(queries, device=device)[:, None] + self.offset(queries, keys)
        last = keys - 1 if lengths is None else lengths - 1
        centre = torch.minimum(centre, torch.as_tensor(last, device=device))
        return self._pattern(0).between(centre[..., 0], torch.arange(keys, device=device))


@dataclass(frozen=True, repr=False)
class Atrous(Relative):
    """(i - j) mod rate = 0: every rate-th key — Su 2019; the strided heads of Child et al. 2019"""

    rate: int
    align: Align = None

    def __post_init__(self) -> None:
        check_count(self, "rate", least=1)
        check_align(self)

    def patterns(self, queries: int, keys: int) -> list[Pattern]:
        return [Pattern(rate=fixed(self.rate), offset=self.offset(queries, keys))]


@dataclass(frozen=True, repr=False)
class Sparse(Relative):
    """|i - j| <= rate or (i - j) mod rate = 0: near keys and every rate-th — Child et al. 2019,
    https://arxiv.org/abs/1904.10509. One softmax over the union; each pair counts once.
    """

    rate: int
    align: Align = None

    def __post_init__(self) -> None:
        check_count(self, "rate", least=1)
        check_align(self)

    def patterns(self, queries: int, keys: int) -> list[Pattern]:
        offset, rate = self.offset(queries, keys), fixed(self.rate)
        return [
            Pattern(rate, rate, offset=offset),
            Pattern(rate=rate, offset=offset),
        ]


@dataclass(frozen=True, repr=False)
class Fixed(Relative):
    """One pattern as it stands: what is left of a region once its keys have been rearranged."""

    pattern: Pattern
    align: Align = None

    def patterns(self, queries: int, keys: int) -> list[Pattern]:
        return [self.pattern]


class Composed(Mask):
    """Masks joined by a set operation. Parts that name no alignment take that of the others."""

    def __post_init__(self) -> None:
        named = self.aligns()
        if len(named) == 1:
            (align,) = named
            for field in fields(self):  # type: ignore[arg-type]
                object.__setattr__(self, field.name, getattr(self, field.name).aligned(align))

    def aligns(self) -> set[Align]:
        return set().union(*(part.aligns() for part in self.parts()))

    def aligned(self, align: Align) -> Mask:
        return type(self)(*(part.aligned(align) for part in self.parts()))

    def parts(self) -> list[Mask]:
        return [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]

    @property
    def needs_lengths(self) -> bool:  # type: ignore[override]
        return any(part.needs_lengths for part in self.parts())

    @property
    def leads(self) -> list[tuple[int, ...]]:
        return [axes for part in self.parts() for axes in part.leads]

    def at(self, offset: int) -> Region:
        return type(self)(*(part.at(offset) for part in self.parts()))

    def for_heads(self, axis: int) -> Region:
        return type(self)(*(part.for_heads(axis) for part in self.parts()))


@dataclass(frozen=True, repr=False)
class Both(Composed):
    """left & right"""

    left: Mask
    right: Mask

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        left, right = (p.mask(queries, keys, lengths=lengths, device=device) for p in self.parts())
        return left & right

    def patterns(self, queries: int, keys: int) -> list[Pattern] | None:
        left, right = (part.patterns(queries, keys) for part in self.parts())
        if left is None or right is None:
            return None
        # Everywhere stands at no offset of its own
        offsets = {p.offset for p in left + right if p != Pattern()}
        if len(offsets) > 1:
            return None
        offset = offsets.pop() if offsets else 0
        return [a.meet(b, offset) for a in left for b in right]

    def stretches(self, queries: int, keys: int) -> list[KeyStretch] | None:
        left, right = (part.stretches(queries, keys) for part in self.parts())
        if left is None or right is None:
            return None
        met = [a.meet(b) for a in left for b in right]
        return None if any(x is None for x in met) else met  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"{_inner(self.left)} & {_inner(self.right)}"


@dataclass(frozen=True, repr=False)
class Either(Composed):
    """left | right"""

    left: Mask
    right: Mask

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        left, right = (p.mask(queries, keys, lengths=lengths, device=device) for p in self.parts())
        return left | right

    def patterns(self, queries: int, keys: int) -> list[Pattern] | None:
        left, right = (part.patterns(queries, keys) for part in self.parts())
        if left is None or right is None or len({p.offset for p in left + right}) > 1:
            return None
        return sorted(left + right, key=lambda pattern: pattern.rate)

    def stretches(self, queries: int, keys: int) -> list[KeyStretch] | None:
        left, right = (part.stretches(queries, keys) for part in self.parts())
        return None if left is None or right is None else left + right

    def __repr__(self) -> str:
        return f"{self.left!r} | {self.right!r}"


@dataclass(frozen=True, repr=False)
class Complement(Composed):
    """~inner"""

    inner: Mask

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        return ~self.inner.mask(queries, keys, lengths=lengths, device=device)

    def stretches(self, queries: int, keys: int) -> list[KeyStretch] | None:
        return None

    def __repr__(self) -> str:
        return f"~{_inner(self.inner)}"


REGIONS: dict[str, type[Region]] = {
    "everywhere": Everywhere,
    "causal": Causal,
    "first": First,
    "window": Window,
    "predicted-window": PredictedWindow,
    "atrous": Atrous,
    "sparse": Sparse,
}


def as_region(given: Region | str | None, **sizes: Any) -> Region:
    """The region that was given, named, or (None) everywhere; `sizes` complete a name."""
    if given is None:
        return Everywhere()
    if isinstance(given, str):
        return build(given, "region", REGIONS, **sizes)
    if isinstance(given, Region):
        return given
    raise TypeError(
        t("region must be a Region, a name or None, not {given}", given=repr(given))
        + (t(" — call it to make one") if isinstance(given, type) else "")
    )


def _composable(region: Any) -> Mask:
    return region if isinstance(region, Mask) else refuse_to_compose(region)


def _inner(region: Mask) -> str:
    return f"({region!r})" if isinstance(region, (Both, Either)) else repr(region)
