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
from regard.attention.kernels.region.region_key_gradient import key_kernel
from regard.attention.kernels.region.region_passes import FAR, RegionPass
from regard.attention.kernels.region.region_query_gradient import query_kernel
from regard.attention.kernels.tile_sizes import RegionTile, block, tile_for


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


def check_launch(query: Tensor, key: Tensor, value: Tensor, checks: int) -> Launch:
    (B, H, Lq, D), (Lk, Dv) = query.shape, value.shape[2:]
    BD, BV = block(D), block(Dv)
    constants = {"BM": CHECKED_ROWS, "BD": BD, "BV": BV, "WHOLE": (D, Dv) == (BD, BV)}
    numbers = (*_strides(query, key, value), H, Lq, Lk, D, Dv, checks)
    return Launch(check_kernel, B * H * checks, numbers, constants)


def forward_launch(
    query: Tensor, key: Tensor, value: Tensor, out: Tensor, given: Given, each: RegionPass,
    found: Tensor | None, *, carry: bool,
) -> Launch:  # fmt: skip
    tile = tile_for("forward", query, key, value, each, documents=given.documents is not None)
    tiles = _tiles(query.shape[2], each.rate, tile.BM)
    constants = _constants(query, key, value, given, each, tile)
    constants |= {"SINK": given.sink is not None and not carry, "CARRY": carry}
    return Launch(
        forward_kernel,
        query.shape[0] * query.shape[1] * each.rate * tiles,
        (*_strides(query, key, value, out), *_numbers(query, key, value, given, each, found)),
        constants | {"CHECKED": found is not None},
    )


def gradient_launches(
    query: Tensor, key: Tensor, value: Tensor, context: Tensor, grad: Tensor,
    results: Sequence[Tensor], given: Given, each: RegionPass, kind: int,
    found: Tensor | None, *, carry: bool,
) -> tuple[Launch, Launch]:  # fmt: skip
    """That of the queries, then that of the keys."""
    dq, dk, dv = results
    (B, H, Lq, _), (Hk, Lk) = query.shape, key.shape[1:3]
    shared = {"DBIAS": kind, "CARRY": carry, "CHECKED": found is not None}
    numbers = _numbers(query, key, value, given, each, found)
    documents = given.documents is not None
    rows, columns = (
        tile_for(name, query, key, value, each, documents=documents) for name in ("query", "key")
    )
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
            (*_strides(query, key, value, grad, dk, dv), *numbers, _wide(each, Lk, columns.BN)),
            {**shared, **_constants(query, key, value, given, each, columns)},
        ),
    )


def _wide(each: RegionPass, keys: int, block: int) -> int:
    """Tiles of keys that all queries see, while they see few of the others: the first ones, of `first`."""
    stretches = [(each.lo_a, each.cap_a), (each.lo_b, each.cap_b)][: 1 + each.two]
    ends = [cap for lo, cap in stretches if lo <= -FAR and cap < FAR]
    return -(-min(max(ends), keys) // block) if ends and each.rate == 1 else 0


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
