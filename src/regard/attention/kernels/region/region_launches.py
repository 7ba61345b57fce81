"""What the kernels of a region are told beside their tensors: numbers, constants, how many programs run."""

# ruff: noqa: N806  (sizes are capitals)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.attention.kernels.launch import Launch
from regard.attention.kernels.region.region_check import CHECKED_ROWS, check_kernel
from regard.attention.kernels.region.region_forward import forward_kernel
from regard.attention.kernels.region.region_key_gradient import key_kernel, sum_kernel
from regard.attention.kernels.region.region_passes import FAR, RegionPass
from regard.attention.kernels.region.region_query_gradient import query_kernel
from regard.attention.kernels.region.region_reserve import (
    PROGRAMS,
    forward_again_kernel,
    gradients_again_kernel,
)
from regard.attention.kernels.tile_sizes import (
    RegionTile,
    block,
    dealt_out_to,
    tile_for,
)


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


class GradientLaunches(NamedTuple):
    of_queries: Launch
    of_keys: Launch
    of_sums: Launch | None  # where several programs share a tile of keys
    sums: tuple[int, int, int]  # programs, keys, features of keys and values
    logs: int  # numbers: of queries, class by class, and of a tile more


SHARED_TILES, SHARED_PROGRAMS = 16, 512
ALIGNED = 16  # numbers, so that kernels may read several at a time


def check_launch(
    key: Tensor, value: Tensor, context: Tensor, found: Tensor, *, all_keys: bool
) -> Launch:
    (B, H, Lq, D), Lk, checks = context.shape, key.shape[2], found.shape[2]
    BD = block(D)
    constants = {"ALL": all_keys, "BM": CHECKED_ROWS, "BD": BD, "WHOLE": D == BD}
    numbers = (*_strides(key, value, context), H, Lq, Lk, D, checks)
    return Launch(check_kernel, B * H * checks, numbers, constants)


def forward_launch(
    query: Tensor, key: Tensor, value: Tensor, out: Tensor, given: Given, each: RegionPass,
    *, carry: bool,
) -> Launch:  # fmt: skip
    tile = tile_for("forward", query, key, value, each, documents=given.documents is not None)
    tiles = _tiles(query.shape[2], each.rate, tile.BM)
    constants = _constants(query, key, value, given, each, tile)
    constants |= {"SINK": given.sink is not None and not carry, "CARRY": carry}
    constants |= {"QL": _known(query), "KL": _known(key), "VL": _known(value)}
    programs = query.shape[0] * query.shape[1] * each.rate * tiles
    return Launch(
        forward_kernel,
        programs,
        (
            *_strides(query, key, value, out),
            *_numbers(query, key, value, given, each),
            _dealt(each, programs, given, key, value),
        ),
        constants,
    )


