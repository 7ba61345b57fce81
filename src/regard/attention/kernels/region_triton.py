"""The kernels of a region, launched: forward and backward of `regard.attention.kernels.region_attention`.

A region that is near keys and spread ones (`sparse`) takes two passes: the second adds to what the first has
given, which is kept in float32 in between.
"""

# ruff: noqa: N806  (sizes are capitals)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import triton
from torch import Tensor

from regard.attention.kernels.region_attention import empty_context, in_rows
from regard.attention.kernels.region_forward import forward_kernel
from regard.attention.kernels.region_key_gradient import key_kernel
from regard.attention.kernels.region_passes import RegionPass
from regard.attention.kernels.region_query_gradient import query_kernel

NUMBERS = len(RegionPass._fields)


class RegionTile(NamedTuple):
    """Queries and keys of a tile, and how it is computed."""

    BM: int
    BN: int
    warps: int = 4
    stages: int = 2


class Given(NamedTuple):
    """Everything but queries, keys and values that the kernels read."""

    mask: Tensor | None  # bool (B, H, Lq or 1, Lk), any strides
    bias: Tensor | None  # the same, float
    sink: Tensor | None  # (H,)
    documents: Tensor | None  # int32 (B or 1, 5, Lk), contiguous
    prefix: Tensor | None  # int32 (B or 1,)
    passes: list[RegionPass]
    scale: float
    sharpness: float
    cap: float  # 0: none

    @classmethod
    def of(cls, mask, bias, sink, documents, prefix, numbers: Sequence[int], *factors) -> Given:
        cuts = range(0, len(numbers), NUMBERS)
        passes = [RegionPass(*numbers[cut : cut + NUMBERS]) for cut in cuts]
        return cls(mask, bias, sink, documents, prefix, passes, *factors)


def forward(query: Tensor, key: Tensor, value: Tensor, given: Given) -> tuple[Tensor, Tensor]:
    """context (B, H, Lq, Dv), lse (B, H, Lq) in float32; for a row without keys 0 and −∞."""
    query, key, value = (in_rows(x) for x in (query, key, value))
    context, lse = empty_context(query, value)
    shape = context.shape
    earlier, earlier_lse = lse, lse
    for step, each in enumerate(given.passes):
        last = step == len(given.passes) - 1
        out = context if last else query.new_empty(shape, dtype=torch.float32)
        log = lse if last else torch.empty_like(lse)
        tile = tile_for("forward", query, key, value, each)
        grid = (
            query.shape[0] * query.shape[1] * each.rate * _tiles(query.shape[2], each.rate, tile.BM)
        )
        if grid:
            forward_kernel[(grid,)](
                query, key, value, out, log, earlier, earlier_lse, *_tensors(given, query),
                query if given.sink is None else given.sink,
                *_strides(query), *_strides(key), *_strides(value), *_strides(out),
                *_given_strides(given), *_sizes(query, key, value), *each[1:8],
                given.scale, given.sharpness, given.cap,
                SINK=given.sink is not None and step == 0, CARRY=step > 0,
                **_constants(query, key, value, given, each, tile),
            )  # fmt: skip
        earlier, earlier_lse = out, log
    return context, lse


def backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, context: Tensor, lse: Tensor, given: Given,
    *, bias_learns: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None]:  # fmt: skip
    """dquery, dkey, dvalue; delta (B, H, Lq); dbias (B, H, Lq or 1, Lk) in float32, if it learns."""
    grad, query, key, value = (in_rows(x) for x in (grad, query, key, value))
    results = [torch.empty_like(x) for x in (query, key, value)]
    delta = torch.empty_like(lse)
    dbias, kind = _bias_gradient(query, key, given) if bias_learns else (None, 0)
    (B, H, Lq, _), (Hk, Lk) = query.shape, key.shape[1:3]
    pointers, numbers = _tensors(given, query), (given.scale, given.sharpness, given.cap)
    earlier: list[Tensor] = [lse, lse, lse]
    earlier_bias = dbias
    for step, each in enumerate(given.passes):
        last = step == len(given.passes) - 1
        dq, dk, dv = (
            results if last else [x.new_empty(x.shape, dtype=torch.float32) for x in results]
        )
        if kind == 1 and step:
            earlier_bias, dbias = dbias, lse.new_empty(B, H, 1, Lk)
        shared = {"DBIAS": kind, "CARRY": step > 0}
        sizes, bounds, strides = _sizes(query, key, value), each[1:8], _given_strides(given)
        bias_out = dbias if dbias is not None else query
        tile = tile_for("query", query, key, value, each)
        grid = B * H * each.rate * _tiles(Lq, each.rate, tile.BM)
        if grid:
            query_kernel[(grid,)](
                query, key, value, context, lse, grad, delta, dq, earlier[0], bias_out, *pointers,
                *_strides(query), *_strides(key), *_strides(value), *_strides(context), *_strides(grad),
                *_strides(dq), *strides, *sizes, *bounds, *numbers,
                **shared, **_constants(query, key, value, given, each, tile),
            )  # fmt: skip
        tile = tile_for("key", query, key, value, each)
        grid = B * Hk * each.rate * _tiles(Lk, each.rate, tile.BN)
        if grid:
            key_kernel[(grid,)](
                query, key, value, lse, grad, delta, dk, dv, bias_out, earlier[1], earlier[2],
                earlier_bias if earlier_bias is not None else query, *pointers,
                *_strides(query), *_strides(key), *_strides(value), *_strides(grad), *_strides(dk),
                *_strides(dv), *strides, *sizes, *bounds, *numbers,
                **shared, **_constants(query, key, value, given, each, tile),
            )  # fmt: skip
        earlier = [dq, dk, dv]
    return results[0], results[1], results[2], delta, dbias


