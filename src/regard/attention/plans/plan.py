"""Which path computes an attention, what it costs, and why: decided from shapes and choices alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from regard.attention.kernels import additive
from regard.attention.normalizers import usual_softmax
from regard.attention.plans.layout import (
    Layout,
    TilePlace,
    block_size,
    sparse_parts,
    tile_rows,
    weight_tiles,
)
from regard.attention.region import Pattern
from regard.attention.weights.asked_weights import Weights

if TYPE_CHECKING:
    from regard.attention.call import AttentionCall

KEPT = 64 * 2**20  # bytes of additive scores up to which keeping them beats computing them twice
BY_DEFINITION = ("dense", "additive")  # paths that hold all weights


@dataclass(frozen=True)
class Plan:
    """The path that runs, why, and what it costs: `print(regard.explain(...))`."""

    path: str
    why: str
    layout: Layout
    operations: int  # of one feature of a pair
    inner: Plan | None = None
    asked: int = 0  # pairs of one head whose weights are computed beside the context
    at_once: int = 0  # pairs of one head in the largest tile of them
    seen: float = math.inf  # keys to a query, where a kernel knows the region

    @property
    def _asked_pairs(self) -> int:
        return math.prod(self.layout.lead) * self.asked

    @property
    def _tile(self) -> int:
        """How many weights there are at one time, if they are computed by tiles."""
        return math.prod(self.layout.lead) * self.at_once

    @property
    def pairs(self) -> int:
        """How many scores are computed."""
        if self.inner is not None:
            return self.inner.pairs + self._asked_pairs
        rows = 1 if self.path == "one-row" else self.layout.queries
        if self.path == "sparse":
            near, far = sparse_parts(self.layout)
            return math.prod(self.layout.lead) * self.layout.queries * (near.keys + far.keys)
        return math.prod(self.layout.lead) * rows * self._seen()

    def _seen(self) -> int:
        """Keys that a query is paired with: a kernel that knows the band skips the rest."""
        pattern, keys = self.layout.pattern, self.layout.keys
        if self.path in ("region-fused", "sdpa-checked"):
            return min(keys, math.ceil(self.seen))
        if self.path != "additive-fused" or pattern is None:
            return keys
        before, after = (min(side, keys / 2) for side in (pattern.before, pattern.after))
        return min(keys, math.ceil(before + after + 1))

    @property
    def flops(self) -> int:
        """Floating-point operations of the forward pass, without the projections."""
        summed = (self.pairs - self._asked_pairs) * 2 * self.layout.value_size
        return self.pairs * self.operations * self.layout.size + summed

    @property
    def stored(self) -> int:
        """Bytes of scores or of their mask at one time: 0 where a kernel keeps them in its tiles."""
        if self.path == "tiles":
            return self._tile * max(torch.finfo(self.layout.dtype).bits // 8, 4)
        if self.inner is not None:
            return self.inner.stored
        if self.path in ("additive-fused", "region-fused", "sdpa-checked"):
            return 0
        if self.path == "sdpa":
            return self._mask
        return self.pairs * max(torch.finfo(self.layout.dtype).bits // 8, 4)

    @property
    def _mask(self) -> int:
        """Bytes of what a kernel for dot products is told about the pairs."""
        layout, bias = self.layout, self.layout.bias
        each = torch.finfo(layout.dtype if bias is None else bias.dtype).bits // 8
        if bias is None:
            # a CPU's kernel makes numbers of what is true and false
            on_cpu = layout.device.type == "cpu"
            pairs = layout.masks * layout.queries * layout.keys
            return pairs * (1 + each if on_cpu else 1) if _masks_pairs(layout) else 0
        by_key = layout.masked != "pairs" and layout.patterns == (Pattern(),)
        rows = 1 if by_key and bias.per_key else layout.queries
        return max(layout.masks, math.prod(bias.shape[:-2])) * rows * layout.keys * each

    @property
    def holds(self) -> str:
        """What `stored` is made of."""
        if self.path == "sdpa" and self.stored:
            return "mask" if self.layout.bias is None else "bias"
        return "scores"

    def __str__(self) -> str:
        layout = self.layout
        dense = math.prod(layout.lead) * layout.queries * layout.keys
        share = f" of {dense:,} (1/{dense / self.pairs:.3g})" if 0 < self.pairs < dense else ""
        lines = [f"{self.path}: {self.why}"]
        last = self
        while last.inner is not None:
            joined = "for the context" if last.path == "tiles" else "then"
            last = last.inner
            lines.append(f"  {joined} {last.path}: {last.why}")
        lines.append(f"  pairs    {self.pairs:,}{share}")
        lines.append(f"  forward  {_amount(self.flops, 'FLOP', 1000)}")
        holds = "scores" if self.path == "tiles" else last.holds
        lines.append(f"  memory   {_amount(self.stored, 'B', 1024)} of {holds} at one time")
        return "\n".join(lines)


def choose(call: AttentionCall, layout: Layout) -> Plan:
    """The path for this call. The first reason that holds decides; nothing falls back silently."""

    def plan(path: str, why: str, inner: Layout | None = None) -> Plan:
        then = None if inner is None else choose(call, inner)
        return Plan(path, why, layout, call.score.operations, then)

    if 0 in (layout.queries, layout.keys, layout.size, layout.value_size, *layout.lead):
        return plan("dense", "an axis has length 0")
    additive_scores = call.score.kernel == "additive" and call.normalize.needs_scores

    def how() -> str:
        return f"; {_source(layout)}" if additive_scores else ""

    if isinstance(call.weights, Weights):
        return _asked(call, layout)
    if call.weights:
        return plan("dense", f"the weights were asked for, and only this path keeps them{how()}")
    if call.limits.factor is not None:
        region = type(call.limits.region).__name__
        return plan("dense", f"{region} weighs the keys after the softmax{how()}")
    if call.normalize.random:
        return plan("dense", f"{type(call.normalize).__name__} needs the weights to choose{how()}")
    if cancels(call, layout):
        return plan(
            "one-row", "the query cancels in this score, so all queries share one row of weights"
        )
    if (taken := call.for_kernel) is not None:
        count, seen = taken.passes.passes, taken.passes.seen
        if taken.sdpa is not None:
            why = f"torch's kernel ({taken.sdpa}) is the fastest; what is not finite, ours computes again"
            return replace(plan("sdpa-checked", why), seen=seen)
        again = "" if count == 1 else f", in {count} passes"
        why = f"one kernel loops over the keys of the region{again}; O(L) memory"
        return replace(plan("region-fused", why), seen=seen)
    if call.score.pairwise:
        pattern = layout.pattern
        if pattern is not None and layout.masked != "pairs":
            if pattern.rate > 1 and pattern.offset % pattern.rate == 0:
                rate = pattern.rate
                why = f"one key in {rate} is allowed: queries and keys are dealt out {rate} ways"
                return plan("strided", why, layout.strided(pattern))
            if pays_in_blocks(call, layout, pattern):
                seen = int(pattern.before + pattern.after) + 1
                why = _told("a query sees at most {} of {} keys", seen, layout.keys)
                return plan("blocks", why, layout.blocked(pattern))
        if call.normalize.any_order and sparse_pays(layout):
            near, far = sparse_parts(layout)
            why = "a query sees at most {} near keys and {} spread ones"
            return plan("sparse", _told(why, near.keys, far.keys))
    if fits_sdpa(call, layout):
        bias = "" if call.bias is None else "; the bias is its mask"
        name, pairs = type(call.score).__name__, _why_pairs(layout)
        return plan(
            "sdpa", f"{name} is a dot product and nobody asked for all weights{bias}{pairs}"
        )
    if fits_fused_additive(call, layout):
        kernel = additive.backend(layout.device)
        return plan("additive-fused", f"online softmax in the {kernel} kernel; O(L) memory")
    if additive_scores and layout.dtype != torch.float64:
        return plan("additive", f"{_source(layout)}; {_why_dense(call, layout)}")
    return plan("dense", _why_dense(call, layout) + how())


def _told(why: str, *numbers: int) -> str:
    """The reason with its numbers; in a graph without, since these may be another time others."""
    return why if torch.compiler.is_compiling() else why.format(*numbers)


def _asked(call: AttentionCall, layout: Layout) -> Plan:
    """For some of the weights: tiles of them beside the path of the context, or under it."""
    rest = choose(replace(call, weights=False), layout)
    by_definition, name = rest.path in BY_DEFINITION, type(call.score).__name__

    def dense(why: str) -> Plan:
        return Plan("dense", why, layout, call.score.operations)

    if not call.score.pairwise:
        return dense(f"{name} scores all queries together, so that all weights are there at once")
    if call.training and call.normalize.random:
        return dense(f"{type(call.normalize).__name__} draws for all queries at once")
    if by_definition and call.dropout:
        return dense("dropout draws for all queries at once")
    asked = call.weights
    assert isinstance(asked, Weights)
    beside = 0 if asked.rows is None else len(asked.chosen_rows(layout.queries))
    beside *= layout.keys
    rows = tile_rows(layout)
    at_once = rows * layout.keys
    if asked.each_row and not by_definition:  # else the context comes from the same weights
        tiles = asked_tiles(layout, asked, True)
        beside += sum(tile.pairs for tile in tiles)
        rows = tiles[0].end - tiles[0].start
        at_once = max(tile.pairs for tile in tiles)
    why = _told("what was asked of the weights is computed for {} queries at a time", rows)
    return Plan("tiles", why, layout, call.score.operations, rest, beside, at_once=at_once)


def asked_tiles(layout: Layout, asked: Weights | None, pairwise: bool) -> list[TilePlace]:
    """The queries, some at a time, and of the keys those that they may see."""
    if asked is None:
        return weight_tiles(layout, False)
    return weight_tiles(layout, pairwise, asked.largest or 1, asked.blocks or 1)


def cancels(call: AttentionCall, layout: Layout) -> bool:
    """Whether every query has the same weights, whatever it is."""
    return (
        call.score.query_cancels
        and call.score.query_size is not None  # one row needs a query of some size
        and call.normalize.shift_invariant
        and call.normalize.needs_scores
        and layout.patterns == (Pattern(),)
        and layout.masked != "pairs"
        and layout.queries > 1
        and (layout.bias is None or layout.bias.per_key)
        and not call.dropout  # which each query draws for itself
        and not _changes_scores(call)
    )


def _changes_scores(call: AttentionCall) -> str | None:
    """What none of the kernels but that of a region knows of."""
    if call.cap:
        return "a cap bends the scores"
    return None if call.sinks is None else "a sink takes part of every row"


def fits_sdpa(call: AttentionCall, layout: Layout) -> bool:
    return (
        call.score.kernel == "dot"
        and usual_softmax(call.normalize)
        and layout.dtype != torch.float64
        and not (call.dropout and call.generator is not None)
        and not _changes_scores(call)
        and _no_fused_bias(call, layout) is None
    )


def _masks_pairs(layout: Layout) -> bool:
    """Whether torch's kernel needs a mask of all pairs: causal alone, and a mask of keys alone, it does
    without.
    """
    if layout.patterns == (Pattern(),):
        return layout.masked == "pairs"
    return layout.patterns != (Pattern(after=0),) or layout.masked != "no"


def _why_pairs(layout: Layout) -> str:
    """What made a mask of all pairs of a region."""
    if layout.patterns == (Pattern(),) or layout.bias is not None or not _masks_pairs(layout):
        return ""
    if layout.patterns == (Pattern(after=0),):
        return "; causal and a mask together are a mask of all pairs here"
    return "; the region is a mask of all pairs here"


def _no_fused_bias(call: AttentionCall, layout: Layout) -> str | None:
    """Why torch's fused kernels do not take this bias; None: they do, or there is none."""
    bias = layout.bias
    if bias is None:
        return None
    if layout.device.type == "cpu":
        return "torch's fused kernel gives a bias no gradient on a CPU" if bias.learns else None
    if bias.dtype != layout.dtype:
        return f"torch's fused kernels take no {str(bias.dtype)[6:]} bias beside {str(layout.dtype)[6:]}"
    if call.normalize.softmax_temperature != 1.0 and bias.dtype != torch.float32:
        return "a temperature divides a bias in float32"
    return None


