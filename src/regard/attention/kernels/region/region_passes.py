"""A region as the numbers that its kernel is given: `region_tiles` says what they mean."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.region import KeyStretch, Pattern, Region

FAR = 1 << 29  # no bound; twice as far is still an int32
LARGEST_RATE = 1 << 12  # each rate is a kernel of its own


class RegionPass(NamedTuple):
    """The keys that one launch visits, in steps of `rate`; `prefix`: cap_a is read for each sequence."""

    rate: int
    offset: int
    lo_a: int
    hi_a: int
    cap_a: int
    lo_b: int = 0
    hi_b: int = 0
    cap_b: int = 0
    two: int = 0
    prefix: int = 0


class RegionPasses(NamedTuple):
    """All of a region: `numbers` are those of its passes, one after the other."""

    numbers: tuple[int, ...]
    ends: Tensor | None  # (...) int32
    documents: Tensor | None  # (..., 5, keys) int32
    seen: float  # keys to a query, at most
    passes: int


_KEPT: dict[tuple[Region, int, int], RegionPasses | None] = {}
MOST_KEPT = 4096


def region_passes(region: Region, queries: int, keys: int) -> RegionPasses | None:
    """What a kernel is told about the region; None: it is no union of stretches that it knows."""
    if torch.compiler.is_compiling():
        return _passes(region, queries, keys)
    asked = (region, queries, keys)
    try:
        return _KEPT[asked]
    except KeyError:
        pass
    except TypeError:  # a region of somebody else's, without a hash
        return _passes(region, queries, keys)
    made = _passes(region, queries, keys)
    if region.leads or (made is not None and (made.ends is not None or made.documents is not None)):
        return made  # the tensors of a batch are not to outlive it
    if len(_KEPT) >= MOST_KEPT:
        _KEPT.clear()
    return _KEPT.setdefault(asked, made)


def _passes(region: Region, queries: int, keys: int) -> RegionPasses | None:
    stretches = region.stretches(queries, keys)
    if not stretches or len(stretches) > 2:
        return None
    stretches = _placed(stretches)
    if stretches is None:
        return None
    documents, ends = stretches[0].documents, [s.ends for s in stretches if s.ends is not None]
    offset, rates = stretches[0].pattern.offset, [s.pattern.rate for s in stretches]
    unlike = any(s.documents is not documents for s in stretches)
    strided = documents is not None and max(rates) > 1
    if unlike or strided or len(ends) > 1 or max(rates) > LARGEST_RATE or abs(offset) > FAR // 2:
        return None
    if len(set(rates)) == 1:
        stretches.sort(key=lambda s: s.ends is None)  # what has ends of its own comes first
        launches = [_one_pass(stretches)]
    else:
        near, far = stretches if rates[0] < rates[1] else stretches[::-1]
        if ends or near.pattern.rate != 1 or min(near.until, far.until) != math.inf:
            return None
        launches = [_one_pass([near]), _spread_pass(near.pattern, far.pattern)]
    numbers = tuple(number for launch in launches for number in launch)
    seen = sum(_seen(stretch, keys) for stretch in stretches)
    return RegionPasses(
        numbers, ends[0] if ends else None, documents, min(seen, keys), len(launches)
    )


def _placed(stretches: list[KeyStretch]) -> list[KeyStretch] | None:
    """All at the one offset that matters; None: there are several."""
    offsets = [s.pattern.offset for s in stretches if s.stands]
    if any(offset != offsets[0] for offset in offsets):
        return None
    offset = offsets[0] if offsets else 0
    return [s._replace(pattern=s.pattern._replace(offset=offset)) for s in stretches]


def _one_pass(stretches: list[KeyStretch]) -> RegionPass:
    first = stretches[0]
    bounds = [(*_steps(s.pattern), _most(s.until)) for s in stretches]
    second = bounds[1] if len(bounds) > 1 else (0, 0, 0)
    return RegionPass(
        first.pattern.rate, first.pattern.offset, *bounds[0], *second,
        two=len(bounds) - 1, prefix=0 if first.ends is None else 1,
    )  # fmt: skip


def _spread_pass(near: Pattern, far: Pattern) -> RegionPass:
    """What is far without what is near: two stretches, left and right of the near keys."""
    lo, hi = _steps(far)
    left, right = _steps(near._replace(rate=far.rate))
    sides = [(lo, min(left - 1, hi), FAR), (max(right + 1, lo), hi, FAR)]
    sides = [side for side in sides if side[0] <= side[1] and side[1] > -FAR and side[0] < FAR]
    sides = sides or [(0, -1, 0)]
    second = sides[1] if len(sides) > 1 else (0, 0, 0)
    return RegionPass(far.rate, far.offset, *sides[0], *second, two=len(sides) - 1)


def _steps(pattern: Pattern) -> tuple[int, int]:
    """lo <= j - p <= hi in steps of the rate."""
    return -_most(pattern.before, pattern.rate), _most(pattern.after, pattern.rate)


def _most(number: float, rate: int = 1) -> int:
    return FAR if number == math.inf else min(int(number) // rate, FAR)


def _seen(stretch: KeyStretch, keys: int) -> float:
    pattern = stretch.pattern
    before, after = (min(side, keys / 2) for side in (pattern.before, pattern.after))
    return min((before + after) // pattern.rate + 1, stretch.until, keys)
