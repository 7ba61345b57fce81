"""The kernels of a region, launched: forward and backward of `region_attention`.

A region that is near keys and spread ones (`sparse`) takes two passes: the second adds to what the first has
given, which is kept in float32 in between.
"""

# ruff: noqa: N806  (sizes are capitals)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.attention.kernels.launch import Launch
from regard.attention.kernels.region.region_attention import empty_context
from regard.attention.kernels.region.region_check import CHECKED_ROWS
from regard.attention.kernels.region.region_launches import (
    Given,
    GradientLaunches,
    again_launch,
    check_launch,
    forward_launch,
    gradient_launches,
    precision,
)
from regard.attention.kernels.region.region_passes import RegionPass
from regard.attention.kernels.tile_sizes import chosen_tiles

NUMBERS = len(RegionPass._fields)
TENSORS = Given._fields[:5]


class RegionWork:
    """The launches of a call and of its gradient, for tensors of the same shapes, strides and dtypes.

    Each is made when it is wanted first. All tensors have the features of a row side by side.
    """

    def __init__(self, given: Given) -> None:
        self.held = [name for name in TENSORS if getattr(given, name) is not None]
        self.bare = Given(None, None, None, None, None, *given[5:])
        cuts = range(0, len(given.numbers), NUMBERS)
        self.passes = tuple(RegionPass(*given.numbers[cut : cut + NUMBERS]) for cut in cuts)
        self.forwards: list[Launch | None] = [None] * len(self.passes)
        self.backwards: dict[Any, list[GradientLaunches | None]] = {}
        self.others: dict[Any, Launch] = {}

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, given: Given,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """context (B, H, Lq, Dv), lse (B, H, Lq) in float32; for a row without keys 0 and −∞."""
        if _is_elsewhere(query):
            with torch.cuda.device(query.device):
                return self.forward(query, key, value, given)
        context, lse = empty_context(query, value)
        earlier, earlier_lse = lse, lse
        launches = self.forwards
        pointers = _tensors(given, query)
        sink = query if given.sink is None else given.sink
        last = len(launches) - 1
        for step, launch in enumerate(launches):
            out, log = context, lse
            if step != last:
                out = query.new_empty(context.shape, dtype=torch.float32)
                log = torch.empty_like(lse)
            if launch is None:
                each = self.passes[step]
                launch = launches[step] = forward_launch(
                    query, key, value, out, given, each, carry=step > 0
                )
            launch(query, key, value, out, log, earlier, earlier_lse, *pointers, sink)
            earlier, earlier_lse = out, log
        return context, lse

    def backward(
        self, grad: Tensor, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor,
        given: Given, *, bias_learns: bool = False,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:  # fmt: skip
        """dquery, dkey, dvalue; dbias (B, H, Lq or 1, Lk) in float32, if it learns."""
        if _is_elsewhere(query):
            with torch.cuda.device(query.device):
                return self.backward(
                    grad, query, key, value, context, lse, given, bias_learns=bias_learns
                )
        asked: Any = (grad.stride(), context.stride())
        empty = torch.empty_like
        results: Sequence[Tensor] = (empty(query), empty(key), empty(value))
        dbias, kind = None, 0
        if bias_learns:
            dbias, kind = _bias_gradient(query, key, given)
            asked = (asked, kind)
        launches = self.backwards.get(asked)
        if launches is None:
            launches = self.backwards[asked] = [None] * len(self.passes)
        pointers = _tensors(given, query)
        earlier: Sequence[Tensor] = (lse, lse, lse)
        earlier_bias = dbias
        last = len(launches) - 1
        for step, launch in enumerate(launches):
            made = results
            if step != last:
                made = [x.new_empty(x.shape, dtype=torch.float32) for x in results]
            if dbias is not None and kind == 1 and step:
                earlier_bias, dbias = dbias, torch.empty_like(dbias)
            if launch is None:
                each = self.passes[step]
                launch = launches[step] = gradient_launches(
                    query, key, value, context, grad, made, given, each, kind, carry=step > 0
                )
            bias_out = query if dbias is None else dbias
            dq, dk, dv = made
            logs, delta = lse.new_empty(launch.logs), lse.new_empty(launch.logs)
            launch.of_queries(
                query, key, value, context, lse, grad, logs, delta, dq, earlier[0], bias_out, *pointers
            )  # fmt: skip
            sums = lse if launch.of_sums is None else lse.new_empty(launch.sums)
            launch.of_keys(
                query, key, value, context, logs, grad, delta, dk, dv, bias_out, earlier[1], earlier[2],
                query if earlier_bias is None else earlier_bias, sums, *pointers,
            )  # fmt: skip
            if launch.of_sums is not None:
                launch.of_sums(sums, dk, dv)
            earlier = made
        return results[0], results[1], results[2], dbias

    def mend(
        self, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor, given: Given
    ) -> Tensor:
        """Context and log-sum-exp of another kernel, made as ours would be where numbers are not finite.

        -> where that is: (B, H, checks) int8, by tiles of rows.
        """
        if _is_elsewhere(query):
            with torch.cuda.device(query.device):
                return self.mend(query, key, value, context, lse, given)
        rows, each = max(query.shape[2], key.shape[2]), self.passes[0]
        found = query.new_empty((*query.shape[:2], -(-rows // CHECKED_ROWS)), dtype=torch.int8)
        asked, all_keys = context.stride(), min(-each.lo_a, each.hi_a) >= rows
        check = self.others.get(("check", asked))
        if check is None:
            check = check_launch(key, value, context, found, all_keys=all_keys)
            self.others["check", asked] = check
        check(key, value, context, lse, found)
        if not all_keys:
            again = self.others.get(("forward", asked))
            if again is None:
                again = again_launch(query, key, value, context, (), given, each, found)
                self.others["forward", asked] = again
            again(query, key, value, context, lse, found)
        return found

    def mend_gradients(
        self, grad: Tensor, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor,
        given: Given, found: Tensor, results: Sequence[Tensor],
    ) -> None:  # fmt: skip
        """dquery, dkey, dvalue of another kernel, where `found` says that a head is not finite."""
        if _is_elsewhere(query):
            with torch.cuda.device(query.device):
                return self.mend_gradients(
                    grad, query, key, value, context, lse, given, found, results
                )
        asked = (found.shape, *(x.stride() for x in (grad, context, *results)))
        again = self.others.get(asked)
        if again is None:
            gradients = (grad, *results)
            again = again_launch(
                query, key, value, context, gradients, given, self.passes[0], found
            )
            self.others[asked] = again
        return again(query, key, value, context, lse, grad, *results, found)


_KEPT: dict[Any, RegionWork] = {}
MOST_KEPT = 4096


def work_for(
    query: Tensor, key: Tensor, value: Tensor, given: Given, *, mends: bool = False
) -> RegionWork:
    """That of an earlier call with the same shapes, strides, dtypes and numbers, or a new one."""
    asked = (
        mends,
        *[(x.shape, x.stride()) for x in (query, key, value)],
        *[None if x is None else (x.shape, x.stride(), x.dtype) for x in given[:5]],
        given[5:],
        query.dtype,
        query.device,
        settings(query.dtype),
    )
    kept = _KEPT.get(asked)
    if kept is None:
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        kept = _KEPT[asked] = RegionWork(given)
    return kept


def settings(dtype: torch.dtype) -> Any:
    """What else decides how the kernels are compiled: of the program, not of a call."""
    return precision(dtype), chosen_tiles()


def _is_elsewhere(x: Tensor) -> bool:
    """Whether kernels would be launched on another device than that of the tensor."""
    return x.is_cuda and torch.cuda.current_device() != x.get_device()


def _tensors(given: Given, dummy: Tensor) -> tuple[Tensor, ...]:
    """Any pointer will do for what is not there."""
    mask = dummy if given.mask is None else given.mask
    documents = dummy if given.documents is None else given.documents
    prefix = dummy if given.prefix is None else given.prefix
    bias = dummy if given.bias is None else given.bias
    return documents, prefix, mask, bias


def _bias_gradient(query: Tensor, key: Tensor, given: Given) -> tuple[Tensor, int]:
    """Where it is summed: by keys if the bias is theirs alone, else pair by pair."""
    assert given.bias is not None
    (B, H, Lq, _), Lk = query.shape, key.shape[2]
    if given.bias.shape[2] == 1:
        return query.new_zeros((B, H, 1, Lk), dtype=torch.float32), 1
    return query.new_zeros((B, H, Lq, Lk), dtype=torch.float32), 2