def fits_fused_additive(call: AttentionCall, layout: Layout) -> bool:
    return (
        call.score.kernel == "additive"
        and usual_softmax(call.normalize)
        and layout.dtype != torch.float64
        and not call.dropout
        and not _changes_scores(call)
        and layout.bias is None
        and layout.pattern is not None
        and layout.pattern.rate == 1
        and layout.scores > KEPT
    )


def pays_in_blocks(call: AttentionCall, layout: Layout, pattern: Pattern) -> bool:
    if pattern.rate != 1 or math.inf in (pattern.before, pattern.after):
        return False
    if fits_fused_additive(call, layout):  # its kernel skips what lies outside the band by itself
        return False
    size = block_size(pattern)
    few = 2 * (size + pattern.before + pattern.after) <= layout.keys
    return layout.queries > size and few and _meets_keys(layout, pattern)


def _meets_keys(layout: Layout, pattern: Pattern) -> bool:
    """Whether the queries stand near enough for the spans of their blocks to hold a key."""
    first, last = pattern.offset - pattern.before, pattern.offset + layout.queries + pattern.after
    return first <= layout.keys and last >= 0


def sparse_pays(layout: Layout) -> bool:
    if layout.patterns is None or len(layout.patterns) != 2 or layout.masked == "pairs":
        return False
    near, far = layout.patterns
    if near.rate != 1 or math.inf in (near.before, near.after) or far.offset % far.rate:
        return False
    if not _meets_keys(layout, near):
        return False
    blocks, strides = sparse_parts(layout)
    return far.rate > 1 and 2 * (blocks.keys + strides.keys) <= layout.keys


