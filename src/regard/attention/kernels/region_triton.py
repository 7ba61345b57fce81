"""The kernels of a region, launched: forward and backward of `regard.attention.kernels.region_attention`.

A region that is near keys and spread ones (`sparse`) takes two passes: the second adds to what the first has
given, which is kept in float32 in between.
"""

# ruff: noqa: N806  (sizes are capitals)

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.attention.kernels.launch import Launch
from regard.attention.kernels.region_attention import empty_context, in_rows
from regard.attention.kernels.region_check import CHECKED_ROWS, check_kernel
from regard.attention.kernels.region_forward import forward_kernel
from regard.attention.kernels.region_key_gradient import key_kernel
from regard.attention.kernels.region_passes import RegionPass
from regard.attention.kernels.region_query_gradient import query_kernel
from regard.attention.kernels.tile_sizes import RegionTile, block, chosen_tiles, tile_for

NUMBERS = len(RegionPass._fields)


class Given(NamedTuple):
    """Everything but queries, keys and values that the kernels read."""

    mask: Tensor | None  # bool (B, H, Lq or 1, Lk), any strides
    bias: Tensor | None  # the same, float
    sink: Tensor | None  # (H,)
    documents: Tensor | None  # int32 (B or 1, 5, Lk), contiguous
    prefix: Tensor | None  # int32 (B or 1,)
    numbers: tuple[int, ...]  # of the passes, one after the other
    scale: float
    sharpness: float
    cap: float  # 0: none

    @property
    def passes(self) -> tuple[RegionPass, ...]:
        return _passes(self.numbers)


_NOTHING = Given(None, None, None, None, None, (), 0.0, 0.0, 0.0)


@functools.cache
def _passes(numbers: tuple[int, ...]) -> tuple[RegionPass, ...]:
    cuts = range(0, len(numbers), NUMBERS)
    return tuple(RegionPass(*numbers[cut : cut + NUMBERS]) for cut in cuts)