def _strides(x: Tensor) -> tuple[int, int, int]:
    return x.stride(0), x.stride(1), x.stride(2)


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


def _tensors(given: Given, dummy: Tensor) -> tuple[Tensor, ...]:
    """Any pointer will do for what is not there."""
    mask = dummy if given.mask is None else given.mask.view(torch.uint8)
    documents = dummy if given.documents is None else given.documents
    prefix = dummy if given.prefix is None else given.prefix
    bias = dummy if given.bias is None else given.bias
    return documents, prefix, mask, bias


def _sizes(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, ...]:
    return query.shape[1], query.shape[2], key.shape[2], query.shape[3], value.shape[3]


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
    BD, BV = _block(D), _block(Dv)
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


def _block(size: int) -> int:
    return max(16, triton.next_power_of_2(size))


def _tiles(length: int, rate: int, block: int) -> int:
    return triton.cdiv(triton.cdiv(length, rate), block)


def precision(dtype: torch.dtype) -> str:
    """Of the products of float32: three of tf32 are as exact; one, where torch is told that it will do."""
    if dtype != torch.float32:
        return "tf32"  # no matter
    matmul = torch.backends.cuda.matmul
    said = getattr(matmul, "fp32_precision", None)  # which torch has from 2.9 on
    return "tf32" if said == "tf32" or (said is None and matmul.allow_tf32) else "tf32x3"


TILES: dict[tuple[str, bool, int], RegionTile] = {
    # kernel, half precision, features up to
    ("forward", True, 64): RegionTile(64, 64, 4, 3),
    ("forward", True, 128): RegionTile(128, 64, 8, 2),
    ("forward", True, 256): RegionTile(64, 64, 8, 2),
    ("query", True, 64): RegionTile(64, 64, 4, 2),
    ("query", True, 128): RegionTile(64, 64, 8, 2),
    ("query", True, 256): RegionTile(64, 32, 8, 1),
    ("key", True, 64): RegionTile(64, 64, 4, 2),
    ("key", True, 128): RegionTile(64, 64, 8, 2),
    ("key", True, 256): RegionTile(32, 64, 8, 1),
    ("forward", False, 64): RegionTile(64, 32, 4, 2),
    ("forward", False, 128): RegionTile(64, 32, 4, 2),
    ("forward", False, 256): RegionTile(32, 32, 4, 1),
    ("query", False, 64): RegionTile(64, 32, 4, 2),
    ("query", False, 128): RegionTile(32, 32, 4, 1),
    ("query", False, 256): RegionTile(32, 16, 4, 1),
    ("key", False, 64): RegionTile(32, 128, 8, 2),
    ("key", False, 128): RegionTile(32, 32, 4, 1),
    ("key", False, 256): RegionTile(16, 32, 4, 1),
}
CHOSEN: dict[str, RegionTile] = {}  # by kernel: for measurements and tests, in place of the table


def tile_for(
    kernel: str, query: Tensor, key: Tensor, value: Tensor, each: RegionPass
) -> RegionTile:
    """The tile in use; of few queries or keys, as of a large rate or a step of decoding, a lower one."""
    if kernel in CHOSEN:
        return CHOSEN[kernel]
    width = max(64, _block(query.shape[3]), _block(value.shape[3]))
    tile = TILES[kernel, query.dtype != torch.float32, width]
    rows, columns = (triton.cdiv(x.shape[2], each.rate) for x in (query, key))
    BM = tile.BM if rows > 64 else min(tile.BM, 64 if rows > 16 else 16)
    BN = tile.BN if columns > 64 else min(tile.BN, 64 if columns > 32 else 32)
    return tile if tile[:2] == (BM, BN) else RegionTile(BM, BN, 4, tile.stages)
