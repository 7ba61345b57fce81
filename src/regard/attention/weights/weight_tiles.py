"""What was asked of the weights, some rows at a time: O(rows · Lk) numbers instead of Lq · Lk.

Each tile is the definition of the attention for its queries, so that every score, region, normaliser and
bias has it. Gradients pass; where there are several tiles each is computed again on the way back.

Legend: Lq queries, Lk keys, T queries of a tile, R chosen rows, H heads, ... leading axes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from regard.attention.limits import Limits
from regard.attention.normalizers import HardChoice, clear
from regard.attention.paths import Computed, mix, run, weigh
from regard.attention.plans.layout import TilePlace, tile_rows
from regard.attention.plans.plan import BY_DEFINITION, Plan, asked_tiles
from regard.attention.region import Region
from regard.attention.regions import Everywhere
from regard.attention.weights.asked_weights import Largest, Weights, WeightSummary

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall

At = slice | Tensor  # which queries
X = TypeVar("X", Tensor, Tensor | None)


class WeightTile(NamedTuple):
    """What some queries say of their weights, and their context where it comes from these weights."""

    context: Tensor | None = None  # (..., T, Dv)
    choice: HardChoice | None = None  # (..., T) each
    rows: Tensor | None = None  # (..., R or T, Lk)
    sums: Tensor | None = None  # (..., Lk)
    entropy: Tensor | None = None  # (..., T)
    weights: Tensor | None = None  # (..., T, k)
    keys: Tensor | None = None  # (..., T, k)
    blocks: Tensor | None = None  # (..., T, ⌈Lk / blocks⌉): not yet their mean over queries
    asking: Tensor | None = None  # (..., T or 1): which queries that mean is over


def summarised(call: AttentionCall, plan: Plan) -> Computed:
    """The context by the plan, and of the weights what was asked for."""
    asked = call.weights
    assert isinstance(asked, Weights)
    queries = call.query.shape[-2]
    if plan.path == "dense":  # all rows at once, as they were drawn
        context, choice, *parts = _tile(call, asked, slice(0, queries), True)
        assert context is not None
        return context, _summary(asked, *parts), choice

    assert plan.inner is not None
    in_tiles = plan.inner.path in BY_DEFINITION
    context, choice = None, None
    if not in_tiles:
        context, _, choice = run(plan.inner, replace(call, weights=False))
    every = replace(asked, rows=None) if asked.each_row else None
    only = replace(call, value=call.value[..., :0])  # sums no values
    chosen = None if asked.rows is None else _of_rows(*_of_heads(only, asked))
    if in_tiles:
        joined = _joined(call, every, True)
        context, choice = joined.context, joined.choice
    elif every is not None:
        joined = _joined(*_of_heads(only, every), False)
    else:
        joined = WeightTile()
    assert context is not None
    return context, _summary(asked, chosen, *joined[3:]), choice


def _summary(
    asked: Weights,
    rows: Tensor | None,
    sums: Tensor | None,
    entropy: Tensor | None,
    weights: Tensor | None,
    keys: Tensor | None,
    blocks: Tensor | None,
    asking: Tensor | None,
) -> WeightSummary:
    largest = None if weights is None or keys is None else Largest(weights, keys)
    if blocks is not None:
        assert asked.blocks is not None
        there = blocks.new_ones(blocks.shape[-2]) if asking is None else asking.to(blocks.dtype)
        total = _by_blocks(blocks.mT, asked.blocks).mT
        count = _by_blocks(there.expand(*there.shape[:-1], blocks.shape[-2]), asked.blocks)
        blocks = total / count.clamp(min=1)[..., None]
    return WeightSummary(rows, sums, entropy, largest, blocks)


def _joined(call: AttentionCall, asked: Weights | None, with_context: bool) -> WeightTile:
    """All queries, tile by tile."""
    queries = call.query.shape[-2]
    by_stretch = not with_context and call.score.pairwise
    places = asked_tiles(call.layout(), asked, by_stretch)
    tiles = (
        _once_more(call, asked, slice(place.start, place.end), with_context, len(places) > 1, place)
        for place in places
    )
    first = next(tiles)
    if len(places) == 1:
        return first
    sums, parts = first.sums, _by_query(first)
    if torch.compiler.is_compiling() or any(
        x is not None and x.requires_grad for x in (sums, *parts)
    ):
        kept = [parts]
        for tile in tiles:
            kept.append(_by_query(tile))
            sums = sums if tile.sums is None or sums is None else sums + tile.sums
        whole = [_cat(part, axis) for part, axis in zip(zip(*kept, strict=True), AXES, strict=True)]
        return _of_queries(whole, sums)

    # small tensors kept between the large ones that are gone would leave a heap full of holes
    whole = [_room(part, axis, queries) for part, axis in zip(parts, AXES, strict=True)]
    _write(parts, whole, 0)
    for place, tile in zip(places[1:], tiles, strict=True):
        _write(_by_query(tile), whole, place.start)
        sums = sums if tile.sums is None or sums is None else sums.add_(tile.sums)
    return _of_queries(whole, sums)


Parts = Sequence[Tensor | None]
AXES = (-2, -1, -1, -1, -1, -2, -2, -2, -1)  # of the queries, in what `_by_query` gives


def _by_query(tile: WeightTile) -> Parts:
    """All that a tile says of each of its queries."""
    choice = (None, None, None) if tile.choice is None else tile.choice
    return (tile.context, *choice, tile.entropy, tile.weights, tile.keys, tile.blocks, tile.asking)


def _of_queries(parts: Parts, sums: Tensor | None) -> WeightTile:
    context, index, log_prob, spread, *others = parts
    choice = None
    if index is not None and log_prob is not None and spread is not None:
        choice = HardChoice(index, log_prob, spread)
    entropies, weights, keys, blocks, asking = others
    return WeightTile(context, choice, None, sums, entropies, weights, keys, blocks, asking)


def _room(part: Tensor | None, axis: int, queries: int) -> Tensor | None:
    """For all queries, where a tile has some."""
    if part is None:
        return None
    shape = list(part.shape)
    shape[axis] = queries
    return part.new_empty(shape)


def _write(parts: Parts, whole: Parts, start: int) -> None:
    for part, room, axis in zip(parts, whole, AXES, strict=True):
        if part is not None and room is not None:
            room.narrow(axis, start, part.shape[axis]).copy_(part)


def _of_rows(call: AttentionCall, asked: Weights) -> Tensor:
    """The weights of chosen queries, (..., R, Lk)."""
    rows = asked.chosen_rows(call.query.shape[-2])
    size = max(1, tile_rows(call.layout()))
    only = replace(asked, sums=False, entropy=False, largest=None, blocks=None)
    tiles = []
    for a in range(0, len(rows), size):
        at = _index(rows[a : a + size], call.query.device)
        found = _once_more(call, only, at, False, len(rows) > size).rows
        assert found is not None
        tiles.append(found)
    return tiles[0] if len(tiles) == 1 else torch.cat(tiles, -2)


def _once_more(
    call: AttentionCall,
    asked: Weights | None,
    at: At,
    with_context: bool,
    again: bool,
    place: TilePlace | None = None,
) -> WeightTile:
    """A tile; if there are others, nothing of it is kept for the gradients, which compute it again."""
    tile = functools.partial(_tile, call, asked, at, with_context, True, place)
    if not (again and torch.is_grad_enabled()):
        return tile()
    found: WeightTile = checkpoint(tile, use_reentrant=False, preserve_rng_state=False)
    return found


def _tile(
    call: AttentionCall,
    asked: Weights | None,
    at: At,
    with_context: bool,
    rows_are_chosen: bool = False,
    place: TilePlace | None = None,
) -> WeightTile:
    """The definition for the queries at these places. rows_are_chosen: they are those asked for.

    place: which keys they may see, if not all are computed.
    """
    whole = isinstance(at, slice) and at == slice(0, call.query.shape[-2])
    keys_there = slice(0, call.limits.keys) if place is None else slice(place.first, place.last)
    whole = whole and keys_there == slice(0, call.limits.keys)
    part = call if whole else _some(call, at, keys_there)
    weights, choice, spoilt, allowed = weigh(part)
    context = mix(part, weights, spoilt) if with_context else None
    if asked is None:
        return WeightTile(context, choice)
    if spoilt is not None:
        weights = clear(weights + spoilt.to(weights.dtype), allowed)
    if part.taint is not None:
        taint = part.taint[..., None].to(weights.dtype)
        weights = clear(weights + taint, part.limits.allowed)
    weights, asking = weights.expand(*part.lead, *weights.shape[-2:]), part.asking
    if asked.heads is not None:
        heads = _index(asked.chosen_heads(weights.shape[-3]), weights.device)
        weights, allowed, asking = _on(weights, heads), _on(allowed, heads), _on(asking, heads, -2)
    rows = None
    if asked.rows is not None:
        rows = weights.to(call.value.dtype)
        if not rows_are_chosen:
            chosen = asked.chosen_rows(weights.shape[-2])
            rows = rows.index_select(-2, _index(chosen, rows.device))
    best, keys = _largest(weights, allowed, asked.largest)
    sums = _sums(weights, asking) if asked.sums else None
    blocks, asks = (None, None) if asked.blocks is None else _blocks(weights, asking, asked.blocks)
    if keys_there != slice(0, call.limits.keys):
        sums = _among(sums, keys_there.start, call.limits.keys)
        if keys is not None:
            keys = torch.where(keys < 0, keys, keys + keys_there.start)
        if asked.blocks is not None:
            all_blocks = -(-call.limits.keys // asked.blocks)
            blocks = _among(blocks, keys_there.start // asked.blocks, all_blocks)
    return WeightTile(
        context,
        choice,
        rows,
        sums,
        entropy(weights) if asked.entropy else None,
        None if best is None else best.to(call.value.dtype),
        keys,
        blocks,
        asks,
    )


def _among(x: Tensor | None, first: int, count: int) -> Tensor | None:
    """0 for the keys before and after."""
    return None if x is None else nn.functional.pad(x, (first, count - first - x.shape[-1]))


def _sums(weights: Tensor, asking: Tensor | None) -> Tensor:
    return _asked_for(weights, asking).sum(-2)


def _blocks(weights: Tensor, asking: Tensor | None, size: int) -> tuple[Tensor, Tensor | None]:
    """Summed over keys alone, (..., T, ⌈Lk / size⌉), and which queries it is to be the mean of."""
    asks = None if asking is None else asking.expand(*asking.shape[:-1], weights.shape[-2])
    return _by_blocks(_asked_for(weights, asking), size), asks


def _by_blocks(x: Tensor, size: int) -> Tensor:
    """The sum of every `size` numbers along the last axis."""
    size = min(size, max(x.shape[-1], 1))
    return nn.functional.pad(x, (0, -x.shape[-1] % size)).unflatten(-1, (-1, size)).sum(-1)


def _asked_for(weights: Tensor, asking: Tensor | None) -> Tensor:
    """0 in the rows of padding."""
    return weights if asking is None else weights.masked_fill(~asking[..., None], 0.0)


def entropy(weights: Tensor) -> Tensor:
    """-Σ p log p of p = w / Σ w, which is 0 where all weights are: (..., Lk) -> (...)."""
    total = weights.sum(-1, keepdim=True)
    p = weights / total.masked_fill(total == 0, 1.0)
    # p log p = 0 at p = 0, with a gradient that is finite
    return -torch.xlogy(p, p.clamp_min(torch.finfo(p.dtype).tiny)).sum(-1)


def _largest(
    weights: Tensor, allowed: Tensor | None, count: int | None
) -> tuple[Tensor | None, Tensor | None]:
    if count is None:
        return None, None
    if allowed is None:
        best = weights.topk(count, -1)
        return best.values, best.indices
    allowed = allowed.expand(weights.shape)
    best = weights.masked_fill(~allowed, -math.inf).topk(count, -1)
    there = allowed.gather(-1, best.indices)
    none = torch.where(weights.isnan().any(-1, keepdim=True), math.nan, 0.0)  # as all of such a row
    return best.values.where(there, none.to(weights.dtype)), best.indices.masked_fill(~there, -1)


# --- parts of a call --------------------------------------------------------------------------------


def _some(call: AttentionCall, at: At, keys: slice) -> AttentionCall:
    """The same attention for the queries at these places, over keys besides which they see none."""
    limits, mask = call.limits, _take(call.limits.mask, at)
    fewer = keys != slice(0, limits.keys)
    bias = _take(call.bias, at)
    if fewer:
        mask = None if mask is None else mask[..., keys]
        bias = None if bias is None else bias[..., keys]
    queries = call.query.shape[-2]
    query = call.query[..., at, :] if isinstance(at, slice) else call.query.index_select(-2, at)
    region: Region = limits.region
    inside = _take(limits.inside, at)
    if limits.everywhere:
        region = Everywhere()
    elif limits.patterns is not None:
        # where they stand, not how many they are: a region would place fewer queries elsewhere
        region, inside = Region(), _inside(limits, at, queries, keys)
    elif inside is None:
        region, mask, inside = Region(), None, _take(limits.allowed, at)
    few = Limits(
        region,
        mask,
        query.shape[-2],
        keys.stop - keys.start,
        limits.device,
        inside,
        _take(limits.factor, at),
    )
    few.widen(query.dim())
    return replace(
        call,
        query=query,
        key=call.key[..., keys, :] if fewer else call.key,
        value=call.value[..., keys, :] if fewer else call.value,
        limits=few,
        bias=bias,
        taint=_take(call.taint, at, -1),
        asking=_take(call.asking, at, -1),
        gate=None,
    )


def _inside(limits: Limits, at: At, queries: int, stretch: slice) -> Tensor:
    """True where one of the patterns of the region holds: (T, keys of the stretch)."""
    assert limits.patterns is not None
    places = torch.arange(queries, device=limits.device)[at]
    keys = torch.arange(stretch.start, stretch.stop, device=limits.device)
    held = (pattern.between(places + pattern.offset, keys) for pattern in limits.patterns)
    return functools.reduce(torch.logical_or, held)


def _of_heads(call: AttentionCall, asked: Weights) -> tuple[AttentionCall, Weights]:
    """Only the heads that are asked for; all of them, to be chosen from later, if a score may have
    parameters for each head in `pair`: a dot product has none.
    """
    if asked.heads is None or call.score.kernel != "dot":
        return call, asked
    heads = _index(asked.chosen_heads(call.lead[-1]), call.query.device)
    limits = call.limits
    if limits.patterns is None and limits.inside is None:  # it may differ from head to head
        limits = replace(limits, region=Region(), mask=None, inside=limits.allowed)
    limits = replace(
        limits,
        mask=_on(limits.mask, heads),
        inside=_on(limits.inside, heads),
        factor=_on(limits.factor, heads),
    )
    fewer = replace(
        call,
        query=_on(call.query, heads),
        key=_on(call.key, heads),
        value=_on(call.value, heads),
        limits=limits,
        bias=_on(call.bias, heads),
        sinks=_on(call.sinks, heads),
        taint=_on(call.taint, heads, -2),
        asking=_on(call.asking, heads, -2),
        gate=None,
    )
    return fewer, replace(asked, heads=None)


def _index(numbers: Sequence[int], device: torch.device) -> Tensor:
    """On the device, without waiting for what it is doing."""
    return torch.tensor(numbers).to(device, non_blocking=True)


def _on(x: X, heads: Tensor, axis: int = -3) -> X:
    """These heads of what has an axis of them."""
    return x if x is None or x.dim() < -axis or x.shape[axis] == 1 else x.index_select(axis, heads)


def _take(x: X, at: At, axis: int = -2) -> X:
    """These queries of what is not the same for all of them."""
    if x is None or x.shape[axis] == 1:
        return x
    if isinstance(at, Tensor):
        return x.index_select(axis, at)
    return x[..., at, :] if axis == -2 else x[..., at]


def _cat(parts: Sequence[Tensor | None] | Iterable[Tensor | None], axis: int) -> Tensor | None:
    there = [part for part in parts if part is not None]
    return torch.cat(there, axis) if there else None
