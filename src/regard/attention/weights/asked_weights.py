"""What is asked about the weights of an attention instead of the whole matrix, and what comes back.

    asked = regard.Weights(rows=[-1], sums=True, entropy=True, largest=8)
    weights = regard.attend(query, key, weights=asked).weights
    weights.rows, weights.sums, weights.entropy, weights.largest.keys

Legend: Lq queries, Lk keys, R chosen rows, ... leading axes, the last of which are heads where there are any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor

from regard.words import t

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall

Numbers = int | Iterable[int] | Tensor | None  # in a Weights they are a tuple, or None


class Largest(NamedTuple):
    """The largest weights of each row, in falling order. Where a row has no more keys: weight 0, key -1."""

    weights: Tensor  # (..., Lq, k)
    keys: Tensor  # (..., Lq, k), whole numbers


class WeightSummary(NamedTuple):
    """What was asked of the weights; None: what was not."""

    rows: Tensor | None = None  # (..., R, Lk), as `weights=True` gives them
    sums: Tensor | None = None  # (..., Lk), float32 at least: over all queries that are no padding
    entropy: Tensor | None = None  # (..., Lq), float32 at least, in nats
    largest: Largest | None = None
    blocks: Tensor | None = None  # (..., ⌈Lq / blocks⌉, ⌈Lk / blocks⌉), float32 at least


@dataclass(frozen=True)
class Weights:
    """What is to be known of the weights, without a matrix (..., Lq, Lk): give it as `weights=`.

    rows: the weights of these queries, counted from 0, or from the end as -1, -2, …
    heads: of these heads only, the axis before (Lq, Lk); of all if None.
    sums: how much each key gets, over all queries that are no padding.
    entropy: of each row divided by its sum, -Σ w log w in nats; 0 of a row without any key.
    largest: that many of the largest weights of each row, and their keys.
    blocks: the weights between that many queries and that many keys in a row, as a picture of a long input
        needs them: the mean over queries, without padding, of the sum over keys.

    >>> asked = Weights(rows=-1, largest=2)
    >>> attend(torch.randn(5, 8), torch.randn(7, 8), weights=asked).weights.largest.keys.shape
    torch.Size([5, 2])
    """

    rows: Numbers = None
    heads: Numbers = None
    sums: bool = False
    entropy: bool = False
    largest: int | None = None
    blocks: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", _numbers("rows", self.rows))
        object.__setattr__(self, "heads", _numbers("heads", self.heads))
        for name in ("sums", "entropy"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(
                    t(
                        "{name} is True or False, not {getattr}",
                        name=name,
                        getattr=repr(getattr(self, name)),
                    )
                )
        for name in ("largest", "blocks"):
            count = getattr(self, name)
            if count is not None and not _is_whole(count):
                raise TypeError(
                    t("{name} is a whole number, not {count}", name=name, count=repr(count))
                )
            if count is not None and count < 1:
                raise ValueError(
                    t("{name} must be at least 1, not {count}", name=name, count=count)
                )
        if self.rows is None and not self.each_row:
            raise ValueError(
                t("this asks for no weights: give rows, sums, entropy, largest or blocks")
            )

    @property
    def each_row(self) -> bool:
        """Whether every row has to be computed, not only chosen ones."""
        return self.sums or self.entropy or not self.largest is self.blocks is None

    def chosen_rows(self, queries: int) -> tuple[int, ...]:
        return _within("rows", self.rows, queries, "query", "queries")

    def chosen_heads(self, heads: int) -> tuple[int, ...]:
        return _within("heads", self.heads, heads, "head", "heads")

    def check(self, lead: tuple[int, ...], queries: int, keys: int) -> None:
        """Whether weights (*lead, queries, keys) have what is asked for."""
        if self.heads is not None:
            if not lead:
                raise ValueError(
                    t("heads are the axis before (Lq, Lk), and these weights have no such axis")
                )
            self.chosen_heads(lead[-1])
        if self.rows is not None:
            self.chosen_rows(queries)
        if self.largest is not None and self.largest > keys:
            raise ValueError(
                t(
                    "largest asks for {largest} weights of each row, and there are {keys} keys",
                    largest=self.largest,
                    keys=keys,
                )
            )


def check_asked(weights: Any, call: AttentionCall) -> None:
    """Whether this can be asked about the weights of a call."""
    if not isinstance(weights, Weights):
        raise TypeError(
            t(
                "weights must be True, False or a regard.Weights(rows=…, heads=…, sums=True, "
                "entropy=True, largest=…), not {weights}",
                weights=repr(weights),
            )
        )
    weights.check(call.lead, call.query.shape[-2], call.key.shape[-2])
    if weights.entropy and call.normalize.signed:
        name = type(call.normalize).__name__
        raise ValueError(
            t(
                "{name} gives weights that may be negative, which have no entropy: leave "
                "entropy out",
                name=name,
            )
        )


def _numbers(name: str, given: Any) -> tuple[int, ...] | None:
    """Numbers however they were given; a tensor of them is read here, once, not in the call."""
    if given is None:
        return None
    if isinstance(given, Tensor):
        given = given.tolist()
    numbers = (given,) if not isinstance(given, Iterable) else tuple(given)
    wrong = [n for n in numbers if not _is_whole(n)]
    if wrong or isinstance(given, str):
        seen = given if isinstance(given, str) else wrong[0]
        raise TypeError(
            t("{name} are whole numbers, counted from 0; given {seen}", name=name, seen=repr(seen))
        )
    if not numbers:
        raise ValueError(t("{name} is empty: leave it out, or name some", name=name))
    return tuple(map(int, numbers))


def _is_whole(given: Any) -> bool:
    return hasattr(given, "__index__") and not isinstance(given, bool) and not _is_flag(given)


def _is_flag(given: Any) -> bool:
    """Of numpy or torch, whose bools are indices too."""
    return "bool" in str(getattr(given, "dtype", ""))


def _within(name: str, given: Any, size: int, one: str, many: str) -> tuple[int, ...]:
    for number in given:
        if not -size <= number < size:
            there = (
                t("there is one {one}", one=one)
                if size == 1
                else t("there are {size} {many}", size=size, many=many)
            )
            raise ValueError(
                t(
                    "{name} asks for {number}, and {there}, counted from 0",
                    name=name,
                    number=number,
                    there=there,
                )
            )
    chosen = tuple(number % size for number in given)
    if len(set(chosen)) < len(chosen):
        again = next(number for n, number in enumerate(chosen) if number in chosen[:n])
        raise ValueError(t("{name} asks for {again} twice", name=name, again=again))
    return chosen
