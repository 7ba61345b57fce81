"""Documents packed into one sequence, none of which sees another.

The ids are a tensor, so the region has no name in the language. Leading axes are those of the attention
without its heads: ids (batch, positions) in a `MultiHead`, and (batch, 1, positions) for `attend` over
(batch, heads, positions, size).
"""

from __future__ import annotations

import reprlib
from copy import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.attention.region import Align, KeyStretch, Pattern, Region, check_align
from regard.attention.regions import Relative
from regard.words import t

UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)  # of these torch can store, and little more


@dataclass(frozen=True, eq=False, repr=False)
class Documents(Relative):
    """id of query = id of key: several documents in one sequence, none of which sees another.

    ids: whole numbers (..., keys), of which a copy is kept. They need not be in order, but documents in one
    piece are quick.
    """

    ids: Tensor
    align: Align = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", whole_numbers(self, self.ids, "ids").clone())
        if self.ids.dim() == 0:
            raise ValueError(t("ids of Documents must be (..., keys), one for every position"))
        check_align(self)
        object.__setattr__(self, "bounds", document_bounds(self.ids))

    @property
    def leads(self) -> list[tuple[int, ...]]:
        return [tuple(self.ids.shape[:-1])]

    def for_heads(self, axis: int) -> Region:
        if self.ids.dim() == 1:
            return self
        made = copy(self)  # whose bounds need not be found again
        object.__setattr__(made, "ids", self.ids.unsqueeze(axis + 1))
        object.__setattr__(made, "bounds", self.bounds.unsqueeze(axis))  # type: ignore[attr-defined]
        return made

    def offset(self, queries: int, keys: int) -> int:
        if self.align is None and queries != keys:
            raise ValueError(
                t(
                    "documents over {queries} queries and {keys} keys can be meant in two ways: "
                    "align='start' puts the first query at the first key, align='end' the last "
                    "query at the last key",
                    queries=queries,
                    keys=keys,
                )
            )
        return super().offset(queries, keys)

    def _checked_offset(self, queries: int, keys: int) -> int:
        offset = self.offset(queries, keys)
        if self.ids.shape[-1] != keys or offset < 0 or offset + queries > keys:
            raise ValueError(
                t(
                    "Documents has {shape} ids, for {keys} keys and {queries} queries from "
                    "position {offset}: there must be one for every key, and one for every query",
                    shape=self.ids.shape[-1],
                    keys=keys,
                    queries=queries,
                    offset=offset,
                )
            )
        return offset

    def patterns(self, queries: int, keys: int) -> None:
        return None

    def stretches(self, queries: int, keys: int) -> list[KeyStretch]:
        offset = self._checked_offset(queries, keys)
        bounds: Tensor = self.bounds  # type: ignore[attr-defined]
        return [KeyStretch(Pattern(offset=offset), documents=bounds)]

    def mask(
        self, queries: int, keys: int, *, lengths: Tensor | None = None, device: Any = None
    ) -> Tensor:
        offset = self._checked_offset(queries, keys)
        ids = self.ids.to(device)
        return ids[..., offset : offset + queries, None] == ids[..., None, :]

    def __repr__(self) -> str:
        return f"Documents(ids={tuple(self.ids.shape)})"


def document_bounds(ids: Tensor) -> Tensor:
    """(..., L) -> int32 (..., 5, L): a number for the id; the first position with it and the one after the
    last; the same of those around a position without a gap. Nothing of it waits for a GPU.
    """
    order = ids.argsort(dim=-1, stable=True)
    ordered = ids.gather(-1, order)
    number = _changes(ordered).cumsum(-1)
    low, high = _runs(ordered)
    of_id = [number, order.gather(-1, low), order.gather(-1, high - 1) + 1]
    back = [torch.empty_like(order).scatter(-1, order, x) for x in of_id]
    return torch.stack([*back, *_runs(ids)], -2).int()


def _changes(ids: Tensor) -> Tensor:
    """1 where an id differs from the one before, else 0."""
    same = torch.zeros_like(ids[..., :1])
    return torch.cat([same, (ids[..., 1:] != ids[..., :-1]).to(ids.dtype)], -1).long()


def _runs(ids: Tensor) -> tuple[Tensor, Tensor]:
    """[low, high) of the equal ids around each position."""
    at = torch.arange(ids.shape[-1], device=ids.device).expand(ids.shape)
    if ids.shape[-1] == 0:
        return at, at
    low = (at * _changes(ids)).cummax(-1).values
    ends = (at * _changes(ids.flip(-1))).cummax(-1).values.flip(-1)
    return low, ids.shape[-1] - ends


def whole_numbers(region: Any, given: Any, name: str) -> Tensor:
    """The tensor of them, of a dtype that torch can compare and sort."""
    if isinstance(given, Tensor):
        whole = not given.is_floating_point() and not given.is_complex()
        if whole and given.dtype != torch.bool:
            return given.long() if given.dtype in UNSIGNED else given
    seen = f"of {str(given.dtype)[6:]}" if isinstance(given, Tensor) else reprlib.repr(given)
    raise TypeError(
        t(
            "{name} of {kind} must be a tensor of whole numbers, not {seen}",
            name=name,
            kind=type(region).__name__,
            seen=seen,
        )
    )