def _source(layout: Layout) -> str:
    """Where additive scores come from."""
    rows = math.prod(layout.lead)
    kernel = additive.backend(layout.device, (rows, layout.queries, layout.keys, layout.size))
    return f"{'torch' if kernel == 'torch' else f'the {kernel} kernel'} gives the scores"


def _why_dense(call: AttentionCall, layout: Layout) -> str:
    score, normalize, kernel = call.score, call.normalize, call.score.kernel
    if normalize.softmax_temperature is None:
        return f"{type(normalize).__name__} has no fused kernel"
    if layout.dtype == torch.float64:
        return "float64 runs on the definition, which can be differentiated twice"
    if not usual_softmax(normalize):
        return f"a temperature of {normalize.softmax_temperature:g} needs the scores shifted first"
    if kernel is not None and (what := _changes_scores(call)) is not None:
        return what
    if call.dropout and kernel == "dot":
        return "dropout drawn from a generator of your own"
    if call.dropout:
        return "dropout acts on the weights"
    if kernel == "dot":
        return _no_fused_bias(call, layout) or "no fused kernel takes it"
    if kernel == "additive":
        few = f"{_amount(layout.scores, 'B', 1024)} are kept for the gradient"
        if layout.scores <= KEPT:
            return few
        beyond = "this region is no band of keys"
        return beyond if layout.bias is None else "the fused kernel takes no bias"
    return f"{type(score).__name__} has no fused kernel"


def _amount(number: float, unit: str, step: int) -> str:
    if isinstance(number, torch.SymInt):  # of a graph for every size
        return f"{number} {unit}"
    for prefix in ("", "k", "M", "G", "T"):
        if number < step or prefix == "T":
            return f"{number:.3g} {prefix}{unit}"
        number /= step
    raise AssertionError