def gradient_launches(
    query: Tensor, key: Tensor, value: Tensor, context: Tensor, grad: Tensor,
    results: Sequence[Tensor], given: Given, each: RegionPass, kind: int, *, carry: bool,
) -> GradientLaunches:  # fmt: skip
    dq, dk, dv = results
    (B, H, Lq, _), (Hk, Lk) = query.shape, key.shape[1:3]
    shared = {"DBIAS": kind, "CARRY": carry}
    shared |= {"QL": _known(query), "KL": _known(key), "VL": _known(value), "GL": _known(grad)}
    numbers = _numbers(query, key, value, given, each)
    documents = given.documents is not None
    rows, columns = (
        tile_for(name, query, key, value, each, documents=documents) for name in ("query", "key")
    )
    of_keys = _constants(query, key, value, given, each, columns)
    mask = of_keys["MASK"]
    if mask == 1 and given.mask is not None and 1 in (H // Hk, given.mask.shape[1]):
        mask = 3  # keys that no query of their group may attend
    pitch = ALIGNED * _tiles(Lq, each.rate, ALIGNED)
    wide = _wide(each, Lk, columns.BN)
    parts = 1 if kind else _parts(wide * B * Hk, _tiles(Lq, each.rate, columns.BM))
    wides = B * Hk * wide * parts
    key_tiles = _tiles(Lk, each.rate, columns.BN) + wide * (parts - 1)
    summed = None
    if parts > 1:
        sizes = {name: of_keys[name] for name in ("BN", "BD", "BV")}
        factor = given.scale * given.sharpness
        ends = (Hk, Lk, query.shape[3], value.shape[3], factor, wide, parts)
        summed = Launch(sum_kernel, B * Hk * wide, (*_strides(dk, dv), *ends), sizes)
    of_rows = B * H * each.rate * _tiles(Lq, each.rate, rows.BM)
    of_columns = B * Hk * each.rate * key_tiles
    return GradientLaunches(
        Launch(
            query_kernel,
            of_rows,
            (
                *_strides(query, key, value, context, grad, dq),
                *numbers,
                pitch,
                _dealt(each, of_rows, given, key, value),
            ),
            {**shared, **_constants(query, key, value, given, each, rows)},
        ),
        Launch(
            key_kernel,
            of_columns,
            (
                *_strides(query, key, value, context, grad, dk, dv),
                *numbers,
                pitch,
                wides,
                wide,
                parts,
                0 if wide else _dealt(each, of_columns, given, query, grad),
            ),
            {**shared, **of_keys, "WIDE": wide > 0, "MASK": mask},
        ),
        summed,
        (wides, columns.BN, of_keys["BD"] + of_keys["BV"]),
        B * H * each.rate * pitch + columns.BM,
    )


def again_launch(
    query: Tensor, key: Tensor, value: Tensor, context: Tensor, gradients: Sequence[Tensor],
    given: Given, each: RegionPass, found: Tensor,
) -> Launch:  # fmt: skip
    """Of heads that are not finite. gradients: that of the context, then where those of the others are; none,
    for context and log-sum-exp."""
    tile = tile_for("key" if gradients else "forward", query, key, value, each)
    heads = query.shape[0] * query.shape[1]
    tiles = _tiles(query.shape[2], 1, tile.BM)
    tiles += _tiles(key.shape[2], 1, tile.BN) if gradients else 0
    sizes = (query.shape[1], query.shape[2], key.shape[2], query.shape[3], value.shape[3])
    numbers = (*_strides(query, key, value, context, *gradients), *sizes, *each[1:8])
    every = _constants(query, key, value, given, each, tile)
    names = ("PRECISION", "WHOLE", "BM", "BN", "BD", "BV", "num_warps")
    return Launch(
        gradients_again_kernel if gradients else forward_again_kernel,
        min(PROGRAMS, heads * tiles),
        (*numbers, given.scale, found.shape[2], heads),
        {name: every[name] for name in names} | {"num_stages": 1},
    )


def _dealt(each: RegionPass, programs: int, given: Given, *read: Tensor) -> int:
    """How many programs begin at a time, if some have far more to do than others, as causal ones have."""
    uneven = (each.lo_a <= -FAR) != (each.hi_a >= FAR)
    plain = not each.two and not each.prefix and given.documents is None
    return dealt_out_to(programs, *read) if uneven and plain else 0


def _wide(each: RegionPass, keys: int, block: int) -> int:
    """Tiles of keys that all queries see, while they see few of the others: the first ones, of `first`."""
    stretches = [(each.lo_a, each.cap_a), (each.lo_b, each.cap_b)][: 1 + each.two]
    ends = [cap for lo, cap in stretches if lo <= -FAR and cap < FAR]
    return -(-min(max(ends), keys) // block) if ends and each.rate == 1 else 0


def _parts(wide: int, tiles: int) -> int:
    """Programs that share such a tile, if there are few: each has SHARED_TILES of queries or more."""
    return max(1, min(SHARED_PROGRAMS // wide, tiles // SHARED_TILES)) if wide else 1


def _strides(*tensors: Tensor) -> list[int]:
    return [step for x in tensors for step in x.stride()[:3]]


def _known(x: Tensor) -> int:
    """The stride of the rows if it is a usual one, which kernels are compiled for; else 0.

    Rows lie one after the other, or beside those of the other heads, of one tensor or of two or three.
    """
    heads, size, stride = x.shape[1], x.shape[3], x.stride(2)
    return stride if stride in (size, heads * size, 2 * heads * size, 3 * heads * size) else 0


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


def _numbers(
    query: Tensor, key: Tensor, value: Tensor, given: Given, each: RegionPass
) -> tuple[float, ...]:
    """What all three kernels are told."""
    sizes = query.shape[1], query.shape[2], key.shape[2], query.shape[3], value.shape[3]
    return (
        *_given_strides(given),
        *sizes,
        *each[1:8],
        given.scale,
        given.sharpness,
        given.cap,
    )


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
    return constants if tile.registers is None else constants | {"maxnreg": tile.registers}


def _tiles(length: int, rate: int, block: int) -> int:
    return -(-length // (rate * block))


def precision(dtype: torch.dtype) -> str:
    """Of the products of float32: three of tf32 are as exact; one, where torch is told that it will do."""
    if dtype != torch.float32:
        return "tf32"  # no matter
    matmul = torch.backends.cuda.matmul
    said = getattr(matmul, "fp32_precision", None)  # which torch has from 2.9 on
    return "tf32" if said == "tf32" or (said is None and matmul.allow_tf32) else "tf32x3"