def check(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Where numbers are not finite: (B, H, checks) int8, by tiles of rows; heads share no keys."""
    (B, H, Lq, D), (Lk, Dv) = query.shape, value.shape[2:]
    checks = -(-max(Lq, Lk) // CHECKED_ROWS)
    found = query.new_empty((B, H, checks), dtype=torch.int8)
    launches = _launches("check", 1, _NOTHING, query, key, value)
    if (launch := launches[0]) is None:
        BD, BV = block(D), block(Dv)
        constants = {"BM": CHECKED_ROWS, "BD": BD, "BV": BV, "WHOLE": (D, Dv) == (BD, BV)}
        numbers = (*_strides(query, key, value), H, Lq, Lk, D, Dv, checks)
        launch = launches[0] = Launch(check_kernel, B * H * checks, numbers, constants)
    launch(query, key, value, found)
    return found


def forward(
    query: Tensor, key: Tensor, value: Tensor, given: Given,
    found: Tensor | None = None, onto: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """context (B, H, Lq, Dv), lse (B, H, Lq) in float32; for a row without keys 0 and −∞.

    found: by `check`; only heads that are not finite are computed, over what stands in `onto`.
    """
    query, key, value = in_rows(query), in_rows(key), in_rows(value)
    context, lse = empty_context(query, value) if onto is None else onto
    earlier, earlier_lse = lse, lse
    passes, again = given.passes, found is not None
    launches = _launches("forward", len(passes), given, query, key, value, context, again=again)
    pointers = _tensors(given, query, found)
    for step, each in enumerate(passes):
        last = step == len(passes) - 1
        out = context if last else query.new_empty(context.shape, dtype=torch.float32)
        log = lse if last else torch.empty_like(lse)
        if (launch := launches[step]) is None:
            tile = tile_for("forward", query, key, value, each)
            tiles = _tiles(query.shape[2], each.rate, tile.BM)
            numbers = _numbers(query, key, value, given, each, found)
            constants = _constants(query, key, value, given, each, tile)
            constants |= {"SINK": given.sink is not None and step == 0, "CARRY": step > 0}
            launch = launches[step] = Launch(
                forward_kernel,
                query.shape[0] * query.shape[1] * each.rate * tiles,
                (*_strides(query, key, value, out), *numbers),
                constants | {"CHECKED": again},
            )
        sink = query if given.sink is None else given.sink
        launch(query, key, value, out, log, earlier, earlier_lse, *pointers, sink)
        earlier, earlier_lse = out, log
    return context, lse


def backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor, given: Given,
    found: Tensor | None = None, onto: Sequence[Tensor] | None = None, *, bias_learns: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None]:  # fmt: skip
    """dquery, dkey, dvalue; delta (B, H, Lq); dbias (B, H, Lq or 1, Lk) in float32, if it learns."""
    grad, query, key, value = in_rows(grad), in_rows(query), in_rows(key), in_rows(value)
    results = [torch.empty_like(x) for x in (query, key, value)] if onto is None else onto
    delta = torch.empty_like(lse)
    dbias, kind = _bias_gradient(query, key, given) if bias_learns else (None, 0)
    passes, again = given.passes, found is not None
    tensors = (query, key, value, grad, context, *results)
    launches = _launches(f"backward {kind}", 2 * len(passes), given, *tensors, again=again)
    pointers = _tensors(given, query, found)
    earlier: list[Tensor] = [lse, lse, lse]
    earlier_bias = dbias
    for step, each in enumerate(passes):
        last = step == len(passes) - 1
        dq, dk, dv = (
            results if last else [x.new_empty(x.shape, dtype=torch.float32) for x in results]
        )
        if dbias is not None and kind == 1 and step:
            earlier_bias, dbias = dbias, torch.empty_like(dbias)
        of_queries, of_keys = launches[2 * step : 2 * step + 2]
        if of_queries is None or of_keys is None:
            of_queries, of_keys = launches[2 * step : 2 * step + 2] = _gradient_launches(
                query, key, value, context, grad, (dq, dk, dv), given, each, kind, found, carry=step > 0
            )  # fmt: skip
        bias_out = query if dbias is None else dbias
        of_queries(
            query, key, value, context, lse, grad, delta, dq, earlier[0], bias_out, *pointers
        )
        of_keys(
            query, key, value, lse, grad, delta, dk, dv, bias_out, earlier[1], earlier[2],
            query if earlier_bias is None else earlier_bias, *pointers,
        )  # fmt: skip
        earlier = [dq, dk, dv]
    return results[0], results[1], results[2], delta, dbias


def _gradient_launches(
    query: Tensor, key: Tensor, value: Tensor, context: Tensor, grad: Tensor,
    results: tuple[Tensor, Tensor, Tensor], given: Given, each: RegionPass, kind: int,
    found: Tensor | None, *, carry: bool,
) -> tuple[Launch, Launch]:  # fmt: skip
    """That of the queries, then that of the keys."""
    dq, dk, dv = results
    (B, H, Lq, _), (Hk, Lk) = query.shape, key.shape[1:3]
    shared = {"DBIAS": kind, "CARRY": carry, "CHECKED": found is not None}
    numbers = _numbers(query, key, value, given, each, found)
    rows, columns = (tile_for(name, query, key, value, each) for name in ("query", "key"))
    return (
        Launch(
            query_kernel,
            B * H * each.rate * _tiles(Lq, each.rate, rows.BM),
            (*_strides(query, key, value, context, grad, dq), *numbers),
            {**shared, **_constants(query, key, value, given, each, rows)},
        ),
        Launch(
            key_kernel,
            B * Hk * each.rate * _tiles(Lk, each.rate, columns.BN),
            (*_strides(query, key, value, grad, dk, dv), *numbers),
            {**shared, **_constants(query, key, value, given, each, columns)},
        ),
    )


_KEPT: dict[Any, list[Launch | None]] = {}
MOST_KEPT = 4096


def _launches(
    kind: str, count: int, given: Given, *tensors: Tensor, again: bool = False
) -> list[Launch | None]:
    """Those of an earlier call with the same shapes, strides, dtypes and numbers; None is to be filled."""
    query = tensors[0]
    asked = (
        kind,
        again,
        *[(x.shape, x.stride()) for x in tensors],
        *[None if x is None else (x.shape, x.stride(), x.dtype) for x in given[:5]],
        given[5:],
        query.dtype,
        query.device,
        precision(query.dtype),
        chosen_tiles(),
    )
    kept = _KEPT.get(asked)
    if kept is None:
        if len(_KEPT) >= MOST_KEPT:
            _KEPT.clear()
        kept = _KEPT[asked] = [None] * count
    return kept


def _strides(*tensors: Tensor) -> list[int]:
    return [step for x in tensors for step in x.stride()[:3]]


def _spread(x: Tensor | None) -> tuple[int, int, int, int]:
    """Strides of (B, H, Lq, Lk), 0 where an axis has length 1."""
    if x is None:
        return 0, 0, 0, 0
    b, h, m, n = (s if size > 1 else 0 for s, size in zip(x.stride(), x.shape, strict=True))
    return b, h, m, n


def _given_strides(given: Given) -> tuple[int, ...]:
    documents, prefix = given.documents, given.prefix
    of_documents = 0 if documents is None or len(documents) == 1 else documents.stride(0)
    of_prefix = 0 if prefix is None or len(prefix) == 1 else prefix.stride(0)
    return *_spread(given.mask), *_spread(given.bias), of_documents, of_prefix


def _tensors(given: Given, dummy: Tensor, found: Tensor | None) -> tuple[Tensor, ...]:
    """Any pointer will do for what is not there."""
    mask = dummy if given.mask is None else given.mask.view(torch.uint8)
    documents = dummy if given.documents is None else given.documents
    prefix = dummy if given.prefix is None else given.prefix
    bias = dummy if given.bias is None else given.bias
    return documents, prefix, mask, bias, dummy if found is None else found


def _numbers(
    query: Tensor, key: Tensor, value: Tensor, given: Given, each: RegionPass, found: Tensor | None
) -> tuple[float, ...]:
    """What all three kernels are told."""
    checks = 0 if found is None else found.shape[2]
    sizes = query.shape[1], query.shape[2], key.shape[2], query.shape[3], value.shape[3]
    return (
        *_given_strides(given),
        *sizes,
        *each[1:8],
        given.scale,
        given.sharpness,
        given.cap,
        checks,
    )


def _bias_gradient(query: Tensor, key: Tensor, given: Given) -> tuple[Tensor, int]:
    """Where it is summed: by keys if the bias is theirs alone, else pair by pair."""
    assert given.bias is not None
    (B, H, Lq, _), Lk = query.shape, key.shape[2]
    if given.bias.shape[2] == 1:
        return query.new_zeros((B, H, 1, Lk), dtype=torch.float32), 1
    return query.new_zeros((B, H, Lq, Lk), dtype=torch.float32), 2


def _constants(
    query: Tensor, key: Tensor, value: Tensor, given: Given, each: RegionPass, tile: RegionTile
) -> dict[str, Any]:
    D, Dv = query.shape[3], value.shape[3]
    BD, BV = block(D), block(Dv)
    constants: dict[str, Any] = {
        "RATE": each.rate,
        "GROUP": query.shape[1] // key.shape[1],
        "TWO": bool(each.two),
        "DOCUMENTS": given.documents is not None,
        "PREFIX": bool(each.prefix),
        "MASK": 0 if given.mask is None else 1 if given.mask.shape[2] == 1 else 2,
        "BIAS": 0 if given.bias is None else 1 if given.bias.shape[2] == 1 else 2,
        "CAP": given.cap > 0,
        "PRECISION": precision(query.dtype),
        "WHOLE": D == BD and Dv == BV,
        "BM": tile.BM,
        "BN": tile.BN,
        "BD": BD,
        "BV": BV,
        "num_warps": tile.warps,
        "num_stages": tile.stages,
    }
    return constants


def _tiles(length: int, rate: int, block: int) -> int:
    return -(-length // (rate * block))


def precision(dtype: torch.dtype) -> str:
    """Of the products of float32: three of tf32 are as exact; one, where torch is told that it will do."""
    if dtype != torch.float32:
        return "tf32"  # no matter
    matmul = torch.backends.cuda.matmul
    said = getattr(matmul, "fp32_precision", None)  # which torch has from 2.9 on
    return "tf32" if said == "tf32" or (said is None and matmul.allow_tf32) else "tf32x3"
